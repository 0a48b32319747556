"""No program makes a fault of the machinery out of its own end: such an episode would not be scored."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest

from workgym.envs.sandbox.protocol import Sandbox, SandboxPool
from workgym.envs.sandbox.shell import Shell
from workgym.envs.sandbox.spec import PythonCode, SandboxSpec
from workgym.tasks.errors import ActionError

LONG_S = 30.0

NAME_ITSELF = """
import ctypes
ctypes.CDLL(None).prctl(15, b"\\xff) \\xfe(\\n", 0, 0, 0)
"""
CHILD_NAMES_ITSELF = """
import ctypes, os
if os.fork() == 0:
    ctypes.CDLL(None).prctl(15, b"\\xff) \\xfe(\\n", 0, 0, 0)
    while True: pass
os.wait()
"""
CLOSE_THE_WORKSPACE = "import os; os.chmod('.', 0)"
FILL_THE_HOUSE = """
import os, time
while True:
    try:
        if os.fork() == 0:
            time.sleep(600)
    except OSError:
        break
os.write(3, b"full\\n")
time.sleep(600)
"""
FILL_THE_WORKSPACE = """
with open("large", "wb", buffering=0) as file:
    try:
        while True:
            file.write(bytes(4096))
    except OSError:
        pass
for number in range(200):
    try:
        open(f"small{number}", "wb").close()
    except OSError:
        break
"""
MISNAME_ATTRIBUTES = """
import contextlib, os
open("a", "w").write("one")
for name in ("metacopy", "opaque", "redirect", "origin"):
    for path in (".", "a"):
        with contextlib.suppress(OSError):
            os.setxattr(path, "user.overlay." + name, b"y")
"""
TAKE_TERMINALS = """
import os, time
n = 0
try:
    while True:
        os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
        n += 1
except OSError:
    print(n)
"""


def test_a_name_that_is_no_text_hides_no_cpu_time(box: Sandbox) -> None:
    assert box.exec(PythonCode(NAME_ITSELF + "while True: pass"), timeout_s=LONG_S).status == "timeout_cpu"


def test_a_childs_name_that_is_no_text_hides_no_cpu_time(box: Sandbox) -> None:
    assert box.exec(PythonCode(CHILD_NAMES_ITSELF), timeout_s=LONG_S).status == "timeout_cpu"


def test_words_that_are_too_long_are_refused_as_by_a_shell(box: Sandbox) -> None:
    for program in (("echo", "x" * 200_000), ("echo", *["x" * 1000] * 4000)):
        ended = box.exec(program, timeout_s=LONG_S)
        assert (ended.status, ended.exit_code) == ("nonzero", 126)
        assert b"Argument list too long" in ended.stderr


def test_many_words_and_a_large_environment_reach_a_program(box: Sandbox) -> None:
    assert box.exec(("echo", *["x" * 1000] * 200), timeout_s=LONG_S).truncated_bytes > 0
    size = "import os; print(len(os.environ['A']))"
    assert box.exec(PythonCode(size), timeout_s=LONG_S, env={"A": "x" * 100_000}).stdout == b"100000\n"


def test_words_that_nobody_can_encode_are_refused(box: Sandbox) -> None:
    with pytest.raises(ValueError, match="surrogate"):
        box.exec(("echo", "\ud800"), timeout_s=LONG_S)
    with pytest.raises(ValueError, match="no valid name or value"):
        box.exec(PythonCode("1"), timeout_s=LONG_S, env={"A": "\ud800"})


def test_in_a_workspace_that_a_program_closed_the_next_one_runs_all_the_same(
    backend_pool: SandboxPool, needs: Callable[..., None]
) -> None:
    needs("files")
    with backend_pool.lease() as box:
        assert box.exec(PythonCode(CLOSE_THE_WORKSPACE), timeout_s=LONG_S).status == "ok"
        assert box.exec(PythonCode("print(1)"), timeout_s=LONG_S).stdout == b"1\n"
        assert box.exec(("echo", "1"), timeout_s=LONG_S).stdout == b"1\n"


def test_a_workspace_that_a_program_closed_is_its_own_doing(backend_pool: SandboxPool) -> None:
    with backend_pool.lease() as box:
        assert box.exec(PythonCode(CLOSE_THE_WORKSPACE), timeout_s=LONG_S).status == "ok"
        with pytest.raises(ActionError, match="cannot read 'a'"):
            box.read("a", max_bytes=100)
        box.diff()


def test_who_leaves_no_process_to_others_is_no_fault_of_theirs(box: Sandbox, needs: Callable[..., None]) -> None:
    needs("processes")
    crowd = box.start(PythonCode(FILL_THE_HOUSE), channel=True)
    assert crowd.receive(LONG_S) == b"full"
    assert box.exec(PythonCode("print(1)"), timeout_s=LONG_S).status in ("ok", "processes_limit")
    assert box.exec(("echo", "1"), timeout_s=LONG_S).status in ("ok", "processes_limit")
    crowd.kill()
    crowd.wait(LONG_S)


def test_a_full_workspace_is_remembered_or_refused_as_a_programs_doing(
    backend_pool: SandboxPool, needs: Callable[..., None]
) -> None:
    needs("snapshot")
    with backend_pool.lease() as box:
        box.write("a", b"one")
        empty = box.snapshot()
        assert box.exec(PythonCode(FILL_THE_WORKSPACE), timeout_s=LONG_S).status == "ok"
        for remember in (box.snapshot, lambda: box.fork(1)):
            with contextlib.suppress(ActionError):
                remember()
        box.restore(empty)
        assert box.exec(PythonCode("print(open('a').read())"), timeout_s=LONG_S).stdout == b"one\n"


def test_no_attribute_spoils_what_is_remembered(box: Sandbox, needs: Callable[..., None]) -> None:
    needs("snapshot")
    assert box.exec(PythonCode(MISNAME_ATTRIBUTES), timeout_s=LONG_S).status == "ok"
    box.snapshot()
    assert box.read("a", max_bytes=100) == b"one"
    assert dict(box.diff().written) == {"a": b"one"}


def test_a_program_gets_few_of_the_machines_terminals(
    backend: str, open_backend: Callable[[SandboxSpec], SandboxPool]
) -> None:
    if backend not in ("local", "bwrap"):
        pytest.skip(f"{backend} does not hold the number of terminals, by design")
    with open_backend(SandboxSpec(n_open_files=256)).lease() as box:
        assert int(box.exec(PythonCode(TAKE_TERMINALS), timeout_s=LONG_S).stdout) <= 16
        with Shell(box, timeout_s=LONG_S) as shell:
            assert shell.run("echo 1").output == "1\n"
