"""Listing a workspace and saying what changed in it, however large, deep or oddly named it has become."""

from __future__ import annotations

import hashlib
import os
import time

import pytest

from workgym.envs.sandbox.paths import MAX_DEPTH
from workgym.envs.sandbox.workspace import Workspace

as_plain_user = pytest.mark.skipif(os.geteuid() == 0, reason="root enters whatever its permissions are")


def test_nothing_has_changed_in_what_was_written(box):
    box.workspace.write("a/file", b"text")
    changes = box.workspace.diff()

    assert (changes.written, changes.removed, changes.skipped) == ({}, (), {})


def test_new_changed_and_removed_files_are_told_apart(box):
    for name in ("same", "changed", "removed", "folder/removed"):
        box.workspace.write(name, b"old")
    (box.inside / "changed").write_text("new")
    (box.inside / "removed").unlink()
    (box.inside / "folder/removed").unlink()
    (box.inside / "folder").rmdir()
    (box.inside / "made/deep").mkdir(parents=True)
    (box.inside / "made/deep/file").write_text("made")
    changes = box.workspace.diff()

    assert changes.written == {"changed": b"new", "made/deep/file": b"made"}
    assert changes.removed == ("folder/removed", "removed")
    assert changes.skipped == {}


def test_what_is_no_plain_file_is_skipped_with_its_reason(box, outside):
    box.workspace.write("was-a-file", b"text")
    (box.inside / "was-a-file").unlink()
    (box.inside / "was-a-file").symlink_to(outside / "file")
    (box.inside / "link").symlink_to(outside)
    os.mkfifo(box.inside / "pipe")
    (box.inside / "one").touch()
    os.link(box.inside / "one", box.inside / "two")
    changes = box.workspace.diff()

    assert changes.written == {}
    assert changes.removed == ()
    assert changes.skipped == {
        "was-a-file": "it is a symlink, not a plain file",
        "link": "it is a symlink, not a plain file",
        "pipe": "it is a fifo, not a plain file",
        "one": "it is one of 2 hard links to a file",
        "two": "it is one of 2 hard links to a file",
    }


def test_files_that_are_too_large_are_skipped_and_the_others_are_not(box):
    box.workspace.write("kept", b"old")
    (box.inside / "kept").write_text("new")
    (box.inside / "after").write_bytes(bytes(10))
    with open(box.inside / "before", "wb") as file:
        file.truncate(10 << 30)
    changes = box.workspace.diff(max_bytes=13)

    assert changes.written == {"kept": b"new", "after": bytes(10)}
    assert changes.skipped == {"before": f"it has {10 << 30} bytes, more than the 0 that may be read"}


def test_many_sparse_files_cost_no_more_than_what_may_be_read(box):
    for number in range(100):
        box.workspace.write(f"{number}", b"small")
        os.truncate(box.inside / f"{number}", 1 << 20)
    began = time.process_time()
    changes = box.workspace.diff(max_bytes=2 << 20)

    assert len(changes.written) == 2
    assert len(changes.skipped) == 98
    assert time.process_time() - began < 1


def test_a_flood_of_files_cannot_hide_that_ours_were_changed(box):
    box.workspace.write("z/last", b"old")
    (box.inside / "z/last").write_text("new")
    for number in range(200):
        (box.inside / f"a{number}").touch()
    changes = box.workspace.diff(max_files=50)

    assert changes.written["z/last"] == b"new"
    assert changes.skipped["."] == "it holds more than 51 entries: the rest is left out"


def test_a_baseline_of_before_can_be_compared_with(box):
    box.workspace.write("file", b"old")
    copied = box.workspace.baseline
    box.workspace.write("file", b"new")
    copy = Workspace(os.dup(box.descriptor), user=None, group=None, baseline=copied)

    assert copied == {"file": hashlib.sha256(b"old").digest()}
    assert copy.diff().written == {"file": b"new"}
    assert box.workspace.diff(copied).written == {"file": b"new"}
    assert box.workspace.diff().written == {}
    copy.close()


