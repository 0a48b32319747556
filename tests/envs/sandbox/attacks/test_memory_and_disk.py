"""More memory, disk, files and descriptors than there are: 3-9."""

from __future__ import annotations

from collections.abc import Callable

from arena import Free
from ring import SPEC, Ring

Control = Callable[..., Free]


def test_03_memory_bomb(ring: Ring, control: Control) -> None:
    expected = {"more memory in one process", "more memory in four processes together"}
    assert control(3, bound=160).free == expected

    outcome = ring.attack(3)

    assert outcome.status == "oom"
    assert outcome.result.peak_memory_mb < 2 * SPEC.memory_mb
    outcome.assert_held()


def test_04_populated_map(ring: Ring, control: Control) -> None:
    assert control(4, bound=128).free == {"a large map"}

    outcome = ring.attack(4)

    is_grouped = ring.pool.capabilities.memory == "cgroup"
    assert outcome.status == ("oom" if is_grouped else "nonzero")  # refused as an error of the program
    assert is_grouped or b"Cannot allocate memory" in outcome.result.stderr
    assert outcome.result.peak_memory_mb < 2 * SPEC.memory_mb
    outcome.assert_held()


def test_05_full_disk(ring: Ring, control: Control) -> None:
    assert control(5, bound=8).free == {"more disk"}

    outcome = ring.attack(5)

    assert outcome.status == "disk_limit"
    outcome.assert_held()


def test_06_inodes(ring: Ring, control: Control) -> None:
    assert control(6, bound=200).free == {"more files"}

    outcome = ring.attack(6)

    assert outcome.status == "disk_limit"
    outcome.assert_held()


def test_07_descriptors(ring: Ring, control: Control) -> None:
    assert control(7, bound=200).free == {"more descriptors"}

    outcome = ring.attack(7)

    assert outcome.status == "nonzero"
    assert b"Too many open files" in outcome.result.stderr
    outcome.assert_held()


def test_08_sparse_file(ring: Ring, control: Control) -> None:
    assert control(8, bound=64).free == {"a large file"}

    outcome = ring.attack(8)

    assert outcome.status == "disk_limit"
    outcome.assert_held()


def test_09_memory_files(ring: Ring, control: Control) -> None:
    expected = {"memory in a memfd", "memory in a segment", "memory in a shared folder"}
    assert control(9, bound=128).free == expected

    outcome = ring.attack(9)

    assert outcome.status in ("ok", "oom")  # refused, or counted as what it is
    assert outcome.result.peak_memory_mb < 2 * SPEC.memory_mb
    outcome.assert_held()
