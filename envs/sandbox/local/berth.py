"""The supervisor's end of one workspace in a zygote, and of the control group of its programs."""

from __future__ import annotations

import contextlib
import errno
import itertools
import marshal
import os
import socket
import struct
from collections.abc import Mapping, Sequence
from dataclasses import replace

from workgym.envs.sandbox.cgroup.group import Cgroup, Tally
from workgym.envs.sandbox.cgroup.tree import CgroupTree
from workgym.envs.sandbox.local.report import Refusals
from workgym.envs.sandbox.local.supervisor import Zygote
from workgym.envs.sandbox.workspace import Workspace
from workgym.tasks.errors import ActionError, SandboxError

__all__ = ["HEAD", "Berth"]

# As local/zygote.py has them; it belongs into the bare interpreter and is not imported here.
HEAD = struct.Struct("<Bq")
_PLACE = struct.Struct("<qq")
_FLAG_PLACE = 8
_NOGROUP = 65534
_NO_FORK = os.strerror(errno.EAGAIN).encode()

_ANSWER_S = 10.0
_LEAVE_TRIES = 20
_LARGEST_ANSWER = 1 << 16

_numbers = itertools.count(1)


class Berth:
    """Where a sandbox lives: a workspace in a zygote, and a control group for its programs where there are any.

    It is asked for at once and looked at when first needed: a program that starts in between finds it in any case.
    Not for several threads at once.

    Args:
        zygote: makes the workspace; asked by `ask`.
        tree: where to make the control group; None without.
        memory_mb: of the control group.
        n_processes: of the control group.
        like: a berth of the same family, of the same zygote, to begin as a copy of.

    Attributes:
        zygote: in which it lies.
        number: of the workspace in that zygote.
        doors: descriptors through which a program enters the control group.
        below: frozen levels under it, from the lowest up.
        closed: whether it was given up.
    """

    def __init__(
        self, zygote: Zygote, tree: CgroupTree | None, *, memory_mb: int, n_processes: int, like: Berth | None = None
    ) -> None:
        self.zygote, self.number = zygote, next(_numbers)
        self._like = 0 if like is None else like.number
        self.below: list[int] = [] if like is None else list(like.below)
        self._baseline: Mapping[str, bytes] = {} if like is None else like.workspace.baseline
        self._top = 0
        self._failure = ""
        self._workspace: Workspace | None = None
        self._line: socket.socket | None = None
        self.closed = False
        self._cgroup: Cgroup | None = None
        self.doors: list[int] = []
        self._tally: Tally | None = None
        self._counts: list[int] = []
        if tree is not None:
            self._cgroup = tree.make(f"box-{self.number}", memory_mb=memory_mb, n_processes=n_processes)
            try:
                self._tally = self._cgroup.open_tally()
                self.doors = self._cgroup.open_doors()
                self._counts = self._tally.count()
            except BaseException:
                self._leave_group()
                raise

    def ask(self) -> bool:
        """Ask the zygote for the workspace; False if it was gone before.

        Raises:
            SandboxError: there are no descriptors left, or it takes no messages.
        """
        try:
            self._line, line = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        except OSError as error:
            raise SandboxError(
                f"cannot make a line to a sandbox's workspace: {error}; raise the limit of open files (ulimit -n)"
            ) from error
        self._line.settimeout(_ANSWER_S)
        with line:
            line.setblocking(False)
            head = HEAD.pack(_FLAG_PLACE, self.number)
            return self.zygote.hand_over(head + marshal.dumps((self._like, self.below)), [line.fileno()])

    # The workspace

    @property
    def workspace(self) -> Workspace:
        """The files in it.

        Raises:
            SandboxError: the zygote could not make it, or died.
        """
        if self._workspace is None:
            self._hear()
        assert self._workspace is not None
        return self._workspace

    def freeze(self) -> Sequence[int]:
        """Remember the workspace.

        Returns:
            The levels that `restore` goes back to.

        Raises:
            ActionError: what programs left in it has no room for another level.
            SandboxError: there are too many levels, or the zygote died.
        """
        baseline, top = self.workspace.baseline, self._top
        self._command(b"S", baseline)
        self.below = [*self.below, top]
        return self.below

    def restore(self, below: Sequence[int], baseline: Mapping[str, bytes]) -> None:
        """Go back.

        Raises:
            SandboxError: the kernel refused, or the zygote died.
        """
        self._command(b"R" + marshal.dumps(list(below)), baseline)
        self.below = list(below)

    def _command(self, command: bytes, baseline: Mapping[str, bytes]) -> None:
        workspace = self.workspace  # hears what was asked before
        try:
            self._open_line.send(command)
        except OSError as error:
            raise SandboxError(self._lost(error)) from error
        self._baseline = baseline
        self._hear()
        workspace.close()

    def _hear(self) -> None:
        try:
            answer, folders, _, _ = socket.recv_fds(self._open_line, _LARGEST_ANSWER, 1)
        except OSError as error:
            raise SandboxError(self._lost(error)) from error
        if answer[:1] != b"D":
            if not answer:
                raise SandboxError(self._lost(None))
            words = answer[1:].decode("utf-8", "replace")
            if answer[:1] == b"N":
                raise ActionError(f"the workspace cannot be remembered or copied: {words}")
            failure = f"a sandbox's workspace could not be made: {words}"
            if self._workspace is None:  # else the one that stood goes on
                self._failure = failure
            raise SandboxError(failure)
        self._top, user = _PLACE.unpack(answer[1:])
        owner = None if user < 0 else user
        group = None if owner is None else _NOGROUP
        self._workspace = Workspace(folders[0], user=owner, group=group, baseline=self._baseline)

    @property
    def _open_line(self) -> socket.socket:
        if self._line is None:
            raise SandboxError("this sandbox is closed; lease another")
        if self._failure:
            raise SandboxError(self._failure)
        return self._line

    def _lost(self, error: OSError | None) -> str:
        return (
            f"the sandbox's zygote (pid {self.zygote.pid}) died with the workspace in it, or does not answer"
            f"{f' ({error})' if error else ''}; lease another sandbox"
        )

    def _is_full(self) -> bool:
        """Whether no room, or no file, is left in the workspace."""
        with contextlib.suppress(SandboxError, OSError):
            seen = os.fstatvfs(self.workspace.descriptor)
            return seen.f_bavail == 0 or seen.f_favail == 0
        return False

    # The control group

    def refusals(self, *, failed: bool) -> Refusals:
        """The limits that the run which has just ended met.

        Raises:
            SandboxError: the control group is gone.
        """
        disk = failed and self._is_full()
        if self._tally is None:
            return Refusals(disk=disk)
        counts = self._tally.count()
        grown = [new > old for new, old in zip(counts, self._counts, strict=True)]
        self._counts = counts
        return Refusals(memory=grown[0], disk=disk, processes=any(grown[1:]))

    def shortage(self, words: bytes) -> Refusals:
        """The limits for which a run could not begin: other programs of the sandbox had used up what they share.

        Args:
            words: what was said of it, by its walls and not by a program.
        """
        refused = self.refusals(failed=False)
        is_crowded = _NO_FORK in words and self._cgroup is not None and bool(self._cgroup.pids())
        return replace(refused, processes=refused.processes or is_crowded)

    # Its end

    def close(self) -> None:
        """Give the workspace up. Idempotent."""
        if self._line is not None:
            with contextlib.suppress(OSError):  # the zygote is gone
                self._line.shutdown(socket.SHUT_RDWR)  # also of copies of it in processes that were forked
        self._give_back()

    def _give_back(self) -> None:
        self.closed = True
        if self._line is not None:
            self._line.close()
            self._line = None
        if self._workspace is not None:
            self._workspace.close()
        self._leave_group()

    def _leave_group(self) -> None:
        for door in self.doors:
            os.close(door)
        self.doors = []
        if self._tally is not None:
            self._tally.close()
            self._tally = None
        if self._cgroup is not None:
            cgroup, self._cgroup = self._cgroup, None
            for left in reversed(range(_LEAVE_TRIES)):  # a program that was given up may enter while it is being killed
                cgroup.kill()
                try:
                    cgroup.remove()
                    break
                except SandboxError:
                    if not left:
                        raise

    def forsake(self) -> None:
        """Close our copies of its descriptors after a fork: it belongs to the parent process."""
        self._cgroup = None
        self._give_back()