def test_a_folder_that_became_a_symlink_is_not_entered(box, outside):
    box.workspace.write("folder/file", b"text")
    (box.inside / "folder").rename(box.inside / "moved")
    (box.inside / "folder").symlink_to(outside)
    changes = box.workspace.diff()

    assert changes.written == {"moved/file": b"text"}
    assert changes.skipped == {
        "folder": "it is a symlink, not a plain file",
        "folder/file": "it is reached through a symlink",
    }


@as_plain_user
def test_a_folder_that_cannot_be_entered_is_skipped(box):
    box.workspace.write("folder/file", b"text")
    (box.inside / "folder").chmod(0)
    changes = box.workspace.diff()
    (box.inside / "folder").chmod(0o755)

    assert changes.removed == ()
    assert set(changes.skipped) == {"folder", "folder/file"}


def test_a_walk_names_folders_before_what_they_hold_in_order(box):
    for name in ("b/2", "b/1", "a", "c/d/e"):
        box.workspace.write(name, b"12")

    found = [(entry.path, entry.kind, entry.problem) for entry in box.workspace.walk(100, 100)]

    assert found == [
        ("a", "file", ""),
        ("b", "folder", ""),
        ("b/1", "file", ""),
        ("b/2", "file", ""),
        ("c", "folder", ""),
        ("c/d", "folder", ""),
        ("c/d/e", "file", ""),
    ]


def test_a_walk_adds_up_to_no_more_than_it_may(box):
    for name in "abc":
        box.workspace.write(name, bytes(4))

    sizes = {entry.path: entry.size for entry in box.workspace.walk(100, 9) if not entry.problem}

    assert sizes == {"a": 4, "b": 4}


def test_5000_files_are_walked_and_one_fewer_are_not(box):
    for number in range(5000):
        os.close(os.open(f"{number}", os.O_CREAT | os.O_WRONLY, dir_fd=box.descriptor))

    assert sum(1 for entry in box.workspace.walk(5000, 0) if not entry.problem) == 5000
    *_, last = box.workspace.walk(4999, 0)
    assert (last.path, last.problem) == (".", "it holds more than 4999 entries: the rest is left out")
    assert len(box.workspace.diff().written) == 5000


def test_a_chain_of_10000_folders_ends_where_paths_end(box, same_descriptors):
    _dig(box.descriptor, 10_000)

    with same_descriptors():
        found = list(box.workspace.walk(20_000, 0))

    assert len(found) == MAX_DEPTH
    assert [entry.path for entry in found if entry.problem] == [found[-1].path]
    assert found[-1].problem == f"what it holds lies deeper than {MAX_DEPTH} names"


def test_paths_that_are_too_long_are_told(box):
    _dig(box.descriptor, 20, name="x" * 255)
    *_, last = box.workspace.walk(100, 0)

    assert last.problem == "its path has more than 4095 bytes"


def test_everything_that_a_walk_finds_readable_can_be_read(box):
    names = [b"\xff", b"\n", b" ", b"-rf", b"\x1b[2J", b"\xc3\xa9", b"x" * 255, b"..."]
    for name in names:
        with open(os.open(name, os.O_CREAT | os.O_WRONLY, dir_fd=box.descriptor), "wb") as file:
            file.write(name)

    found = [entry.path for entry in box.workspace.walk(100, 1000)]

    assert sorted(map(os.fsencode, found)) == sorted(names)
    assert {box.workspace.read(path, 255) for path in found} == set(names)
    assert box.workspace.diff().written == {os.fsdecode(name): name for name in names}


def test_a_walk_outlives_those_who_move_things_meanwhile(box, outside):
    for number in range(20):
        box.workspace.write(f"seen/{number}", b"inside")
    box.workspace.write("7/file", b"inside")
    (box.inside / "other").symlink_to(outside)
    box.attack("""
libc.renameat2(-100, b"seen", -100, b"other", 2)
os.unlink("7/file") if os.path.exists("7/file") else open("7/file", "w").close()
""")

    read = {data for _ in range(200) for data in box.workspace.diff({}).written.values()}

    assert b"inside" in read
    assert read <= {b"inside", b""}


def _dig(descriptor: int, depth: int, name: str = "d") -> None:
    """Make a folder in a folder in a folder, deeper than any path can tell."""
    here = os.dup(descriptor)
    for _ in range(depth):
        os.mkdir(name, dir_fd=here)
        below = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
