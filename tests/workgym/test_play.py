"""`workgym play`: a person plays, in a terminal or through a pipe."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import select
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import gymnasium as gym
import pytest
import toy_domain

from workgym.agents.archive import Archive
from workgym.cli import main

assert toy_domain.make, "importing it registers Toy-v0"

Play = Callable[..., tuple[int, str, str]]


@pytest.fixture
def play(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Play:
    """`play("look here\\n", "--seed 3")` is the exit code, stdout and stderr of a game whose input is a pipe."""

    def call(typed: str, options: str = "", env: str = "Toy-v0") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        with pytest.raises(SystemExit) as end:
            main(["play", env, *shlex.split(options)])
        out, err = capsys.readouterr()
        return int(end.value.code or 0), out, err

    return call


# ---- through a pipe


def test_a_person_solves_a_task_and_sees_the_verdict(play: Play) -> None:
    code, out, _ = play("look around\nsubmit 42\n", "--task-id toy/2/21")
    shown = [
        "-- toy, double, level 2, ", "-- tools -", "submit TEXT", "Submit the double.", "-- task -", "double 21",
        "turn 1 of 4> look around", "look 1: double 21", "turn 2 of 4> submit 42", "thank you", "-- verdict -",
        "ended     submitted", "reward    1, success", "check   right 1 compared with the double", "submitted 42",
        "workgym play Toy-v0 --task-id toy/2/21",
    ]  # fmt: skip
    places = [out.index(part) for part in shown]
    assert code == 0
    assert places == sorted(places)


def test_a_wrong_answer_is_a_verdict_too(play: Play) -> None:
    code, out, _ = play("submit 41\n")
    assert (code, "reward    0.5, no success" in out, "[wrong]" in out) == (0, True, True)


def test_a_mistake_is_answered_and_costs_a_turn(play: Play) -> None:
    _, out, _ = play("lok\nlook away\nsubmit 1\n")
    assert "error: unknown tool 'lok'. Did you mean 'look'" in out
    assert "error: there is nothing to see there" in out
    assert "turn 3 of 4> submit 1" in out


def test_commands_and_empty_lines_cost_no_turn(play: Play) -> None:
    _, out, _ = play(
        "\n  \n:help\n:tools\n :again \n:task\n:tols\n:{look x\nlook x\n:again\n:quit\n", "--task-id toy/1/7"
    )
    assert out.count("turn 1 of 4>") == 9
    assert out.count("double 7") == 5
    assert out.count("look 1: double 7") == 2
    assert out.count("Submit the double.") == 2
    assert "unknown command ':{look x'" in out
    assert "unknown command ':tols'. Did you mean ':tools'" in out


def test_turns_run_out(play: Play) -> None:
    code, out, _ = play("look x\n" * 9)
    assert (code, "ended     turns" in out, "turn 5" in out) == (0, True, False)


@pytest.mark.parametrize("typed", [":quit\n", "", "look x\n", ":{\nsubmit 1\n"])
def test_giving_up_and_the_end_of_the_input_are_judged_as_it_stands(play: Play, typed: str) -> None:
    code, out, _ = play(typed)
    assert (code, "ended     gave_up" in out, "reward    0, no success" in out) == (0, True, True)


@pytest.mark.parametrize(
    ("typed", "action"),
    [
        (":{\nsubmit 1\n\n  .\n:}\n", "submit 1\n\n  ."),
        ("submit ```python\nx = 1\n\ny = 2\n```\n", "submit ```python\nx = 1\n\ny = 2\n```"),
        ("```\nx\n```\n:quit\n", "```\nx\n```"),
        ("submit ```x```\n", "submit ```x```"),
        (":{\n:quit\n:}\n:quit\n", ":quit"),
        ('{"name": "submit", "arguments": {"text": "1"}}\n', '{"name": "submit", "arguments": {"text": "1"}}'),
        ("  submit 1  \r\n", "  submit 1  "),
    ],
)
def test_an_action_may_have_several_lines(play: Play, tmp_path: Path, typed: str, action: str) -> None:
    assert play(typed, f"--out {tmp_path}")[0] == 0
    with Archive.open(tmp_path / "archive") as archive:
        assert archive.get("person/00000").steps[0].action == action


def test_episodes_are_archived_one_after_another(
    play: Play, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for answer in ("1", "2"):
        _, out, _ = play(f"submit {answer}\n", f"--out {tmp_path}")
    assert f"workgym archive show {tmp_path} person/00001" in out
    with Archive.open(tmp_path / "archive") as archive:
        episodes = list(archive)
    assert [(one.policy, one.attempt and one.attempt.submission) for one in episodes] == [
        ("person", "1"),
        ("person", "2"),
    ]
    with pytest.raises(SystemExit):
        main(["archive", "show", str(tmp_path), "person/00001"])
    assert "submitted 2" in capsys.readouterr().out


def test_a_seed_asks_what_reset_asks(play: Play) -> None:
    env = gym.make("Toy-v0")
    first, _ = env.reset(seed=11, options={"level": 3, "split": "test"})
    env.close()
    _, out, _ = play(":quit\n", "--level 3 --split test --seed 11")
    assert first in out
    assert "workgym play Toy-v0 --level 3 --split test --seed 11" in out


def test_without_a_seed_the_task_is_another_every_time(play: Play) -> None:
    seeds = {re.findall("--seed ([0-9]+)", play(":quit\n")[1])[0] for _ in range(3)}
    assert len(seeds) == 3


def test_the_environment_takes_arguments(play: Play) -> None:
    _, out, _ = play(":quit\n", "--set turns=2")
    assert "turn 1 of 2>" in out
    assert "workgym play Toy-v0 --set turns=2 --level 1" in out


def test_people_have_as_much_time_as_they_need(play: Play) -> None:
    _, out, _ = play("look x\nsubmit 1\n", "--set wall_s=1e-9")
    assert "ended     submitted" in out


def test_nothing_hidden_is_shown_before_the_end(play: Play) -> None:
    typed = "".join(f"{command}\n" for command in (":tools", ":help", ":task", ":again", "look x"))
    _, out, _ = play(f"{typed}submit 1\n", "--task-id toy/2/21 --show-reference")
    before, after = out.split("-- verdict -")
    assert ("42" in before, "toy/2/21" in before, toy_domain.CANARY in out) == (False, False, False)
    assert re.search(r"-- reference -.*> look here\n.*> submit 42\n", after, re.DOTALL)


def test_the_terminal_is_commanded_by_nobody(play: Play) -> None:
    _, out, _ = play("\x1b[2Jboo\nsubmit \x1b]0;x\x07\u202e\n")
    assert "\\x1b[2Jboo" in out
    assert not re.search("[\x1b\x07\u202e]", out)


def test_failed_infrastructure_is_no_verdict(play: Play, caplog: pytest.LogCaptureFixture) -> None:
    code, out, _ = play("break it\n")
    assert (code, "counts nowhere" in out, "the toy broke" in out) == (1, True, True)


@pytest.mark.parametrize(
    ("options", "env", "words"),
    [
        ("", "Toi-v0", "Toi"),
        ("", "CartPole-v1", "CartPole-v1"),
        ("--level 9", "Toy-v0", "level"),
        ("--split tset", "Toy-v0", "Did you mean 'test'"),
        ("--task-id nothing", "Toy-v0", "no toy task 'nothing'"),
        ("--set truns=1", "Toy-v0", "does not take the arguments"),
        ("--set turns", "Toy-v0", "NAME=VALUE"),
    ],
)
def test_bad_input_is_answered_in_a_line(play: Play, options: str, env: str, words: str) -> None:
    code, out, err = play("", options, env)
    assert (code, words in err, "Traceback" in err, out) == (2, True, False, "")


# ---- in a terminal


class Terminal:
    """`workgym` with a terminal of its own."""

    def __init__(self, *words: str) -> None:
        self._end, other = pty.openpty()
        begin = (  # who runs the tests in the background has them ignore Ctrl-C
            "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.login_tty(0);"
            "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
        )
        self.process = subprocess.Popen(
            [sys.executable, "-c", begin, "-m", "workgym", *words], stdin=other, env={**os.environ, "TERM": "dumb"}
        )
        os.close(other)
        self.shown = ""

    def wait_for(self, text: str) -> None:
        until = time.monotonic() + 60
        while text not in self.shown:
            assert select.select([self._end], [], [], until - time.monotonic())[0], f"no {text!r} in {self.shown!r}"
            try:
                self.shown += os.read(self._end, 4096).decode().replace("\r\n", "\n")
            except OSError:  # how Linux says that nobody holds the other end any more
                raise AssertionError(f"it ended without {text!r}: {self.shown!r}") from None

    def wait_until_it_waits(self) -> None:
        """Until it waits for a key: a Ctrl-C just before would be heeded with the next key, as Python does it."""
        stat = Path(f"/proc/{self.process.pid}/stat")
        while stat.read_text().rpartition(") ")[2][0] != "S":
            os.sched_yield()

    def type(self, keys: str) -> None:
        os.write(self._end, keys.encode())

    def close(self) -> int:
        code = self.process.wait(timeout=60)
        os.close(self._end)
        return code


@pytest.fixture
def terminal() -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def start(*words: str) -> Terminal:
        opened.append(Terminal(*words))
        return opened[-1]

    yield start
    for each in opened:
        if each.process.poll() is None:
            each.process.kill()
            each.close()


def test_a_person_plays_in_a_terminal(terminal: Callable[..., Terminal]) -> None:
    screen = terminal("play", "Calculator-v0", "--seed", "0", "--show-reference")
    screen.wait_for("> ")
    screen.type("oops\n")
    screen.wait_for("error: ")
    screen.type("submit x\x7f7\n")  # a key taken back
    screen.wait_for("The same task again")
    assert "submitted 7" in screen.shown
    screen.wait_for("-- reference")
    assert screen.close() == 0


def test_ctrl_d_gives_up(terminal: Callable[..., Terminal]) -> None:
    screen = terminal("play", "Calculator-v0")
    screen.wait_for("> ")
    screen.wait_until_it_waits()
    screen.type("\x04")
    screen.wait_for("ended     gave_up")
    screen.wait_for("The same task again")
    assert screen.close() == 0


def test_ctrl_c_leaves_at_once_and_keeps_nothing(terminal: Callable[..., Terminal], tmp_path: Path) -> None:
    screen = terminal("play", "Calculator-v0", "--out", str(tmp_path))
    screen.wait_for("> ")
    screen.type("submit 1")
    screen.wait_for("> submit 1")
    screen.wait_until_it_waits()
    screen.type("\x03")
    screen.wait_for("workgym: stopped, nothing was judged")
    assert screen.close() == 130
    assert "Traceback" not in screen.shown
    with Archive.open(tmp_path / "archive") as archive:
        assert len(archive) == 0


def test_a_task_whose_code_runs_in_the_sandbox_is_played(play: Play, require_backend: Callable[[str], None]) -> None:
    require_backend("local")
    env = gym.make("Coding-v0")
    env.reset(seed=4)
    answer = json.dumps({"name": "submit", "arguments": {"expression": env.unwrapped.task.hidden["reference"]}})
    env.close()
    code, out, _ = play(f"run x\n{answer}\n", "--seed 4", "Coding-v0")
    assert (code, "reward    1, success" in out, "0 of 3 examples" in out) == (0, True, True)
