"""What a backend cannot stop by design. Each line is tried: the attack does go through there.

`backend` is a name of the tests: "local-root" and "local-unprivileged" are the two ways of the backend "local", "bwrap"
is root's; "bwrap-unprivileged" is only met where the tests run as a plain user themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LIMITS", "Limit", "accepted"]


@dataclass(frozen=True)
class Limit:
    """An attack that a backend lets through.

    Attributes:
        backend: where.
        number: of the attack.
        what: the wall that the attack says is free.
        reason: why it is so, and what it means.
    """

    backend: str
    number: int
    what: str
    reason: str


_CLAIMS = (
    "where nothing outside can see why a program ended, its own interpreter says so by its exit code, and so can the "
    "program; it thereby claims that it failed, never that it did well"
)
_NO_GROUP = (
    "a plain user has no control group to put a run into: its memory is limited for each process, so a run may use up "
    "to n_processes times memory_mb; `capabilities.memory` reads per-process"
)
_CLAIMED = ("the status oom", "the status disk_limit", "the status processes_limit")
_CODE_OF_SIGNAL = "bubblewrap tells of a death by signal n as the exit code 128 + n, which a program may choose"
_BWRAP = ("bwrap", "bwrap-unprivileged")
LIMITS: tuple[Limit, ...] = (
    Limit("local-unprivileged", 3, "more memory in four processes together", _NO_GROUP),
    *(Limit("local-root", 34, what, _CLAIMS) for what in _CLAIMED),
    *(Limit("local-unprivileged", 34, what, _CLAIMS) for what in _CLAIMED),
    Limit("bwrap-unprivileged", 3, "more memory in four processes together", _NO_GROUP),
    *(Limit(backend, 34, what, _CLAIMS) for backend in _BWRAP for what in _CLAIMED),
    *(Limit(backend, 34, "the status signal", _CODE_OF_SIGNAL) for backend in _BWRAP),
    *(Limit("docker", 34, what, _CLAIMS) for what in _CLAIMED),
)


def accepted(backend: str, number: int) -> set[str]:
    """The walls of an attack that do not hold there."""
    return {limit.what for limit in LIMITS if (limit.backend, limit.number) == (backend, number)}
