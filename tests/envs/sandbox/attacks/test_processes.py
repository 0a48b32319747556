"""Processes that multiply, hide, refuse to die, or kill others: 1, 2, 17-22."""

from __future__ import annotations

from collections.abc import Callable

from arena import Free
from host import Host
from ring import SPEC, Ring

Control = Callable[..., Free]


def test_01_fork_bomb(ring: Ring, control: Control) -> None:
    assert control(1, bound=5, timeout_s=0.5).n_survivors > SPEC.n_processes

    outcome = ring.attack(1, timeout_s=1.0 + ring.moment_s)

    assert outcome.status in ("timeout_cpu", "timeout_wall", "processes_limit")
    assert 1 <= outcome.result.n_killed <= SPEC.n_processes + ring.n_resident
    outcome.assert_held()


def test_02_thread_bomb(ring: Ring, control: Control) -> None:
    assert control(2, bound=40).free == {"20 threads"}

    outcome = ring.attack(2)

    assert outcome.status == "processes_limit"
    outcome.assert_held()


def test_17_signals_ignored(ring: Ring, control: Control) -> None:
    assert control(17, bound=50).free == {"deadline"}

    outcome = ring.attack(17, timeout_s=ring.moment_s)

    assert outcome.status == "timeout_wall"
    outcome.assert_held()


def test_18_stopped(ring: Ring, control: Control) -> None:
    assert control(18).stopped

    outcome = ring.attack(18, timeout_s=ring.moment_s)

    assert outcome.status == "timeout_wall"
    outcome.assert_held()


def test_19_daemon_that_holds_the_pipe(ring: Ring, control: Control) -> None:
    free = control(19)
    assert (free.code, free.stdout, free.n_survivors) == (4, b"daemon\n", 1)

    outcome = ring.attack(19)

    assert (outcome.status, outcome.result.exit_code, outcome.result.stdout) == ("nonzero", 4, b"daemon\n")
    assert outcome.result.wall_s < 5


def test_20_nohup(ring: Ring, control: Control) -> None:
    free = control(20)
    assert (free.code, free.n_survivors) == (0, 1)

    assert ring.attack(20).status == "ok"


def test_21_zombies(ring: Ring, control: Control) -> None:
    free = control(21, bound=40)
    assert free.free == {"20 zombies"}

    outcome = ring.attack(21)

    assert outcome.status == "processes_limit"
    outcome.assert_held()


def test_22_kill_everybody(ring: Ring, control: Control, host: Host) -> None:
    free = control(22)
    assert free.free == {"a process of the host", "a process of the host by handle"}
    assert not free.victim_lives

    outcome = ring.attack(22, env=host.facts)

    assert outcome.status == "ok"
    outcome.assert_held()
