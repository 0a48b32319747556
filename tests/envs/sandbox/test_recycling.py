"""Interpreters are replaced: after so many sandboxes, after so long, and when they do not answer."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from workgym.envs.sandbox.local.pool import LocalPool
from workgym.envs.sandbox.pool import open_pool
from workgym.envs.sandbox.protocol import Sandbox
from workgym.envs.sandbox.spec import PythonCode, SandboxSpec
from workgym.tasks.errors import SandboxError

pytestmark = pytest.mark.xdist_group("alone")

LONG_S = 30.0


@pytest.fixture
def recycling(local: None) -> Iterator[Callable[..., LocalPool]]:
    pools: list[LocalPool] = []

    def opened(**size: float) -> LocalPool:
        pool = open_pool("local", SandboxSpec(), **size)  # type: ignore[arg-type]
        assert isinstance(pool, LocalPool)
        pools.append(pool)
        return pool

    yield opened
    for pool in pools:
        pool.close()


def says(box: Sandbox, word: str) -> bytes:
    return box.exec(PythonCode(f"print({word!r})"), timeout_s=LONG_S).stdout


def is_gone(pid: int) -> bool:
    return not os.path.exists(f"/proc/{pid}")


def test_after_its_uses_an_interpreter_gives_way_and_ends_with_its_last_sandbox(
    recycling: Callable[..., LocalPool],
) -> None:
    pool = recycling(max_uses=2)
    with pool.lease() as first:
        assert says(first, "one") == b"one\n"
        old = pool.zygote_pid
        with pool.lease() as second:
            assert says(second, "two") == b"two\n"
            assert pool.zygote_pid == old
        with pool.lease() as third:
            assert says(third, "three") == b"three\n"
            assert pool.zygote_pid != old
        assert says(first, "still here") == b"still here\n"
    with pool.lease() as fourth:
        assert says(fourth, "four") == b"four\n"
    assert old is not None
    assert is_gone(old)


def test_an_interpreter_that_is_too_old_gives_way(recycling: Callable[..., LocalPool]) -> None:
    pool = recycling(max_age_s=1e-9)
    pids = []
    for _ in range(2):
        with pool.lease() as box:
            assert says(box, "x") == b"x\n"
            pids.append(pool.zygote_pid)
    assert pids[0] != pids[1]


def test_an_interpreter_that_gives_way_is_not_ended_under_a_sandbox_that_is_being_made(
    recycling: Callable[..., LocalPool],
) -> None:
    pool = recycling(max_uses=1)

    def work(thread: int) -> int:
        n_right = 0
        for _ in range(6):
            with pool.lease() as box:
                n_right += says(box, str(thread)) == f"{thread}\n".encode()
        return n_right

    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(work, range(6))) == [6] * 6


def test_one_is_ready_before_it_is_needed(recycling: Callable[..., LocalPool]) -> None:
    assert recycling().zygote_pid is None
    assert recycling(min_idle=1).zygote_pid is not None


def test_who_wants_one_more_than_there_are_waits(recycling: Callable[..., LocalPool]) -> None:
    pool = recycling(max_size=1)
    with pool.lease() as box:
        assert says(box, "x") == b"x\n"
        assert not pool._leases.acquire(timeout=0.05)
    with pool.lease() as other:
        assert says(other, "y") == b"y\n"


def test_eight_threads_take_two_hundred_leases_each_without_a_deadlock(
    recycling: Callable[..., LocalPool], all_gone: Callable[[LocalPool], None]
) -> None:
    pool = recycling(max_size=3, max_uses=500)

    def work(thread: int) -> int:
        n_right = 0
        for n in range(200):
            with pool.lease() as box:
                n_right += says(box, f"{thread} {n}") == f"{thread} {n}\n".encode()
        return n_right

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(work, range(8))) == [200] * 8
    all_gone(pool)


def test_a_silent_interpreter_gets_no_new_sandbox_and_is_killed_when_asked(
    recycling: Callable[..., LocalPool], below: Callable[[int], list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workgym.envs.sandbox.local.nursery._SILENCE_S", 0.0)
    monkeypatch.setattr("workgym.envs.sandbox.local.nursery._ANSWER_S", 0.2)
    pool = recycling()
    with pool.lease() as box:
        assert says(box, "x") == b"x\n"
        old = pool.zygote_pid
        assert old is not None
        os.kill(below(old)[0], signal.SIGSTOP)
        with pool.lease() as other:
            assert says(other, "y") == b"y\n"
            assert pool.zygote_pid != old
        health = box.heartbeat(0.2)
        assert not health.alive
        assert "silent for 0.2 s" in str(health.detail)
        with pytest.raises(SandboxError, match="lease another"):
            says(box, "z")
    assert is_gone(old)


@pytest.mark.parametrize(
    ("size", "words"),
    [
        ({"max_size": 0}, "max_size must be from 1 to 200, not 0"),
        ({"min_idle": 3, "max_size": 2}, r"min_idle must be from 0 to max_size \(2\), not 3"),
        ({"max_uses": 0}, "max_uses and max_age_s must be > 0"),
        ({"max_age_s": float("nan")}, "max_uses and max_age_s must be > 0"),
    ],
)
def test_a_size_that_makes_no_sense_is_refused(size: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        open_pool("local", SandboxSpec(), **size)  # type: ignore[arg-type]
