"""What a program is and finds in a container."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from workgym.envs.sandbox.docker.pool import DockerPool
from workgym.envs.sandbox.docker.sandbox import DockerSandbox
from workgym.envs.sandbox.spec import ExecResult, PythonCode, SandboxSpec

LONG_S = 30.0
Open = Callable[..., DockerPool]


def run(box: DockerSandbox, source: str, **options: Any) -> ExecResult:
    return box.exec(PythonCode(source), timeout_s=LONG_S, **options)


def said(box: DockerSandbox, source: str) -> Any:
    result = run(box, f"import json, os\n{source}")
    assert result.status == "ok", result
    return json.loads(result.stdout)


def test_a_program_has_no_rights_and_is_under_filters(box: DockerSandbox) -> None:
    lines = run(box, "print(open('/proc/self/status').read())").stdout.decode().splitlines()
    status = dict(line.split(":", 1) for line in lines if ":" in line)
    assert all(int(status[name], 16) == 0 for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"))
    assert status["Uid"].split() == status["Gid"].split() == ["65534"] * 4
    assert (status["NoNewPrivs"].strip(), status["Seccomp"].strip(), status["Groups"].strip()) == ("1", "2", "")


def test_an_argv_program_has_no_rights_either(box: DockerSandbox) -> None:
    result = box.exec(("grep", "^Cap", "/proc/self/status"), timeout_s=LONG_S)
    assert {int(line.split()[1], 16) for line in result.stdout.splitlines()} == {0}


def test_a_program_holds_its_streams_and_no_other_descriptor(box: DockerSandbox) -> None:
    source = "print(json.dumps([n for n in range(64) if os.path.exists(f'/proc/self/fd/{n}')]))"
    assert said(box, source) == [0, 1, 2]


def test_beside_the_program_there_are_two_processes_that_it_cannot_touch(box: DockerSandbox) -> None:
    source = """
seen = {}
for pid in sorted(int(n) for n in os.listdir('/proc') if n.isdigit()):
    if pid == os.getpid():
        continue
    def fails(attempt):
        try:
            attempt()
        except OSError as error:
            return type(error).__name__
        return 'works'
    seen[pid] = [
        fails(lambda: os.kill(pid, 9)), fails(lambda: open(f'/proc/{pid}/environ').read()),
        fails(lambda: open(f'/proc/{pid}/mem', 'rb').read()), fails(lambda: os.listdir(f'/proc/{pid}/root')),
        fails(lambda: os.listdir(f'/proc/{pid}/fd')), fails(lambda: open(f'/proc/{pid}/oom_score_adj', 'w').write('9')),
    ]
print(json.dumps(seen))
"""
    seen = said(box, source)
    assert len(seen) == 2
    assert all(set(tries) == {"PermissionError"} for tries in seen.values())


def test_nothing_can_be_written_but_the_workspace(box: DockerSandbox) -> None:
    source = """
import subprocess
open('/tmp/a', 'w').close(); open('/dev/shm/b', 'w').close(); open('/var/tmp/c', 'w').close()
places = []
for root, folders, _ in os.walk('/'):
    folders[:] = [f for f in folders if (root, f) not in {('/', 'proc'), ('/', 'sys'), ('/', 'workspace')}]
    try:
        open(root + '/mark', 'w').close()
        places.append(root)
    except OSError:
        pass
print(json.dumps([sorted(os.listdir('/workspace')), places]))
"""
    assert said(box, source) == [["a", "b", "c"], []]


def test_devices_of_the_host_and_its_sockets_are_not_there(box: DockerSandbox) -> None:
    devices = set(said(box, "print(json.dumps(os.listdir('/dev')))"))
    known = {
        "fd",
        "full",
        "mqueue",
        "null",
        "ptmx",
        "pts",
        "random",
        "shm",
        "stderr",
        "stdin",
        "stdout",
        "tty",
        "urandom",
    }
    assert devices <= known | {"zero", "core"}
    assert said(box, "print(json.dumps(os.path.exists('/var/run/docker.sock')))") is False


def test_a_pseudoterminal_can_be_opened(box: DockerSandbox) -> None:
    assert said(box, "import pty; pty.openpty(); print(json.dumps(os.path.exists('/dev/pts/0')))") is True


def test_without_a_network_no_socket_can_be_made(box: DockerSandbox) -> None:
    assert b"PermissionError" in run(box, "import socket; socket.socket()").stderr
    assert run(box, "import socket; socket.socketpair()").status == "ok"


def test_loopback_is_a_containers_own(open_docker: Open) -> None:
    listen = """
