"""Output and input that are too much, too slow, too odd: 10-16."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import pytest
from arena import Free
from ring import SPEC, Ring, program

from workgym.envs.sandbox.spec import PythonCode

Control = Callable[..., Free]
CAP_BYTES = SPEC.output_kb << 10


def test_10_stdout_flood(ring: Ring, control: Control) -> None:
    assert len(control(10, bound=4).stdout) == 4 << 20

    result = ring.attack(10).result

    assert result.status == "output_limit"
    assert len(result.stdout) == CAP_BYTES
    assert CAP_BYTES < result.truncated_bytes < 64 << 20


def test_11_stderr_flood(ring: Ring, control: Control) -> None:
    assert len(control(11, bound=4).stderr) > 4 << 20

    result = ring.attack(11).result

    assert result.status == "output_limit"
    assert len(result.stderr) == CAP_BYTES
    assert CAP_BYTES < result.truncated_bytes < 64 << 20


def test_12_slow_drip(ring: Ring, control: Control) -> None:
    free = control(12, bound=50)
    assert free.free == {"deadline"} or free.stdout.endswith(b".free: deadline\n")

    outcome = ring.attack(12, timeout_s=ring.moment_s)

    assert outcome.status == "timeout_wall"
    assert outcome.result.stdout.strip(b".") == b""


def test_13_hostile_bytes(ring: Ring, control: Control) -> None:
    free = control(13)
    with pytest.raises(UnicodeDecodeError):
        free.stdout.decode()

    result = ring.attack(13).result

    assert (result.status, result.stdout) == ("ok", free.stdout)


def test_14_closed_stdout_and_a_loop(ring: Ring, control: Control) -> None:
    assert control(14, bound=6).cpu_s >= SPEC.cpu_s

    outcome = ring.attack(14)

    assert outcome.status == "timeout_cpu"
    assert SPEC.cpu_s <= outcome.result.cpu_s < SPEC.cpu_s + 0.5


def test_15_stdin_that_is_never_read(ring: Ring, control: Control) -> None:
    assert control(15, bound=50).free == {"deadline"}
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    assert os.write(writer, bytes(10 << 20)) < 10 << 20  # who waits for the rest waits forever
    os.close(reader)
    os.close(writer)

    outcome = ring.attack(15, stdin=bytes(10 << 20), timeout_s=ring.moment_s)

    assert outcome.status == "timeout_wall"
    outcome.assert_held()


def test_16_stdin_that_is_read_forever(ring: Ring, control: Control) -> None:
    assert control(16, bound=6).free == {"limit"}

    outcome = ring.attack(16, stdin=b"a few bytes")

    assert outcome.status == "timeout_cpu"
    outcome.assert_held()


def test_16_stdin_that_never_ends(ring: Ring) -> None:
    with ring.pool.lease() as box:
        process = box.start(PythonCode(program(16)), channel=True)
        began = time.monotonic()
        assert process.receive(0.1) is None
        assert time.monotonic() - began < 3
        process.kill()
        assert process.wait(5).status == "killed"
