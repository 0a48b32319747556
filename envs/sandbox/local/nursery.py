"""Zygotes: started when needed, replaced when dead, silent, old or much used; and the berths in them."""

from __future__ import annotations

import threading
import time
import weakref

from workgym.envs.sandbox.cgroup.find import find_cgroups
from workgym.envs.sandbox.cgroup.tree import CgroupTree
from workgym.envs.sandbox.ledger import own_ledger
from workgym.envs.sandbox.local.berth import Berth
from workgym.envs.sandbox.local.run import Run
from workgym.envs.sandbox.local.supervisor import Zygote
from workgym.envs.sandbox.reaping import reap_once
from workgym.envs.sandbox.spec import PoolSize, PythonCode, SandboxSpec
from workgym.tasks.errors import SandboxError

__all__ = ["Nursery"]

_SILENCE_S = 5.0  # a zygote that was not heard of for so long is asked before it gets another sandbox
_ANSWER_S = 1.0
_FIRST_PROGRAM_S = 60.0
_MONITORS = 1  # of bubblewrap, as local/bwrapped.py has it

_Shown = tuple[tuple[str, str], ...]


class _Warm:
    """A zygote in use."""

    def __init__(self, zygote: Zygote, note: str) -> None:
        self.zygote, self.note = zygote, note
        self.began = time.monotonic()
        self.n_uses = self.n_expected = 0  # sandboxes so far; those whose berth is being made
        self.berths: weakref.WeakSet[Berth] = weakref.WeakSet()

    @property
    def is_empty(self) -> bool:
        return not self.n_expected and all(berth.closed for berth in self.berths)