import os, socket
server = socket.create_server(('127.0.0.1', 8765))
os.write(3, b'up\\n')
server.accept()
"""
    connect = "import socket; socket.create_connection(('127.0.0.1', 8765), timeout=2)"
    pool = open_docker(SandboxSpec(network="loopback"))
    with pool.lease() as one, pool.lease() as other:
        server = one.start(PythonCode(listen), channel=True)
        assert server.receive(LONG_S) == b"up"
        assert b"ConnectionRefusedError" in run(other, connect).stderr
        assert run(one, connect).status == "ok"
        assert server.wait(LONG_S).status == "ok"


def test_a_command_that_is_not_there_ends_as_in_a_shell(box: DockerSandbox) -> None:
    result = box.exec(("nonesuch", "x"), timeout_s=LONG_S)
    assert (result.status, result.exit_code) == ("nonzero", 127)
    assert b"nonesuch" in result.stderr


@pytest.mark.parametrize("argv", [(), "text", ("a\0b",), (1,)])
def test_what_is_no_command_is_refused(box: DockerSandbox, argv: Any) -> None:
    with pytest.raises(ValueError, match="program"):
        box.exec(argv, timeout_s=LONG_S)


def test_a_shell_finds_the_usual_tools(box: DockerSandbox) -> None:
    script = "printf 'b\\na\\n' | sort | sed s/a/c/ | tee out; setsid grep -c . out; echo again > /dev/stdout"
    result = box.exec(("bash", "-c", script), timeout_s=LONG_S)
    assert (result.status, result.stdout, result.stderr) == ("ok", b"c\nb\n2\nagain\n", b"")


def test_programs_of_a_lease_run_beside_each_other(box: DockerSandbox) -> None:
    kept = box.start(("bash", "-c", "sleep 300 & read line; kill %1 && echo $line"))
    assert box.exec(("sh", "-c", "sleep 300 & echo gone"), timeout_s=LONG_S).n_killed == 1
    kept.send(b"still here\n")
    assert kept.wait(LONG_S).stdout == b"still here\n"


def test_threads_share_a_sandbox_and_get_their_own_answers(box: DockerSandbox) -> None:
    seen: dict[int, list[bytes]] = {n: [] for n in range(3)}

    def use(n: int) -> None:
        for _ in range(5):
            seen[n].append(run(box, f"import sys; print({n}, len(sys.stdin.read()))", stdin=bytes(n * 100_000)).stdout)

    threads = [threading.Thread(target=use, args=(n,)) for n in seen]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG_S)
    assert seen == {n: [f"{n} {n * 100_000}\n".encode()] * 5 for n in range(3)}


def test_what_a_program_leaves_is_gone_when_it_is_reported(box: DockerSandbox) -> None:
    leave = "import os, time\nfor _ in range(4):\n if os.fork() == 0:\n  os.setsid(); time.sleep(300)\nos._exit(0)"
    result = run(box, leave)
    assert (result.status, result.n_killed) == ("ok", 4)
    assert said(box, "print(json.dumps(sum(n.isdigit() for n in os.listdir('/proc'))))") == 3


def test_a_process_that_is_reborn_all_the_time_is_caught(box: DockerSandbox) -> None:
    source = "import os\nwhile True:\n if os.fork():\n  os._exit(0)"
    watcher = box.start(PythonCode("import sys; sys.stdin.read()"))
    result = run(box, source)
    assert result.status == "ok"
    assert said(box, "print(json.dumps(True))")
    assert watcher.wait(LONG_S).status in ("ok", "killed")
    assert said(box, "print(json.dumps(sum(n.isdigit() for n in os.listdir('/proc'))))") == 3


def test_too_many_processes_are_told_apart_from_a_failure(box: DockerSandbox) -> None:
    source = "import os, time\nwhile True:\n if os.fork() == 0: time.sleep(300)"
    assert run(box, source).status == "processes_limit"


def test_where_programs_hold_all_processes_another_one_is_told_so(box: DockerSandbox) -> None:
    source = """
import os, time
try:
    while True:
        if os.fork() == 0: time.sleep(300)
except OSError:
    os.write(3, b'full\\n')
