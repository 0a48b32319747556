"""How groups of processes are frozen, killed to the last one, and removed."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from workgym.envs.sandbox.cgroup.files import read_pids, read_table, read_text, write_text
from workgym.tasks.errors import SandboxError

__all__ = ["freeze_folder", "kill_groups", "remove_folder", "thaw_folder"]

_LOOK_S = 0.001
_REMOVE_S = 2.0
_STRIKE_S = 0.5


def freeze_folder(folder: Path, within_s: float) -> None:
    """Stop the processes of a group of version 2 or of the freezer.

    Raises:
        SandboxError: they have not stopped in time, or the kernel refuses.
    """
    if _is_freezer(folder):
        _freeze_v1(folder, within_s)
        return
    write_text(folder / "cgroup.freeze", "1")
    if not _comes_true(lambda: read_table(folder / "cgroup.events").get("frozen") == 1, within_s):
        raise SandboxError(f"the control group {folder} has not frozen within {within_s:g} s; kill it")


def thaw_folder(folder: Path) -> None:
    """Let the processes of a group go on.

    Raises:
        SandboxError: the kernel refuses.
    """
    if _is_freezer(folder):
        write_text(folder / "freezer.state", "THAWED")
    else:
        write_text(folder / "cgroup.freeze", "0")


def kill_groups(folders: Sequence[Path], within_s: float) -> int:
    """Kill every process that is in one of these groups, and wait until they are gone.

    Version 2 does it at one stroke where the kernel has `cgroup.kill` (Linux 5.14). Otherwise the groups are frozen
    first, so that nothing forks while it is signalled. They are left thawed.

    Args:
        folders: the groups; those that are gone count as empty. Where the freezer is a hierarchy of its own it must be
            among them, since what is frozen does not die.
        within_s: how long it may take.

    Returns:
        How many were found alive.

    Raises:
        SandboxError: some are still there.
    """
    killed: set[int] = set()
    deadline = time.monotonic() + within_s
    strike: Callable[[Sequence[Path], float], None] = _strike
    while left := _living(folders):
        if time.monotonic() > deadline:
            raise SandboxError(
                f"processes {sorted(left)[:8]} of the control group {folders[0]} live on after SIGKILL for "
                f"{within_s:g} s; look for a device or a network file system that does not answer"
            )
        killed |= left
        with _held(left) as handles:
            strike(folders, within_s)
            _await_all(handles, min(deadline, time.monotonic() + _STRIKE_S))
        strike = _signal_frozen  # who is left is in a group that cannot be killed at one stroke
    return len(killed)


def remove_folder(folder: Path) -> None:
    """Remove an empty group; for a moment after its last process has died the kernel may still hold it. Idempotent.

    Raises:
        SandboxError: processes or groups are in it, or the kernel refuses.
    """
    deadline = time.monotonic() + _REMOVE_S
    while True:
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError as error:
            is_busy = error.errno == errno.EBUSY and not read_pids(folder)
            if not is_busy or time.monotonic() > deadline:
                raise SandboxError(
                    f"cannot remove the control group {folder}: {error.strerror}; kill what is in it first"
                ) from error
            time.sleep(_LOOK_S)
        else:
            return


def _is_freezer(folder: Path) -> bool:
    return (folder / "freezer.state").exists()


def _freeze_v1(folder: Path, within_s: float) -> None:
    def is_frozen() -> bool:
        # Written again: processes that were born in the meantime are found the next time.
        write_text(folder / "freezer.state", "FROZEN")
        return read_text(folder / "freezer.state").strip() == "FROZEN"

    if not _comes_true(is_frozen, within_s):
        write_text(folder / "freezer.state", "THAWED")
        raise SandboxError(f"the control group {folder} has not frozen within {within_s:g} s; kill it")


def _comes_true(look: Callable[[], bool], within_s: float) -> bool:
    deadline = time.monotonic() + within_s
    while not look():
        if time.monotonic() > deadline:
            return False
        time.sleep(_LOOK_S)
    return True


def _living(folders: Sequence[Path]) -> set[int]:
    return {pid for folder in folders for pid in read_pids(folder)}


def _strike(folders: Sequence[Path], within_s: float) -> None:
    struck = [folder for folder in folders if (folder / "cgroup.kill").exists()]
    for folder in struck:
        write_text(folder / "cgroup.kill", "1")
        write_text(folder / "cgroup.freeze", "0")
    if not struck:
        _signal_frozen(folders, within_s)


def _signal_frozen(folders: Sequence[Path], within_s: float) -> None:
    """Kill every process while nothing moves. They die when they are let go, and so is what was frozen before."""
    freezable = [folder for folder in folders if _is_freezer(folder) or (folder / "cgroup.freeze").exists()]
    try:
        for folder in freezable:
            with contextlib.suppress(SandboxError):  # then signals race with forks, and win or the deadline comes
                freeze_folder(folder, within_s / 4)
        _signal_all(folders)
    finally:
        for folder in freezable:
            with contextlib.suppress(SandboxError):  # gone
                thaw_folder(folder)


def _signal_all(folders: Sequence[Path]) -> None:
    # A number may have passed to a stranger since it was read: it is used only if it still stands in the group once a
    # descriptor holds its process fast.
    with _held(_living(folders)) as handles:
        still = _living(folders)
        for pid, handle in handles.items():
            if pid in still:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(handle, signal.SIGKILL)


@contextlib.contextmanager
def _held(pids: Iterable[int]) -> Iterator[dict[int, int]]:
    """Descriptors of those processes that still live."""
    handles: dict[int, int] = {}
    try:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                handles[pid] = os.pidfd_open(pid)
        yield handles
    finally:
        for handle in handles.values():
            os.close(handle)


def _await_all(handles: Mapping[int, int], deadline: float) -> None:
    """Wait until processes have ended (not until they are reaped)."""
    poll = select.poll()
    for handle in handles.values():
        poll.register(handle, select.POLLIN)
    n_left = len(handles)
    while n_left and (left_s := deadline - time.monotonic()) > 0:
        for handle, _ in poll.poll(left_s * 1000):
            poll.unregister(handle)
            n_left -= 1
