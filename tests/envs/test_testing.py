"""`check_domain` passes a sound domain, and each of its checks finds the fault that it is there for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from workgym.envs.coding.env import FAMILIES
from workgym.envs.domain import Domain, Observation
from workgym.envs.env import WorkEnv
from workgym.envs.testing import CHECKS, check_domain
from workgym.envs.tool import End, Tool, ToolTable
from workgym.envs.verify import Attempt, Check, Layer
from workgym.tasks.source import split_of
from workgym.tasks.task import LEVELS, Budget, Task

pytestmark = pytest.mark.xdist_group("alone")

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
MAIN_PROCESS = os.getpid()


@dataclass(frozen=True)
class Doubling:
    """Double a number; `fault` names what is wrong with the domain."""

    fault: str = ""
    version = "1"

    @property
    def levels(self) -> tuple[int, ...]:
        return (1, 2, 7) if self.fault == "a level of its own" else LEVELS

    def sample(self, level: int, rng: np.random.Generator, split: str = "train") -> Task:
        while True:
            number = int(rng.integers(10**level, 10 ** (level + 1)))
            if split_of(str(number)) == split or self.fault == "shared structures":
                other = "train" if self.fault == "another split" else split
                return self.load(f"double-{level}-{other}-{number}")

    def load(self, task_id: str) -> Task:
        _, level, split, number = task_id.split("-")
        answer = 2 * int(number)
        if self.fault == "hash seed":
            answer += hash("a text") % 1000
        if self.fault == "forgetful load":
            answer += next(COUNTER)
        told = {"told": f" (not {answer})", "told by a long text": f" {answer}000000000000"}.get(self.fault, "")
        return Task(
            task_id,
            "doubling",
            "double",
            int(level),
            split,
            f"double {number}{told}",
            structure=number,
            public={"hint": answer + 1 if self.fault != "public answer" else f"it is {answer}"},
            hidden={} if self.fault == "nothing hidden" else {"answer": answer, "plan": [f"{answer}000000000000"]},
            budget=Budget(turns=0 if self.fault == "no budget" else 5),
        )


COUNTER = iter(range(1, 1_000_000))


class Session:
    """Takes one answer."""

    def __init__(self, task: Task, fault: str) -> None:
        if fault == "one process" and os.getpid() != MAIN_PROCESS:
            raise RuntimeError("this domain lives in one process")
        self.task, self.fault, self.n_looks = task, fault, 0
        self.answer = task.hidden.get("answer")
        about = f"Hand in {self.answer}." if fault == "telling tool" else "Hand in."
        self.tools = ToolTable((Tool("say", about, TEXT, self.say), Tool("look", "Look.", TEXT, self.look)))
        if fault == "open file":
            self.kept = os.open("/dev/null", os.O_RDONLY)
        if fault == "running process":
            self.child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
            CHILDREN.append(self.child)
        if fault == "global generator":
            np.random.seed(0)

    def say(self, text: str) -> End:
        if self.fault == "raising tool" and not text.isdecimal():
            int(text)
        return End("submitted", text, f"it was {self.answer}" if self.fault == "telling end" else "")

    def look(self, text: str) -> str:
        self.n_looks += 1
        drift = next(COUNTER) if self.fault == "late drift" else 0
        return str(self.task.hidden) if self.fault == "telling look" else f"look {self.n_looks + drift}"

    def observe(self) -> Observation:
        drift = f" ({next(COUNTER)})" if self.fault == "drift" else ""
        return Observation(self.task.prompt + drift)

    def attempt(self, submission: str | None) -> Attempt:
        state = {"wanted": self.answer} if self.fault == "telling attempt" else {}
        return Attempt(self.task.id, submission, state=state)

    def snapshot(self) -> object:
        return self.n_looks

    def restore(self, snapshot: Any) -> None:
        self.n_looks = 0 if self.fault == "forgetful restore" else snapshot

    def fork(self, n: int) -> Sequence[Session]:
        return [Session(self.task, self.fault) for _ in range(n)]

    def close(self) -> None: ...


CHILDREN: list[subprocess.Popen[bytes]] = []


def is_right(fault: str, findings: tuple[Attempt, Task]) -> Check:
    attempt, task = findings
    if fault == "pays everybody":
        return Check("right", 1.0)
    if fault == "pays garbage" and attempt.submission is None:
        return Check("right", 0.5)
    wanted = task.hidden["answer"]
    detail = f"not {wanted}" if fault == "telling verdict" else ""
    if fault == "moody judge":
        detail = str(next(COUNTER))
    return Check("right", float(attempt.submission == str(wanted) and fault != "pays nobody"), detail=detail)


def players(fault: str) -> dict[str, Any]:
    def oracle(observation: str, info: dict[str, Any], env: WorkEnv) -> str:
        return "look at it" if info["turn"] < 2 else f"say {env.task.hidden['answer']}"

    def half_right(observation: str, info: dict[str, Any], env: WorkEnv) -> str:
        right = int(env.task.structure) % 2 or fault == "too right" or info["turn"] < 2
        return oracle(observation, info, env) if right else "say 0"

    def guess(observation: str, info: dict[str, Any], env: WorkEnv) -> str:
        return oracle(observation, info, env) if fault == "lucky guess" else "say 11"

    named = {"oracle": oracle, "noop": lambda *_: "say 0", "random": guess, "half-right": half_right}
    return {name: player for name, player in named.items() if fault != f"no {name}"}


def make(level: int = 1, split: str = "train", render_mode: str | None = None, fault: str = "") -> Any:
    """The toy domain; a fresh process makes it by this name."""
    if fault == "no WorkEnv":
        return gym.make("CartPole-v1")
    domain = Domain(
        "doubling",
        "1",
        Doubling(fault),
        lambda task, pools: Session(task, fault),
        lambda attempt, task, pools: (attempt, task),
        (Layer(partial(is_right, fault), weight=1.0),),
        players=players(fault),
    )
    return WorkEnv(domain, level=level, split=split, render_mode=render_mode)


@pytest.fixture(autouse=True)
def _end_children() -> Any:
    yield
    while CHILDREN:
        child = CHILDREN.pop()
        child.communicate()


def test_a_sound_domain_passes_every_check() -> None:
    check_domain(make)


@pytest.mark.parametrize("family", FAMILIES)
def test_coding_passes_every_check(family: str, require_backend: Callable[[str], None]) -> None:
    require_backend("local")
    check_domain("Coding-v0", kwargs={"family": family}, n_tasks=3)


def test_nothing_of_the_check_itself_is_left_behind(require_backend: Callable[[str], None]) -> None:
    require_backend("local")
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    before = children.read_text()
    check_domain("Coding-v0", levels=[1], n_tasks=1, only=["oracle", "vectors", "shown", "leftovers"])
    assert children.read_text() == before


def test_an_id_may_name_the_module_that_registers_it() -> None:
    check_domain("workgym:Calculator-v0", levels=[1], n_tasks=1, only=["hashes", "spec", "vectors"])


FAULTS = [
    ("levels", "a level of its own", "level 7 is none"),
    ("levels", "another split", "made a task of domain, level and split"),
    ("levels", "nothing hidden", "hides nothing"),
    ("splits", "shared structures", "draw until split_of"),
    ("ids", "forgetful load", "makes another task: they differ in public, hidden"),
    ("hashes", "hash seed", "another one in a fresh process"),
    ("check_env", "drift", "check_env says"),
    ("seeds", "drift", "two resets with seed 1 differ at level 1"),
    ("seeds", "global generator", "a global random generator was used"),
    ("seeds", "late drift", "'look at it' was answered with"),
    ("branches", "forgetful restore", "after 1 actions goes on with"),
    ("judged again", "moody judge", "let a verifier depend on findings alone"),
    ("malformed actions", "no budget", "runs on for ever"),
    ("vectors", "one process", "in async mode fails"),
    ("oracle", "pays nobody", "the oracle earns 0.0"),
    ("oracle", "no oracle", "there is no player 'oracle'"),
    ("floor", "pays everybody", "noop earns 1.000 on average"),
    ("floor", "pays garbage", "garbage earns 0.500 on average"),
    ("floor", "lucky guess", "random earns 1.000 on average"),
    ("half right", "too right", "strictly between noop's 0.000 and 1"),
    ("told", "told", "hidden['answer'] is told"),
    ("told", "told by a long text", "hidden['plan'][0] is told"),
    ("told", "public answer", "hidden['answer'] is told"),
    ("shown", "telling tool", "hidden['answer'] of"),
    ("shown", "telling end", "hidden['answer'] of"),
    ("shown", "telling look", "hidden['canary'] of"),
    ("shown", "telling attempt", "hidden['answer'] of"),
    ("shown", "telling verdict", "hidden['answer'] of"),
    ("leftovers", "open file", "descriptors are open after close"),
    ("leftovers", "running process", "processes are left after close"),
]


@pytest.mark.parametrize(("check", "fault", "words"), FAULTS, ids=lambda text: text[:30])
def test_a_fault_is_found_by_its_check_and_named(check: str, fault: str, words: str) -> None:
    with pytest.raises(AssertionError) as failed:
        check_domain(make, kwargs={"fault": fault}, levels=(1, 2, 7) if "level of" in fault else (1, 3), only=[check])
    assert f"- {check}: " in str(failed.value)
    assert words in str(failed.value)


def test_a_text_as_entry_point_is_asked_for() -> None:
    gym.register("Doubling-v0", entry_point=make)
    try:
        with pytest.raises(AssertionError, match="- spec: .* register a text as entry point"):
            check_domain("Doubling-v0", only=["spec"])
    finally:
        gym.registry.pop("Doubling-v0")


def test_a_hash_that_is_not_the_golden_one_is_found() -> None:
    task = Doubling().load("double-1-test-37")
    check_domain(make, golden={task.id: task.content_hash()}, only=["hashes"])
    with pytest.raises(AssertionError, match="not the golden 0123"):
        check_domain(make, golden={task.id: "0123"}, only=["hashes"])


def test_an_action_that_raises_is_found() -> None:
    class Fragile(WorkEnv):
        def step(self, action: Any) -> Any:
            if not action:
                raise RuntimeError("no action")
            return super().step(action)

    def fragile(**kwargs: Any) -> Any:
        return Fragile(make().domain, **kwargs)

    with pytest.raises(
        AssertionError, match=r"the action '' in double-1-\S+ raised RuntimeError: no action \(\S+:\d+\). Answer it"
    ):
        check_domain(fragile, only=["malformed actions"])


def test_a_source_that_raises_is_told_with_level_split_and_line() -> None:
    class Broken(Doubling):
        def sample(self, level: int, rng: np.random.Generator, split: str = "train") -> Task:
            return super().sample(level, rng, split) if (level, split) != (3, "validation") else {}["x"]

    def broken(**kwargs: Any) -> Any:
        return WorkEnv(replace(make().domain, source=Broken()), **kwargs)

    with pytest.raises(AssertionError, match=r"sample\(3, rng, 'validation'\) raised KeyError: 'x' \(\S+py:\d+\)"):
        check_domain(broken, levels=[1, 3], only=["levels"])


def test_a_player_that_raises_is_told_with_task_turn_and_line() -> None:
    def broken(**kwargs: Any) -> Any:
        domain = make().domain
        return WorkEnv(replace(domain, players={**domain.players, "oracle": lambda *_: 1 / 0}), **kwargs)

    words = r"a player raised ZeroDivisionError: division by zero \(\S+py:\d+\) in turn 0 of double-1-\S+"
    with pytest.raises(AssertionError, match=words):
        check_domain(broken, levels=[1], only=["oracle"])


def test_a_mean_over_levels_is_told_level_by_level() -> None:
    with pytest.raises(AssertionError, match=r"earns 1.000 on average \(level 1 1.000, level 2 1.000\)"):
        check_domain(make, kwargs={"fault": "pays everybody"}, levels=[1, 2], only=["floor"])


def test_every_check_has_a_fault_that_it_finds() -> None:
    assert {check for check, _, _ in FAULTS} | {"spec"} == set(CHECKS)


def test_all_that_fails_is_told_at_once() -> None:
    with pytest.raises(AssertionError, match="2 of 3 checks") as failed:
        check_domain(make, kwargs={"fault": "pays everybody"}, levels=[1], only=["floor", "ids", "half right"])
    assert str(failed.value).count("\n- ") == 2


def test_a_function_that_no_other_process_can_find_is_refused() -> None:
    with pytest.raises(AssertionError, match="check an id, or a function at the top of a module"):
        check_domain(lambda **kwargs: make(**kwargs), only=["hashes"])


@pytest.mark.parametrize("levels", [None, [1]])
def test_another_environment_is_refused(levels: list[int] | None) -> None:
    with pytest.raises(AssertionError, match="makes a CartPoleEnv: let it make a WorkEnv"):
        check_domain(make, kwargs={"fault": "no WorkEnv"}, levels=levels)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"only": ["oracel"]}, "Did you mean 'oracle'"),
        ({"n_tasks": 0}, "nothing to check"),
        ({"levels": []}, "nothing"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        check_domain(make, **arguments)


def test_a_hidden_value_that_is_declared_public_may_be_told() -> None:
    def declared(**kwargs: Any) -> Any:
        env = make(**kwargs)
        return WorkEnv(replace(env.domain, source=Declared()), **kwargs)

    check_domain(declared, levels=[1], only=["told"])


class Declared(Doubling):
    """Hides, beside the answer, the number that the prompt names, and says that it is public."""

    def load(self, task_id: str) -> Task:
        task = super().load(task_id)
        number = int(task.structure)
        return replace(task, public={"number": number}, hidden={**task.hidden, "number": number})