time.sleep(300)
"""
    full = box.start(PythonCode(source), channel=True)
    assert full.receive(LONG_S) == b"full"
    assert run(box, "pass").status == "processes_limit"
    full.kill()
    assert full.wait(LONG_S).status == "killed"
    assert run(box, "pass").status == "ok"


def test_frozen_programs_stand_still_until_they_are_thawed(box: DockerSandbox) -> None:
    source = "import os, time\nfor n in range(10**6):\n open('n', 'w').write(str(n)); time.sleep(0.002)"
    process = box.start(PythonCode(source))
    deadline = time.monotonic() + LONG_S
    while "n" not in box.diff().written:
        assert time.monotonic() < deadline
    box.freeze()
    before = box.read("n", 100)
    assert [box.read("n", 100) for _ in range(30)] == [before] * 30
    box.thaw()
    while box.read("n", 100) == before:
        assert time.monotonic() < deadline
    process.kill()
    assert process.wait(LONG_S).status == "killed"


def test_a_program_cannot_bring_its_container_down_and_be_excused(open_docker: Open) -> None:
    # Many small processes that take back what the OOM killer was told of them: the largest is then our own.
    grow = "open('/proc/self/oom_score_adj', 'w').write('0')\nx = []\nwhile True: x.append(bytearray(50_000))"
    source = f"""
import subprocess, sys
open('/proc/self/oom_score_adj', 'w').write('0')
run = ['python3', '-IS', '-c', {grow!r}]
children = [subprocess.Popen(run, stderr=subprocess.DEVNULL) for _ in range(14)]
sys.exit(any([child.wait() for child in children]))
"""
    spec = SandboxSpec(memory_mb=64, cpu_s=20, n_processes=16, disk_mb=4)
    with open_docker(spec).lease() as box:
        box.write("mine", b"kept")
        snapshot = box.snapshot()
        box.write("later", b"kept too")
        result = run(box, source)
        assert result.status == "oom"
        assert (box.read("mine", 10), box.read("later", 10)) == (b"kept", b"kept too")
        box.restore(snapshot)
        assert run(box, "print(open('mine').read())").stdout == b"kept\n"


def test_more_is_warm_than_programs_may_use(open_docker: Open) -> None:
    spec = SandboxSpec(memory_mb=32, warm_modules=(("ballast", "DATA = bytes(bytearray(200 << 20))"),))
    with open_docker(spec).lease() as box:
        assert run(box, "import ballast; print(len(ballast.DATA))").stdout == b"209715200\n"
        assert run(box, "x = bytearray(24 << 20)").status == "ok"
        assert run(box, "x = bytearray(200 << 20)").status == "oom"


def test_what_one_program_was_given_is_not_in_the_memory_of_the_next(box: DockerSandbox) -> None:
    secret = "".join(f"{n:02x}" for n in range(40, 60))
    for _ in range(3):
        run(box, f"print('{secret}')", stdin=secret.encode(), env={"KEPT": secret})
    source = """
import re
found = 0
wanted = bytes(f"{n:02x}".encode()[i] for n in range(40, 60) for i in (0, 1))
for line in open('/proc/self/maps'):
    first, last, kind = re.match(r'([0-9a-f]+)-([0-9a-f]+) (\\S+)', line).groups()
    if kind.startswith('rw') and 'vvar' not in line:
        with open('/proc/self/mem', 'rb', buffering=0) as memory:
            memory.seek(int(first, 16))
            try:
                found += memory.read(int(last, 16) - int(first, 16)).count(wanted)
            except OSError:
                pass
print(json.dumps(found))
"""
    control = said(box, f"ours = '{secret}'.encode() + b'!'\n{source}")
    assert control > said(box, source)


def test_cpu_time_counts_for_children_that_nobody_waits_for(box: DockerSandbox) -> None:
    source = """
import os, time
reader, writer = os.pipe()
if os.fork() == 0:
    while time.process_time() < 0.3: pass
    os._exit(0)
os.close(writer)
os.read(reader, 1)
"""
    assert run(box, source).cpu_s >= 0.3


def test_a_deadline_takes_all_descendants(open_docker: Open) -> None:
    bomb = "import os, time\nwhile True:\n try: os.fork()\n except OSError: pass"
    with open_docker(replace(SandboxSpec(), cpu_s=60)).lease() as box:
        assert run(box, "pass").status == "ok"
        began = time.monotonic()
        assert box.exec(PythonCode(bomb), timeout_s=0.5).status == "timeout_wall"
        assert time.monotonic() - began < 5
        assert said(box, "print(json.dumps(sum(n.isdigit() for n in os.listdir('/proc'))))") == 3
