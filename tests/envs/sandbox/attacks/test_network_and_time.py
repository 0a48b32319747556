"""The network, and the clock: 32 and 33."""

from __future__ import annotations

from collections.abc import Callable

from arena import Free
from host import Host
from ring import LONG_S, SPEC, Ring

from workgym.envs.sandbox.spec import PythonCode

Control = Callable[..., Free]
MEETING = """
import os, socket, sys
try:
    place = socket.socket(socket.AF_UNIX)
    place.bind("\\0workgym-meeting")
    place.listen()
except OSError as error:
    print("no place to meet:", error)
os.write(3, b"ready\\n")
sys.stdin.read()
try:
    place.settimeout(0)
    place.accept()
    print("somebody came")
except (OSError, NameError):
    print("nobody came")
"""
VISIT = """
import socket
try:
    socket.socket(socket.AF_UNIX).connect("\\0workgym-meeting")
    print("met")
except OSError as error:
    print("alone")
"""


def test_32_network(ring: Ring, control: Control, host: Host) -> None:
    control(32).assert_free("tcp", "udp", "an abstract socket", "a raw socket", "a packet socket", "interfaces")
    host.callers()

    outcome = ring.attack(32, env=host.facts)

    assert outcome.status == "ok"
    assert host.callers() == set()
    outcome.assert_held()


def test_32_a_socket_of_a_sibling(ring: Ring) -> None:
    with ring.pool.lease() as one, ring.pool.lease() as other:
        process = one.start(PythonCode(MEETING), channel=True)
        assert process.receive(LONG_S) == b"ready"
        visitor = other.exec(PythonCode(VISIT), timeout_s=LONG_S)
        place = process.wait(LONG_S)

    assert visitor.stdout == b"alone\n"
    assert place.stdout.endswith(b"nobody came\n")


def test_33_clocks(ring: Ring, control: Control) -> None:
    free = control(33, bound=6)
    free.assert_free("the clock", "the old clock")
    assert free.cpu_s >= SPEC.cpu_s

    outcome = ring.attack(33)

    assert outcome.status == "timeout_cpu"
    assert SPEC.cpu_s <= outcome.result.cpu_s < SPEC.cpu_s + 0.5
    outcome.assert_held()


def test_33_sleep_is_no_work(ring: Ring) -> None:
    source = "import time; time.time = time.monotonic = lambda: 0.0; time.sleep(0.6)"
    with ring.pool.lease() as box:
        result = box.exec(PythonCode(source), timeout_s=LONG_S)

    assert result.status == "ok"
    assert result.cpu_s < SPEC.cpu_s
    assert result.wall_s >= 0.6
