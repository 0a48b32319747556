"""The owner dies: 44."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from plain_user import PlainUser
from ring import LONG_S, Ring, inhabitants

OWNER = """
import sys
from workgym.envs.sandbox.pool import open_pool
from workgym.envs.sandbox.spec import PythonCode, SandboxSpec
RUN = '''
import os, signal, time
if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
home = os.readlink("/proc/self/ns/pid")
os.write(3, home.encode() + b"\\\\n")
while True:
    try:
        os.write(1, b"x")
    except OSError:
        pass
    time.sleep(0.01)
'''
pool = open_pool(sys.argv[1], SandboxSpec(cpu_s=60))
with pool.lease() as box:
    process = box.start(PythonCode(RUN), channel=True)
    homes = {process.receive(30) for _ in range(2)}
    print(homes.pop().decode(), flush=True)
    process.wait(600)
"""
FREE = """
import os, subprocess, sys
child = subprocess.Popen(["sleep", "60"], stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
child.wait()
"""


@pytest.fixture
def owner(ring: Ring, plain_user: Callable[[], PlainUser]) -> Iterator[subprocess.Popen[bytes]]:
    """A process with a pool in which a program runs."""
    arguments = ["-c", OWNER, ring.backend.partition("-")[0]]
    if ring.backend == "local-unprivileged" and os.geteuid() == 0:
        process = plain_user().start(arguments)
    else:
        process = subprocess.Popen([sys.executable, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with process:
        yield process
        process.kill()


def test_44_the_owner_is_killed(ring: Ring, owner: subprocess.Popen[bytes]) -> None:
    assert a_free_child_outlives_its_parent()
    assert owner.stdout is not None
    home = owner.stdout.readline().decode().strip()
    assert len(inhabitants(home)) >= 2

    owner.kill()
    owner.wait()

    ring.assert_gone(home)


def a_free_child_outlives_its_parent() -> bool:
    """What becomes of a plain subprocess when its parent is killed."""
    with subprocess.Popen([sys.executable, "-c", FREE], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = os.pidfd_open(int(parent.stdout.readline()))
        parent.kill()
    poll = select.poll()
    poll.register(child, select.POLLIN)
    lives = not poll.poll(100)
    signal.pidfd_send_signal(child, signal.SIGKILL)
    assert poll.poll(LONG_S * 1000)
    os.close(child)
    return lives
