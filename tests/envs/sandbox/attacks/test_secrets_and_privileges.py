"""What is not theirs: other processes, secrets, privileges, the kernel: 23-25, 29-31."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from arena import Free
from host import Host
from ring import LONG_S, Ring, inhabitants

from workgym.envs.sandbox.spec import PythonCode

Control = Callable[..., Free]
HOLD = """
import os, sys
held = os.environ["SECRET"]
os.write(3, os.readlink("/proc/self/ns/pid").encode() + b"\\n")
print(os.path.exists("theirs"), len(sys.stdin.read()))
"""


@pytest.fixture
def sibling(ring: Ring, host: Host) -> Iterator[str]:
    """Another run of the same pool, with a secret; afterwards it must still be well. The value is its pid out here."""
    with ring.pool.lease() as box:
        process = box.start(PythonCode(HOLD), env={"SECRET": host.secret}, channel=True)
        home = (process.receive(LONG_S) or b"").decode()
        yield str(max(inhabitants(home)))
        result = process.wait(LONG_S)
        assert (result.status, result.stdout) == ("ok", b"False 0\n")


def test_23_memory_of_a_sibling(ring: Ring, control: Control, sibling: str) -> None:
    control(23).assert_free("ptrace", "process_vm_readv", "its memory file")

    outcome = ring.attack(23, env={"VICTIM": sibling})

    assert outcome.status == "ok"
    outcome.assert_held()


def test_24_proc_and_sys(ring: Ring, control: Control, host: Host, sibling: str) -> None:
    control(24).assert_free(
        "the root of another process",
        "the environment of another process",
        "the kernel's switches",
    )

    outcome = ring.attack(24, env={**host.facts, "VICTIM": sibling})

    assert outcome.status == "ok"
    outcome.assert_held()


def test_25_secrets(ring: Ring, control: Control, host: Host) -> None:
    control(25).assert_free(
        "a key",
        "a file that everybody may read",
        "a file that everybody may write",
        "the host's root elsewhere",
        "the passwords",
        "a token",
        "a daemon",
    )
    host.callers()

    outcome = ring.attack(25, env=host.facts)

    assert outcome.status == "ok"
    assert host.callers() == set()
    outcome.assert_held()


def test_29_namespaces_and_mounts(ring: Ring, control: Control) -> None:
    free = control(29).free
    assert "a user namespace, by clone" in free
    if os.geteuid() == 0:
        assert {"mount", "chroot", "a mount namespace, by unshare", "setns", "pivot_root", "sethostname"} <= free

    name = socket.gethostname()
    outcome = ring.attack(29)

    assert outcome.status == "ok"
    assert socket.gethostname() == name
    assert " /workspace " not in Path("/proc/self/mountinfo").read_text()
    outcome.assert_held()


def test_30_privileges(ring: Ring, control: Control) -> None:
    free = control(30)
    if os.geteuid() == 0:
        assert {
            "root",
            "capabilities",
            "new privileges",
            "no filter",
            "a device",
            "a set-user-id file",
            "su",
        } <= free.free

    outcome = ring.attack(30)

    assert outcome.status == "ok"
    outcome.assert_held()


def test_31_rare_system_calls(ring: Ring, control: Control) -> None:
    free = control(31).free
    assert {"keyctl", "add_key"} <= free
    if os.geteuid() == 0:
        assert {"bpf", "perf_event_open", "userfaultfd", "open_by_handle_at"} <= free

    outcome = ring.attack(31)

    assert outcome.status == "ok"
    outcome.assert_held()