class Nursery:
    """The zygotes of one pool, one for each set of folders that they show. Safe to use from many threads.

    Args:
        spec: what their children may use.
        size: how long each is used.
        bwrap: path of bubblewrap, where that shall build the walls.
    """

    def __init__(self, spec: SandboxSpec, size: PoolSize, bwrap: str = "") -> None:
        self._spec, self._size, self._bwrap = spec, size, bwrap
        self._lock = threading.Lock()
        self._young: dict[_Shown, _Warm] = {}
        self._old: list[_Warm] = []  # they get no new sandboxes, and end with their last
        self._tree: CgroupTree | None = None
        self._notes: list[str] | None = None
        self._closed = False

    @property
    def newest_pid(self) -> int | None:
        """The process that was started last; None before the first."""
        return next((warm.zygote.pid for warm in reversed(self._young.values())), None)

    def find_berth(self, shown: _Shown) -> Berth:
        """Make a workspace in a living zygote.

        Raises:
            SandboxError: none can be had.
        """
        for _ in range(2):  # a zygote that was dead before it was asked never saw the sandbox
            warm = self.find(shown, n_expected=1)
            try:
                berth = self._make(warm, None)
            finally:
                with self._lock:
                    warm.n_expected -= 1
            if berth is not None:
                return berth
            self.quarantine(warm.zygote)
        raise SandboxError("two zygotes in a row died before they made a workspace; is the machine out of memory?")

    def copy_berth(self, like: Berth) -> Berth:
        """Make a workspace that begins as a copy of another, in the zygote of that one.

        Raises:
            SandboxError: that zygote is gone.
        """
        with self._lock:
            warm = next((one for one in (*self._young.values(), *self._old) if one.zygote is like.zygote), None)
        berth = None if warm is None else self._make(warm, like)
        if berth is None:
            raise SandboxError("the sandbox's zygote died with the workspace in it; lease another sandbox")
        return berth

    def _make(self, warm: _Warm, like: Berth | None) -> Berth | None:
        berth = self._make_berth(warm, like)
        if berth is not None:
            with self._lock:
                warm.berths.add(berth)
        return berth

    def _make_berth(self, warm: _Warm, like: Berth | None) -> Berth | None:
        memory_mb = self._spec.memory_mb + self._spec.disk_mb  # what lies in the workspace counts as memory
        n_processes = self._spec.n_processes + (_MONITORS if self._bwrap else 0)
        berth = Berth(warm.zygote, self._tree, memory_mb=memory_mb, n_processes=n_processes, like=like)
        try:
            if not berth.ask():
                berth.close()
                return None
        except BaseException:
            berth.close()
            raise
        return berth

    def find(self, shown: _Shown, n_expected: int = 0) -> _Warm:
        """A zygote that is alive, and neither too old nor used too often.

        Args:
            shown: the folders that it shows.
            n_expected: berths that will be made in it; until then it does not end as one that nobody uses.

        Raises:
            SandboxError: the pool is closed, or it cannot be started.
        """
        with self._lock:
            warm = self._young.get(shown)
            if warm is not None and (self._is_worn(warm) or _is_silent(warm.zygote)):
                self._old.append(self._young.pop(shown))  # what runs in it may go on: it may be slow, not dead
                warm = None
            for old in [one for one in self._old if one.is_empty]:
                self._old.remove(old)
                self._end(old)
            if warm is None:
                warm = self._young[shown] = self._start(shown)
            warm.n_uses += 1
            warm.n_expected += n_expected
            return warm

    def _is_worn(self, warm: _Warm) -> bool:
        return warm.n_uses >= self._size.max_uses or time.monotonic() - warm.began > self._size.max_age_s

    def _start(self, shown: _Shown) -> _Warm:
        if self._closed:
            raise SandboxError("this sandbox pool is closed; open another")
        if self._notes is None:
            self._notes = self._find_groups()
        zygote = Zygote(self._spec, shown=shown, has_memory_cgroup=self._tree is not None, bwrap=self._bwrap)
        try:
            note = own_ledger().note("process", pid=zygote.pid)
        except BaseException:
            zygote.kill()
            raise
        warm = _Warm(zygote, note)
        if self._bwrap and self._spec.warm_modules:
            self._try_modules(warm)
        return warm

    def _find_groups(self) -> list[str]:
        """Look for control groups, once, and write down what will be made of them."""
        reap_once()
        found = find_cgroups()
        if not isinstance(found, CgroupTree):
            return []
        tree = found.keep("pids")
        notes = [own_ledger().note("cgroup", path=str(path)) for path in tree.owner_folders()]
        self._tree = tree
        return notes

    def _try_modules(self, warm: _Warm) -> None:
        """Each program loads them anew behind bubblewrap's walls: one that does not load is no program's failure."""
        berth = self._make_berth(warm, None)
        try:
            if berth is None:
                raise SandboxError("the sandbox's zygote died before its first program")
            run = Run(self._spec, berth, PythonCode(""), stdin=b"", env={}, channel=False, when_done=lambda _: None)
            result = run.finish(run.began + _FIRST_PROGRAM_S)
            if result.status != "ok":
                raise SandboxError(
                    f"the modules that a sandbox shall have loaded do not load: {result.status}, "
                    f"{result.stderr[-1000:].decode(errors='replace')}"
                )
        except BaseException:
            self._end(warm, kill=True)
            raise
        finally:
            if berth is not None:
                berth.close()

    def quarantine(self, zygote: Zygote) -> None:
        """Kill a zygote that is dead or silent; the next sandbox gets another."""
        with self._lock:
            for shown, warm in list(self._young.items()):
                if warm.zygote is zygote:
                    self._end(self._young.pop(shown), kill=True)
            for warm in [one for one in self._old if one.zygote is zygote]:
                self._old.remove(warm)
                self._end(warm, kill=True)

    def _end(self, warm: _Warm, *, kill: bool = False) -> None:
        if kill:
            warm.zygote.kill()
        else:
            warm.zygote.close()
        own_ledger().done(warm.note)
        for berth in list(warm.berths):
            berth.close()

    def close(self) -> None:
        """End all of them, and with them every program. Idempotent."""
        with self._lock:
            self._closed = True
            all_of_them = [*self._young.values(), *self._old]
            self._young.clear()
            self._old.clear()
            for warm in all_of_them:
                self._end(warm)
            if self._tree is not None:
                self._tree.close()
                self._tree = None
            for note in self._notes or ():
                own_ledger().done(note)
            self._notes = None

    def forsake(self) -> None:
        """Close our copies of all descriptors after a fork: they belong to the parent process."""
        for warm in (*self._young.values(), *self._old):
            for berth in list(warm.berths):
                berth.forsake()
            warm.zygote.forsake()


def _is_silent(zygote: Zygote) -> bool:
    return not zygote.was_heard(_SILENCE_S) and not zygote.answers(_ANSWER_S)
