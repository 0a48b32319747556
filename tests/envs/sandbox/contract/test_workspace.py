"""The workspace as its owner sees it, whatever the backend. Its hard cases, by the one who reads, are in workspace/."""

from __future__ import annotations

import pytest

from workgym.envs.sandbox.protocol import Sandbox, SandboxPool
from workgym.envs.sandbox.spec import PythonCode
from workgym.tasks.errors import ActionError, WorkgymError

LONG_S = 30.0
SMALL = 1 << 16


def run(box: Sandbox, source: str) -> bytes:
    result = box.exec(PythonCode(source), timeout_s=LONG_S)
    assert result.status == "ok", result
    return result.stdout


def test_a_program_finds_what_was_written_and_we_what_it_wrote(box: Sandbox) -> None:
    box.write("in.bin", bytes(range(256)))
    run(box, "data = open('in.bin', 'rb').read(); open('out.bin', 'wb').write(data[::-1])")
    assert box.read("out.bin", SMALL) == bytes(range(256))[::-1]


def test_folders_above_a_file_are_made(box: Sandbox) -> None:
    box.write("src/deep/module.py", b"VALUE = 42")
    assert run(box, "import sys; sys.path.insert(0, 'src'); import deep.module; print(deep.module.VALUE)") == b"42\n"


def test_a_file_is_replaced_whole(box: Sandbox) -> None:
    box.write("note", b"a long text")
    box.write("note", b"short")
    assert box.read("note", SMALL) == b"short"


def test_an_empty_file_is_a_file(box: Sandbox) -> None:
    box.write("empty", b"")
    assert box.read("empty", 0) == b""


def test_programs_may_change_and_remove_what_was_written(box: Sandbox) -> None:
    box.write("folder/note", b"x")
    run(box, "import os; open('folder/note', 'a').write('y'); os.rename('folder/note', 'moved'); os.rmdir('folder')")
    assert box.read("moved", SMALL) == b"xy"


def test_a_command_line_starts_in_the_workspace(box: Sandbox) -> None:
    box.write("note", b"x")
    assert box.exec(("cat", "note"), timeout_s=LONG_S).stdout == b"x"


def test_what_a_program_writes_the_next_one_of_the_lease_finds(box: Sandbox) -> None:
    run(box, "open('note', 'w').write('x')")
    assert run(box, "print(open('note').read())") == b"x\n"


def test_what_is_written_while_a_program_runs_it_finds(box: Sandbox) -> None:
    process = box.start(PythonCode("import sys; sys.stdin.readline(); print(open('late').read())"))
    box.write("late", b"in time")
    process.send(b"\n")
    assert process.wait(LONG_S).stdout == b"in time\n"


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "a/../../x", "a//b", ".", "a/", "a\0b"])
def test_a_path_that_leaves_the_workspace_is_refused(box: Sandbox, path: str) -> None:
    with pytest.raises(ValueError, match="path"):
        box.write(path, b"x")
    with pytest.raises(ValueError, match="path"):
        box.read(path, SMALL)


LINKS = """
import os, socket
os.symlink('/etc/passwd', 'link')
os.symlink('/', 'root')
os.mkfifo('pipe')
os.mkdir('folder')
open('original', 'w').write('x')
os.link('original', 'hard')
"""


@pytest.mark.parametrize("path", ["nowhere", "link", "root/etc/passwd", "pipe", "folder", "hard", "original/below"])
def test_what_is_no_plain_file_is_not_read(box: Sandbox, path: str) -> None:
    run(box, LINKS)
    with pytest.raises(ActionError):
        box.read(path, SMALL)


def test_a_file_larger_than_asked_is_not_read(box: Sandbox) -> None:
    box.write("large", bytes(101))
    assert box.read("large", 101) == bytes(101)
    with pytest.raises(ActionError):
        box.read("large", 100)


def test_writing_does_not_follow_a_link(box: Sandbox) -> None:
    run(box, "import os; open('victim', 'w').write('untouched'); os.symlink('victim', 'link'); os.symlink('.', 'here')")
    box.write("link", b"new")
    assert (box.read("link", SMALL), box.read("victim", SMALL)) == (b"new", b"untouched")
    with pytest.raises(ActionError):
        box.write("here/victim", b"changed")


def test_more_than_the_workspace_holds_is_not_written(box: Sandbox) -> None:
    if box.capabilities.disk:
        with pytest.raises(WorkgymError):
            box.write("large", bytes(3 << 20))
        assert "large" not in box.diff().written
    box.write("small", b"x")


def test_the_difference_is_what_programs_changed(box: Sandbox) -> None:
    for name in ("kept", "changed", "gone", "again"):
        box.write(name, name.encode())
    run(
        box,
        """
import os
open('changed', 'w').write('otherwise')
os.unlink('gone')
open('again', 'w').write('again')
os.makedirs('new/deep')
open('new/deep/file', 'w').write('new')
os.symlink('kept', 'link')
""",
    )
    seen = box.diff()
    assert seen.written == {"changed": b"otherwise", "new/deep/file": b"new"}
    assert seen.removed == ("gone",)
    assert set(seen.skipped) == {"link"}


def test_a_fresh_workspace_differs_in_nothing(box: Sandbox) -> None:
    box.write("note", b"x")
    run(box, "print(open('note').read())")
    seen = box.diff()
    assert (dict(seen.written), seen.removed, dict(seen.skipped)) == ({}, (), {})


def test_a_difference_taken_twice_is_the_same(box: Sandbox) -> None:
    run(box, "open('new', 'w').write('x')")
    assert box.diff() == box.diff()


def test_what_programs_closed_to_themselves_does_not_stop_the_next_lease(backend_pool: SandboxPool) -> None:
    with backend_pool.lease() as box:
        run(box, "import os; os.makedirs('a/b'); open('a/b/c', 'w').close(); os.chmod('a/b', 0); os.chmod('a', 0)")
    with backend_pool.lease() as box:
        assert run(box, "import os; print(os.path.exists('a'))") == b"False\n"
