"""The workspaces that runs are given, in the zygote's own mount namespace.

A workspace is one level, a tmpfs of capped size, or an overlay of a level on frozen ones. To remember a workspace is to
freeze its level and to go on with a fresh one above it; to fork it is to lay several levels over the same frozen ones.
Nobody walks through what programs left: levels are mounted and detached whole.

Runs do not see the shelf on which all of this lies: each covers it before its program begins.
"""

from __future__ import annotations

import contextlib
import os

from workgym.envs.sandbox.local import kernel, namespaces

__all__ = ["Family", "NoRoom", "Place", "Store"]

_OVERHEAD = 5  # inodes of a level: its root, the upper folder, overlayfs's two work folders, the mount point
_MOST_LEVELS = 256  # of one family: overlayfs takes 500, and every run copies the list of mounts
_FLAGS = kernel.MS_NOSUID | kernel.MS_NODEV


class NoRoom(OSError):
    """What programs left in the levels below fills the workspace: no fault of the machinery."""


class Family:
    """A sandbox and those that were forked from it: they share frozen levels and a user id.

    Attributes:
        user: of all their programs; None where each program has a user namespace of its own.
        frozen: levels that nobody writes to anymore; they last as long as the family.
        n_places: workspaces in use.
        n_runs: programs alive.
    """

    __slots__ = ("frozen", "n_places", "n_runs", "user")

    def __init__(self, user: int | None) -> None:
        self.user = user
        self.frozen: list[int] = []
        self.n_places = self.n_runs = 0


class Place:
    """One workspace.

    Attributes:
        shelf: where its levels lie.
        family: whose it is.
        below: frozen levels under it, from the lowest up.
        top: the level that is written to.
    """

    __slots__ = ("below", "family", "shelf", "top")

    def __init__(self, shelf: str, family: Family, below: list[int]) -> None:
        self.shelf, self.family, self.below, self.top = shelf, family, below, 0

    @property
    def folder(self) -> str:
        """What a program sees as its workspace."""
        return f"{self.shelf}/{self.top}/{'m' if self.below else 'u'}"


class Store:
    """Makes and drops workspaces.

    Args:
        shelf: a folder in which to mount them.
        disk_bytes: of all levels of one workspace together.
        n_inodes: in all of them.
        links: name -> target, laid into each fresh workspace.
        users: ids to give to families; empty where they need none.
    """

    def __init__(self, shelf: str, disk_bytes: int, n_inodes: int, links: dict[str, str], users: list[int]) -> None:
        self._disk_bytes, self._n_inodes, self._links, self._users = disk_bytes, n_inodes, links, users
        self._shelf = shelf
        self._has_users = bool(users)
        self._last = 0

    def open(self, family: Family | None, below: list[int]) -> Place:
        """Make a workspace over frozen levels of its family.

        Raises:
            OSError: the kernel refused.
            NoRoom: the frozen levels leave none.
        """
        if family is None:
            family = Family(self._users.pop() if self._has_users else None)
        place = Place(self._shelf, family, below)
        family.n_places += 1
        try:
            self._raise_level(place)
        except BaseException:
            family.n_places -= 1
            self.bury(family)
            raise
        return place

    def freeze(self, place: Place) -> None:
        """Remember the workspace as it stands: its level is frozen, and a fresh one laid over it."""
        if len(place.family.frozen) >= _MOST_LEVELS:
            raise NoRoom(f"a sandbox and its forks have at most {_MOST_LEVELS} snapshots; lease another to go on")
        was = place.top
        place.family.frozen.append(was)
        place.below.append(was)
        try:
            self._raise_level(place)
        except BaseException:
            place.family.frozen.remove(was)
            place.below.pop()
            place.top = was
            raise

    def restore(self, place: Place, below: list[int]) -> None:
        """Forget what is in the workspace, and go on over other frozen levels of its family."""
        was, stack = place.top, place.below
        place.below = below
        try:
            self._raise_level(place)
        except BaseException:
            place.top, place.below = was, stack
            raise
        self._lower(was)

    def drop(self, place: Place) -> None:
        """Give a workspace up."""
        place.family.n_places -= 1
        self._lower(place.top)
        self.bury(place.family)

    def bury(self, family: Family) -> None:
        """Give back what a family held, if it has neither workspaces nor programs."""
        if family.n_places or family.n_runs:
            return
        for level in family.frozen:
            self._lower(level)
        family.frozen.clear()
        if family.user is not None:
            self._users.append(family.user)
            family.user = None

    def _raise_level(self, place: Place) -> None:
        """Mount a fresh level, of the size that the levels below leave, over these."""
        n_bytes, n_inodes = self._room(place.below)
        self._last += 1
        level = self._last
        root = f"{self._shelf}/{level}"
        os.mkdir(root)
        try:
            kernel.mount("tmpfs", root, _FLAGS, f"mode=0755,size={n_bytes},nr_inodes={n_inodes + _OVERHEAD}")
            for name in "uwm" if place.below else "u":
                os.mkdir(f"{root}/{name}", 0o700)
            if not place.below:
                for name, target in self._links.items():
                    os.symlink(target, f"{root}/u/{name}")
            if place.family.user is not None:
                os.chown(f"{root}/u", place.family.user, namespaces.NOBODY)
            if place.below:
                lower = ":".join(f"{self._shelf}/{number}/u" for number in reversed(place.below))
                options = f"lowerdir={lower},upperdir={root}/u,workdir={root}/w"
                kernel.mount(
                    "overlay", f"{root}/m", _FLAGS, options + (",redirect_dir=on" if self._has_users else ",userxattr")
                )
        except BaseException:
            self._lower(level)
            raise
        place.top = level

    def _room(self, below: list[int]) -> tuple[int, int]:
        n_bytes, n_inodes = self._disk_bytes, self._n_inodes + len(self._links)
        for level in below:
            seen = os.statvfs(f"{self._shelf}/{level}")
            n_bytes -= (seen.f_blocks - seen.f_bfree) * seen.f_bsize
            n_inodes -= max(0, seen.f_files - seen.f_ffree - _OVERHEAD)
        if n_bytes < os.sysconf("SC_PAGE_SIZE") or n_inodes < 1:  # a tmpfs of size 0 would have no limit
            raise NoRoom("what stands in the workspace leaves no room in it; see SandboxSpec.disk_mb and n_inodes")
        return n_bytes, n_inodes

    def _lower(self, level: int) -> None:
        """Detach a level, with the overlay in it; programs that still use it keep it alive until they end."""
        root = f"{self._shelf}/{level}"
        with contextlib.suppress(OSError):  # it could not be mounted
            kernel.unmount(root)
        os.rmdir(root)
