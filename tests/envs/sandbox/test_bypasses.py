"""Ways around a wall that were found once, and must stay shut."""

from __future__ import annotations

import pytest

from workgym.envs.sandbox.protocol import Sandbox
from workgym.envs.sandbox.spec import PythonCode

BURN_IN_CHILDREN = """
import os, signal, time
try:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
except OSError:
    pass
while True:
    try:
        pid = os.fork()
    except OSError:
        time.sleep(0.01)
        continue
    if pid == 0:
        end = time.process_time() + 0.3
        while time.process_time() < end:
            pass
        os._exit(0)
    time.sleep(0.3)
"""
BURN_IN_CHILDREN_ONE_BY_ONE = """
import os, time
while True:
    if os.fork() == 0:
        end = time.process_time() + 0.1
        while time.process_time() < end:
            pass
        os._exit(0)
    os.wait()
"""


def said(box: Sandbox, source: str) -> str:
    result = box.exec(PythonCode(source), timeout_s=20, channel=True)
    return f"{result.stdout.decode()}{result.stderr.decode()}"


def test_what_was_written_on_the_channel_cannot_be_taken_back(box: Sandbox) -> None:
    source = (
        "import os\nos.write(3, b'begun\\n')\nos.set_blocking(3, False)\n"
        "for read in (lambda: os.read(3, 9), lambda: os.read(os.open('/proc/self/fd/3', os.O_RDONLY), 9)):\n"
        "    try:\n        print('took', read())\n    except OSError as error:\n        print(error.errno)\n"
    )
    result = box.exec(PythonCode(source), timeout_s=20, channel=True)
    assert result.channel == b"begun\n"
    assert b"took" not in result.stdout


@pytest.mark.parametrize("stdin", [b"", b"input"])
def test_a_flood_of_the_channel_is_cut_whether_or_not_there_was_input(box: Sandbox, stdin: bytes) -> None:
    source = f"import os\nfor _ in range(8): os.write(3, b'x' * {box.spec.output_kb << 8})"
    result = box.exec(PythonCode(source), stdin=stdin, timeout_s=20, channel=True)
    assert result.status == "ok"
    assert len(result.channel) == box.spec.output_kb << 10
    assert result.truncated_bytes == box.spec.output_kb << 10


def test_the_cpu_of_children_that_nobody_waits_for_counts(box: Sandbox) -> None:
    result = box.exec(PythonCode(BURN_IN_CHILDREN), timeout_s=60)
    assert result.status == "timeout_cpu"
    assert box.spec.cpu_s <= result.cpu_s < 3 * box.spec.cpu_s + 1


def test_the_cpu_of_children_that_were_waited_for_counts_while_the_program_lives(box: Sandbox) -> None:
    result = box.exec(PythonCode(BURN_IN_CHILDREN_ONE_BY_ONE), timeout_s=60)
    assert result.status == "timeout_cpu"
    assert box.spec.cpu_s <= result.cpu_s < 3 * box.spec.cpu_s + 1


def test_a_program_stays_the_first_to_go_when_memory_is_short(box: Sandbox) -> None:
    assert "Read-only" in said(box, "open('/proc/self/oom_score_adj', 'w').write('0')")


@pytest.mark.parametrize(
    "call",
    [
        "a.bind('\\0meet')",
        "a.connect('\\0meet')",
        "a.listen()",
        "a.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)",
    ],
)
def test_a_socket_gets_no_name_by_which_another_run_could_find_it(box: Sandbox, call: str) -> None:
    source = f"import socket\na, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\nb.send(b'x')\n{call}"
    assert "Operation not permitted" in said(box, source)


def test_nothing_is_left_for_the_next_run_on_an_empty_stdin(box: Sandbox) -> None:
    source = (
        "import fcntl, os\nF_SETSIG, F_GETSIG = 10, 11\n"
        "print(fcntl.fcntl(0, F_GETSIG), fcntl.fcntl(0, fcntl.F_GETFL) & (os.O_NONBLOCK | os.O_APPEND))\n"
        "fcntl.fcntl(0, F_SETSIG, 42)\nfcntl.fcntl(0, fcntl.F_SETFL, os.O_NONBLOCK | os.O_APPEND)"
    )
    assert [said(box, source) for _ in range(2)] == ["0 0\n", "0 0\n"]


@pytest.mark.parametrize("name", ["vmsplice", "splice", "tee"])
def test_no_memory_is_parked_in_pipes(box: Sandbox, name: str) -> None:
    numbers = {
        "x86_64": {"vmsplice": 278, "splice": 275, "tee": 276},
        "aarch64": {"vmsplice": 75, "splice": 76, "tee": 77},
    }
    source = (
        "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        f"number = {numbers!r}[os.uname().machine][{name!r}]\n"
        "print(libc.syscall(number, 0, 0, 0, 0, 0, 0), ctypes.get_errno())"
    )
    assert said(box, source).split() == ["-1", "1"]
