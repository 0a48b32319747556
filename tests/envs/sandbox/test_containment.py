"""What a program must not reach, beside what attacks/ tries. What can be is also tried by a free process."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from workgym.envs.sandbox.local.pool import LocalPool
from workgym.envs.sandbox.protocol import Sandbox
from workgym.envs.sandbox.spec import PythonCode, SandboxSpec

LONG_S = 30.0


def outcome(box: Sandbox, source: str) -> str:
    """What a program printed in the sandbox."""
    result = box.exec(PythonCode(source), timeout_s=LONG_S)
    assert result.status == "ok", result.stderr.decode()
    return result.stdout.decode().strip()


def free(source: str) -> str:
    """What it printed in a plain process."""
    return subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True).stdout.strip()


def attempt(statement: str) -> str:
    """A program that prints whether a statement succeeds."""
    lines = "\n    ".join(statement.splitlines())
    return f"import os, socket\ntry:\n    {lines}\n    print('done')\nexcept OSError as error:\n    print(error.errno)"


@pytest.mark.parametrize("path", ["/etc/shadow", "/root/.ssh", "/var/run/docker.sock", "/sys"])
def test_places_where_secrets_lie_do_not_exist(box: Sandbox, path: str) -> None:
    assert outcome(box, f"import os; print(os.path.exists({path!r}))") == "False"


@pytest.mark.parametrize("folder", ["/home", "/root", "/var", "/run", "/opt", "/srv", "/mnt"])
def test_of_other_folders_nothing_is_there_but_the_way_to_the_interpreter(box: Sandbox, folder: str) -> None:
    shown = {Path(path).resolve() for path in (sys.base_prefix, sys.base_exec_prefix, sys.prefix, *sys.path) if path}
    way = {path.relative_to(folder).parts[0] for path in shown if path.is_relative_to(folder) and str(path) != folder}
    code = f"import os; print(*(os.listdir({folder!r}) if os.path.isdir({folder!r}) else []))"
    assert set(outcome(box, code).split()) <= way


def test_the_source_of_this_suite_is_not_there(box: Sandbox) -> None:
    import workgym

    assert workgym.__file__ is not None
    source = f"import os; print(os.path.exists({workgym.__file__!r}))"
    assert free(source) == "True"
    assert outcome(box, source) == "False"


def test_a_package_is_there_and_an_installed_workgym_is_not(
    open_local: Callable[[SandboxSpec], LocalPool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site-packages"
    for package in ("workgym", "friendly"):
        (site / package).mkdir(parents=True)
        (site / package / "answers.py").write_text("ANSWER = 42")
    monkeypatch.syspath_prepend(site)
    with open_local(SandboxSpec()).lease() as box:
        assert outcome(box, "import friendly.answers; print(friendly.answers.ANSWER)") == "42"
        assert outcome(box, f"import os; print(os.listdir({str(site / 'workgym')!r}))") == "[]"


@pytest.mark.parametrize("path", ["/new", "/usr/new", "/etc/passwd", sys.base_prefix + "/new", "/dev/new"])
def test_nothing_outside_the_workspace_can_be_written(box: Sandbox, path: str) -> None:
    assert outcome(box, attempt(f"open({path!r}, 'a')")) in ("13", "30")


def test_the_hosts_open_descriptors_are_not_there(box: Sandbox) -> None:
    held, other = os.pipe()
    os.set_inheritable(held, True)
    source = (
        "import os; print(sorted(int(n) for n in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{n}')))"
    )
    seen = outcome(box, source)
    os.close(held)
    os.close(other)
    assert seen == "[0, 1, 2]"


@pytest.fixture
def listener() -> Iterator[int]:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(16)
        yield server.getsockname()[1]


def test_a_program_with_loopback_reaches_itself_and_not_the_host(
    open_local: Callable[[SandboxSpec], LocalPool], listener: int
) -> None:
    serve = "server = socket.create_server(('127.0.0.1', 0))\nsocket.create_connection(server.getsockname()).close()"
    with open_local(SandboxSpec(network="loopback")).lease() as box:
        assert outcome(box, attempt(serve)) == "done"
        assert outcome(box, attempt(f"socket.create_connection(('127.0.0.1', {listener}), timeout=5)")) == "111"
        assert outcome(box, attempt("socket.create_connection(('192.0.2.1', 80), timeout=5)")) == "101"
        assert outcome(box, attempt("socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)")) == "1"


@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK", "AF_PACKET", "AF_VSOCK"])
@pytest.mark.parametrize("kind", ["SOCK_STREAM", "SOCK_DGRAM", "SOCK_RAW"])
def test_no_socket_can_be_made(box: Sandbox, family: str, kind: str) -> None:
    assert outcome(box, attempt(f"socket.socket(socket.{family}, socket.{kind})")) == "1"


def test_a_pair_of_sockets_can_be_made(box: Sandbox) -> None:
    assert outcome(box, "import asyncio\nasync def f(): return 'done'\nprint(asyncio.run(f()))") == "done"


def test_only_the_programs_own_processes_are_visible(box: Sandbox) -> None:
    source = "import os; print(sorted(n for n in os.listdir('/proc') if n.isdigit()))"
    assert outcome(box, source) == "['1']"


def test_killing_everyone_kills_nobody_else(pool: LocalPool) -> None:
    with pool.lease() as one, pool.lease() as other:
        bystander = one.start(PythonCode("import sys; sys.stdin.read(); print('alive')"))
        outcome(other, attempt("os.kill(-1, 9)"))
        assert bystander.wait(LONG_S).stdout == b"alive\n"


def test_two_runs_do_not_see_each_others_files_and_processes(pool: LocalPool) -> None:
    hold = "import os, sys; open('mine', 'w').close(); os.write(3, b'ready\\n'); sys.stdin.read()"
    with pool.lease() as one, pool.lease() as other:
        process = one.start(PythonCode(hold), channel=True)
        assert process.receive(LONG_S) == b"ready"
        seen = outcome(other, "import os; print(os.path.exists('mine'), sum(n.isdigit() for n in os.listdir('/proc')))")
        process.wait(LONG_S)
    assert seen == "False 1"


CALLS = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def call(function, *arguments):
    ctypes.set_errno(0)
    return 0 if getattr(libc, function)(*arguments) >= 0 else ctypes.get_errno()
"""


@pytest.mark.parametrize(
    "call",
    [
        "call('syscall', 438, 0, 0, 0)",  # pidfd_getfd
        "call('personality', 0)",
        "call('shmget', 0, 4096, 0o1600)",
    ],
)
def test_a_system_call_that_could_open_a_wall_is_refused(box: Sandbox, call: str) -> None:
    assert outcome(box, f"{CALLS}\nprint({call})") == "1"
