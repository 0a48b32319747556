"""Writing into a workspace: whole files, never through what others planted there."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from workgym.envs.sandbox.workspace import Workspace
from workgym.tasks.errors import ActionError

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


def test_a_file_is_written_with_the_folders_above_it(box):
    box.workspace.write("a/b/c.txt", b"text")

    assert (box.inside / "a/b/c.txt").read_bytes() == b"text"
    assert os.listdir(box.inside / "a/b") == ["c.txt"], "nothing else stays"


def test_modes_are_as_asked_for_whatever_the_umask(box):
    before = os.umask(0o077)
    try:
        box.workspace.write("a/data", b"")
        box.workspace.write("a/tool", b"", executable=True)
    finally:
        os.umask(before)

    modes = [stat.S_IMODE((box.inside / name).stat().st_mode) for name in ("a", "a/data", "a/tool")]
    assert [oct(mode) for mode in modes] == ["0o755", "0o644", "0o755"]


@as_root
def test_files_and_folders_belong_to_whom_they_are_given(box):
    workspace = Workspace(os.dup(box.descriptor), user=1234, group=5678)
    workspace.write("a/b/file", b"")
    workspace.close()

    owners = {(seen.st_uid, seen.st_gid) for seen in ((box.inside / name).stat() for name in ("a", "a/b", "a/b/file"))}
    assert owners == {(1234, 5678)}


def test_names_that_are_no_utf8_hold(box):
    name = os.fsdecode(b"\xff\n\x80")
    box.workspace.write(name, b"text")

    assert os.listdir(os.fsencode(box.inside)) == [b"\xff\n\x80"]
    assert box.workspace.read(name, 4) == b"text"


def test_a_new_version_replaces_the_file_and_leaves_its_readers_the_old_one(box):
    box.workspace.write("file", b"old")
    with open(box.inside / "file", "rb") as reader:
        box.workspace.write("file", b"new")

        assert reader.read() == b"old"
    assert box.workspace.read("file", 3) == b"new"


def test_a_planted_symlink_is_replaced_not_followed(box, outside):
    (box.inside / "file").symlink_to(outside / "file")
    box.workspace.write("file", b"ours")

    assert (outside / "file").read_text() == "canary"
    assert (box.inside / "file").read_bytes() == b"ours"
    (box.inside / "naive").symlink_to(outside / "file")
    (box.inside / "naive").write_text("overwritten")
    assert (outside / "file").read_text() == "overwritten", "a naive open follows it"


def test_a_planted_symlink_on_the_way_is_refused(box, outside):
    (box.inside / "folder").symlink_to(outside)

    with pytest.raises(ActionError, match=r"'folder/file' of 4 bytes: it is reached through a symlink"):
        box.workspace.write("folder/file", b"ours")
    assert (outside / "file").read_text() == "canary"


def test_a_planted_hard_link_is_replaced_not_written_through(box):
    (box.inside / "theirs").write_text("canary")
    os.link(box.inside / "theirs", box.inside / "file")
    box.workspace.write("file", b"ours")

    assert (box.inside / "theirs").read_text() == "canary"


def test_a_planted_fifo_is_replaced_and_never_blocks(box):
    os.mkfifo(box.inside / "file")
    box.workspace.write("file", b"ours")

    assert box.workspace.read("file", 4) == b"ours"


def test_a_folder_in_its_place_is_refused(box):
    (box.inside / "file").mkdir()

    with pytest.raises(ActionError, match="a folder is in its place"):
        box.workspace.write("file", b"ours")
    assert os.listdir(box.inside) == ["file"], "nothing is left of the attempt"


def test_a_file_where_a_folder_should_be_is_refused(box):
    (box.inside / "folder").touch()

    with pytest.raises(ActionError, match="a part of its path is not a folder"):
        box.workspace.write("folder/file", b"ours")


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../file", "a/../../file", "a//b", "a\0b"])
def test_paths_out_of_the_workspace_are_refused_before_anything_is_made(box, path):
    with pytest.raises(ValueError, match="relative to the workspace"):
        box.workspace.write(path, b"")

    assert os.listdir(box.inside) == []


def test_folders_that_are_swapped_with_symlinks_let_nothing_out(box, outside):
    (box.inside / "seen").mkdir()
    (box.inside / "other").symlink_to(outside)
    box.swap()
    for number in range(500):
        _write_anyway(box.workspace, f"seen/{number % 5}")

    assert [path.name for path in outside.iterdir()] == ["file"]
    assert (outside / "file").read_text() == "canary"
    for _ in range(100_000):
        if (outside / "naive").exists():
            break
        _write_naively(box.inside / "seen" / "naive")
    assert (outside / "naive").exists(), "a naive open writes outside"


def test_a_full_workspace_is_a_fault_that_names_its_limits(mounts):
    workspace = Workspace(os.dup(mounts["full"]), user=None, group=None)
    workspace.write("file", b"old")

    with pytest.raises(ActionError, match=r"'file' of 1000000 bytes: the workspace is full: .*disk_mb"):
        workspace.write("file", bytes(1_000_000))
    with pytest.raises(ActionError, match="n_inodes"):
        workspace.write("/".join("a" * 10), b"")

    assert workspace.read("file", 3) == b"old"
    assert {entry.path for entry in workspace.walk(100, 100) if entry.kind == "file"} == {"file"}
    workspace.close()


def test_no_write_leaves_a_descriptor_open(box, outside, same_descriptors):
    (box.inside / "link").symlink_to(outside)
    (box.inside / "folder").mkdir()

    with same_descriptors():
        for path in ("link/file", "folder", "a/b/c", "a/b/c/d"):
            _write_anyway(box.workspace, path)


def _write_anyway(workspace: Workspace, path: str) -> None:
    try:
        workspace.write(path, b"ours")
    except ActionError:
        return


def _write_naively(path: Path) -> None:
    try:
        path.write_text("naive")
    except OSError:
        return
