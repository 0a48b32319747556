"""Isolation that is lost in mid-run stops the run, instead of running on with what is left or without."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.xdist_group("alone")

RUN = """
import os, platform, signal
import gymnasium as gym, workgym
from workgym.envs.sandbox import seccomp
from workgym.envs.sandbox.local import kernel
from workgym.envs.sandbox.pools import acquire_pools
from workgym.tasks.errors import IsolationUnavailable

env = gym.make("Coding-v0", level=1)
env.reset(seed=0)
env.step("run x")
print("ran", flush=True)

# From here on the kernel makes no namespaces for this process, and what was warm dies.
kernel.no_new_privileges()
seccomp._DENIED.pop("memfd_create")
kernel.install_filter(seccomp.wide_filter(platform.machine(), sockets=True))
pools = env.unwrapped._pools
for pool in (pools.agent, pools.grader):
    if pool.zygote_pid:
        os.kill(pool.zygote_pid, signal.SIGKILL)
try:
    for seed in range(3):
        env.reset(seed=seed)
        *_, truncated, info = env.step("run x")
        print("went on", truncated, info["reward_valid"], flush=True)
except IsolationUnavailable as error:
    print("stopped:", error)
"""


def test_a_run_stops_where_its_isolation_is_taken_away(require_backend):
    require_backend("local")
    done = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, timeout=120)

    assert done.returncode == 0, done.stderr
    first, *_, last = done.stdout.splitlines()
    assert first == "ran"
    assert "went on False" not in done.stdout  # nothing is judged in between
    assert last.startswith("stopped: sandbox backend 'local' cannot isolate")
