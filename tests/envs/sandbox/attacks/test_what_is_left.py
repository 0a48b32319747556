"""The sandbox's half of the attacks on grading: they leave nothing behind and forge no status. 34-43."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from arena import Free, words
from host import Host
from limits import accepted
from ring import LONG_S, Ring, program

from workgym.envs.sandbox.spec import PythonCode

Control = Callable[..., Free]
LOOK_AROUND = """
import os
print(sorted(set(os.listdir()) - set(os.environ.get("USUAL", "").split(":"))))
"""
ASK = """
import json, os, sys
print(json.loads('{"passed": false}'), len("four"), "pytest" in sys.modules, os.environ.get("REWARD"))
"""
IMPORT = """
import os, subprocess, sys
import json, unittest
os.environ["PATH"] = "." + os.pathsep + os.environ["PATH"] if os.environ.get("NAIVE") else os.environ["PATH"]
for command in (["python3", "-c", "import json"], ["ls", "/"]):
    try:
        subprocess.run(command)
    except OSError:
        pass
"""


def said(ring: Ring, source: str) -> str:
    """What a program prints in a lease of its own."""
    with ring.pool.lease() as box:
        result = box.exec(PythonCode(source), timeout_s=LONG_S)
    assert result.status == "ok", result
    return result.stdout.decode()


@pytest.fixture
def usual(ring: Ring) -> str:
    """What a fresh workspace holds."""
    return said(ring, LOOK_AROUND)


def test_34_early_exit(ring: Ring, control: Control) -> None:
    free = control(34, CODE="0")
    assert (free.code, free.stdout) == (0, b"all tests passed\n")  # who trusts either is deceived

    outcome = ring.attack(34, env={"CODE": "0"}, channel=True)

    assert (outcome.status, outcome.result.exit_code) == ("ok", 0)
    assert (outcome.result.stdout, outcome.result.channel) == (b"all tests passed\n", b"")
    forged = set()
    with ring.pool.lease() as box:
        for code in (1, 2, 120, 121, 122, 123, 124, 126, 127, 130, 134, 137, 139, 143, 152, 153, 255):
            result = box.exec(PythonCode(program(34)), env={"CODE": str(code)}, timeout_s=LONG_S)
            assert result.exit_code == code or result.signal == code - 128
            forged |= {f"the status {result.status}"} - {"the status nonzero"}
    assert forged == accepted(ring.backend, 34)


def test_35_hostile_results(ring: Ring, control: Control) -> None:
    free = control(35)
    assert pickle.loads(free.stdout) == "OWNED"  # code of theirs runs where it is read
    with pytest.raises(RecursionError):
        json.loads(free.stdout.splitlines()[-4])

    result = ring.attack(35, channel=True).result

    assert (result.status, result.channel, result.stdout) == ("ok", free.stdout, b"")


def test_36_memory_of_a_predecessor(ring: Ring, control: Control, host: Host) -> None:
    assert control(36).free == {"somebody's secret"}
    ahead = "#" * 50_000  # so that the next program does not lie where this one did
    keep = f"{ahead}\nimport os, sys; kept = (os.environ['KEPT'], sys.stdin.read(), '{host.secret}')"
    with ring.pool.lease() as box:
        for _ in range(3):
            box.exec(PythonCode(keep), stdin=host.secret.encode(), env={"KEPT": host.secret}, timeout_s=LONG_S)
        outcome = ring.attack(36, box=box)
    assert outcome.status == "ok"
    outcome.assert_held()

    outcome = ring.attack(36)

    assert outcome.status == "ok"
    assert words(outcome.result.stdout, "free") == set()  # of another lease nowhere anything


def test_37_patched_interpreter(ring: Ring, control: Control) -> None:
    assert control(37, behind=ASK).stdout == b"{'passed': True} 42 True 1\n"

    with ring.pool.lease() as box:
        assert ring.attack(37, box=box).status == "ok"
        result = box.exec(PythonCode(ASK), timeout_s=LONG_S)

    assert result.stdout.decode() == said(ring, ASK) == "{'passed': False} 4 False None\n"


def test_38_planted_files(ring: Ring, control: Control, usual: str) -> None:
    assert control(38, NAIVE="1", behind=IMPORT).stdout.count(b"planted") >= 2

    with ring.pool.lease() as box:
        outcome = ring.attack(38, box=box)
        trusted = box.exec(PythonCode(program(0) + "\nimport json, unittest\nsay('as', 'ever')"), timeout_s=LONG_S)

    assert outcome.status == "ok"
    assert trusted.stdout == b"as: ever\n"
    outcome.assert_held()
    assert said(ring, LOOK_AROUND) == usual
    assert "planted" not in said(ring, IMPORT)


def test_39_changed_tests(ring: Ring, control: Control, shown: Path) -> None:
    for name in ("ours", "free"):
        (shown / name / "tests").mkdir(parents=True)
        (shown / name / "tests" / "test_it.py").write_text("def test_it(): assert False\n")
    walls = (
        "to skip them",
        "to rewrite them",
        "to lend them other rights",
        "to rename them",
        "to replace their folder",
    )
    control(39, TESTS=str(shown / "free" / "tests")).assert_free(*walls, "to delete them")
    shutil.rmtree(shown / "free")

    with ring.pool.lease(read_only={"/tests": str(shown / "ours" / "tests")}) as box:
        outcome = ring.attack(39, env={"TESTS": "/tests"}, box=box)

    assert outcome.status == "ok"
    outcome.assert_held()
    assert [path.name for path in (shown / "ours").rglob("*")] == ["tests", "test_it.py"]
    assert (shown / "ours" / "tests" / "test_it.py").read_text() == "def test_it(): assert False\n"


def test_40_forged_report(ring: Ring) -> None:
    assert b"status: ok" in forged_through_a_descriptor()

    result = ring.attack(40, channel=True).result

    assert (result.status, result.exit_code, result.signal) == ("nonzero", 1, 0)
    assert result.cpu_s > 0
    assert result.channel.startswith(b"X")  # the one descriptor that it has, and there they are but bytes


def forged_through_a_descriptor() -> bytes:
    """What somebody reads who let a free process inherit the pipe on which he expects a report."""
    reader, writer = os.pipe()
    command = [sys.executable, "-c", program(40)]
    done = subprocess.run(command, pass_fds=[writer], capture_output=True, check=False)
    os.close(writer)
    with open(reader, "rb") as report:
        assert done.returncode == 1
        return report.read()


def test_41_reward_written_by_oneself(ring: Ring, control: Control, usual: str) -> None:
    assert (control(41).folder / "reward.txt").read_text() == "1"

    assert ring.attack(41).status == "ok"

    assert said(ring, LOOK_AROUND) == usual
    assert not any(Path(place, "reward.txt").exists() for place in ("/", "/tmp", "/var/tmp", "."))


def test_42_writing_after_the_end(ring: Ring, control: Control) -> None:
    assert control(42).n_survivors == 1

    with ring.pool.lease() as box:
        assert ring.attack(42, box=box).status == "ok"
        assert len({box.read("answer", 100) for _ in range(100)}) == 1


def test_43_git(ring: Ring, control: Control, host: Host, usual: str) -> None:
    free = control(43)
    assert free.free == {"objects of the host"}
    assert shutil.which("git") is None or (free.folder / "hooked").exists()

    outcome = ring.attack(43, env=host.facts)

    assert outcome.status == "ok"
    outcome.assert_held()
    assert said(ring, LOOK_AROUND) == usual
