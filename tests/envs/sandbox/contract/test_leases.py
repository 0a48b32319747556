"""One sandbox beside another and after another: what they see of each other, and what the host shows them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from workgym.envs.sandbox.backends import UNSAFE
from workgym.envs.sandbox.protocol import Process, Sandbox, SandboxPool
from workgym.envs.sandbox.spec import PythonCode, SandboxSpec
from workgym.tasks.errors import SandboxError

LONG_S = 30.0


def run(box: Sandbox, source: str) -> bytes:
    result = box.exec(PythonCode(source), timeout_s=LONG_S, channel=True)
    assert result.status == "ok", result
    return result.channel


def started(box: Sandbox, source: str) -> tuple[Process, bytes]:
    process = box.start(PythonCode(source + "\nimport sys; sys.stdin.read()"), channel=True)
    said = process.receive(LONG_S)
    assert said is not None
    return process, said


# What one sandbox does and says, and how another finds it by what was said. Each yields b"found" or b"nothing".
FILES = (
    "import os; open('secret', 'w').write('x'); os.write(3, os.getcwd().encode() + b'\\n')",
    "import os; os.write(3, b'found' if os.path.exists({said!r} + '/secret') else b'nothing')",
)
PROCESSES = (
    """
import os, time
for _ in range(5):
    if os.fork() == 0:
        time.sleep(600)
os.write(3, os.readlink('/proc/self/ns/pid').encode() + b'\\n')
""",
    "import os; os.write(3, b'found' if os.readlink('/proc/self/ns/pid') == {said!r} else b'nothing')",
)
SHARED_MEMORY = (
    """
import ctypes, os
ctypes.CDLL(None).shmget(0x77671, 4096, 0o1666)
os.write(3, b'made\\n')
""",
    """
import ctypes, os
libc = ctypes.CDLL(None)
number = libc.shmget(0x77671, 4096, 0)
if number >= 0:
    libc.shmctl(number, 0, None)
os.write(3, b'found' if number >= 0 else b'nothing')
""",
)
ABSTRACT_SOCKETS = (
    """
import os, socket
try:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind('\\0workgym-contract')
    listener.listen()
except OSError:
    pass
os.write(3, b'made\\n')
""",
    """
import os, socket
try:
    socket.socket(socket.AF_UNIX).connect('\\0workgym-contract')
    os.write(3, b'found')
except OSError:
    os.write(3, b'nothing')
""",
)
LOOPBACK = (
    """
import os, socket
listener = socket.create_server(('127.0.0.1', 0))
os.write(3, b'%d\\n' % listener.getsockname()[1])
""",
    """
import os, socket
try:
    socket.create_connection(('127.0.0.1', int({said!r})), timeout=5)
    os.write(3, b'found')
except OSError:
    os.write(3, b'nothing')
""",
)


@pytest.mark.parametrize(
    ("sides", "capability"),
    [
        pytest.param(FILES, "files", id="files"),
        pytest.param(PROCESSES, "process_tree", id="processes"),
        pytest.param(SHARED_MEMORY, "process_tree", id="shared memory"),
        pytest.param(ABSTRACT_SOCKETS, "network", id="abstract sockets"),
    ],
)
def test_two_sandboxes_see_nothing_of_each_other(
    backend_pool: SandboxPool, sides: tuple[str, str], capability: str
) -> None:
    does, looks = sides
    with backend_pool.lease() as one, backend_pool.lease() as other:
        process, said = started(one, does)
        found = run(other, looks.format(said=said.decode()))
        assert process.wait(LONG_S).status == "ok"
    # A backend that does not hold it shows that the look was a real one.
    assert found == (b"nothing" if getattr(backend_pool.capabilities, capability) else b"found")


def test_a_loopback_is_each_sandboxs_own(open_backend: Callable[[SandboxSpec], SandboxPool]) -> None:
    pool = open_backend(SandboxSpec(memory_mb=64, network="loopback"))
    with pool.lease() as one, pool.lease() as other:
        process, said = started(one, LOOPBACK[0])
        found = run(other, LOOPBACK[1].format(said=said.decode()))
        assert process.wait(LONG_S).status == "ok"
    assert found == (b"nothing" if pool.capabilities.network else b"found")


LITTER = """
import os, tempfile
places = ['.', tempfile.gettempdir()]
if {everywhere}:
    places += ['/tmp', '/dev/shm', '/var/tmp', '/run', '/home', '/', os.path.expanduser('~')]
for place in places:
    try:
        open(place + '/workgym-litter', 'w').close()
    except OSError:
        pass
found = [place for place in places if os.path.exists(place + '/workgym-litter')]
"""


def test_the_next_lease_finds_nothing_of_the_last_one(backend_pool: SandboxPool) -> None:
    source = LITTER.format(everywhere=backend_pool.capabilities.files)
    looks = (
        source.replace("open(place + '/workgym-litter', 'w').close()", "pass") + "\nos.write(3, repr(found).encode())"
    )
    with backend_pool.lease() as box:
        assert b"'.'" in run(box, source + "\nos.write(3, repr(found).encode())")
        box.start(PythonCode("import time; time.sleep(600)"), env={"LEFT": "behind"})
    with backend_pool.lease() as box:
        assert run(box, looks) == b"[]"
        assert run(box, "import os; os.write(3, repr(os.environ.get('LEFT')).encode())") == b"None"
        assert (dict(box.diff().written), box.diff().removed) == ({}, ())


def test_what_one_lease_used_up_the_next_one_has(backend_pool: SandboxPool) -> None:
    source = "import os\ntry: open('big', 'wb').write(bytes(4 << 20))\nexcept OSError: pass\nos.write(3, b'done')"
    for _ in range(2):
        with backend_pool.lease() as box:
            assert run(box, source) == b"done"
            assert box.exec(PythonCode("x = b'x' * (32 << 20)"), timeout_s=LONG_S).status == "ok"


@pytest.fixture
def shown(tmp_path: Path) -> Path:
    """A folder of the host with a file in it."""
    folder = tmp_path / "shown"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "file").write_text("of the host")
    for path in (folder, folder / "deep"):
        path.chmod(0o777)
    return folder


TRY_TO_CHANGE = """
import os
changed = []
for attempt in (
    lambda: open('/data/deep/file', 'w'),
    lambda: open('/data/new', 'w'),
    lambda: os.unlink('/data/deep/file'),
    lambda: os.chmod('/data/deep/file', 0o777),
    lambda: os.rename('/data/deep', '/data/other'),
    lambda: os.mkdir('/data/folder'),
):
    try:
        attempt()
        changed.append(attempt)
    except OSError:
        pass
os.write(3, b'%d %s' % (len(changed), open('/data/deep/file', 'rb').read()))
"""


def test_a_lease_shows_a_folder_of_the_host_that_cannot_be_changed(
    backend: str, backend_pool: SandboxPool, shown: Path
) -> None:
    if backend == UNSAFE:
        with pytest.raises(SandboxError, match="read-only"), backend_pool.lease(read_only={"/data": str(shown)}):
            pass
        return
    with backend_pool.lease(read_only={"/data": str(shown)}) as box:
        assert run(box, TRY_TO_CHANGE) == b"0 of the host"
        assert box.exec(("cat", "/data/deep/file"), timeout_s=LONG_S).stdout == b"of the host"
        (fork,) = box.fork(1)
        assert run(fork, TRY_TO_CHANGE) == b"0 of the host"
    assert [path.name for path in sorted(shown.rglob("*"))] == ["deep", "file"]
    assert (shown / "deep" / "file").read_text() == "of the host"


def test_a_folder_is_shown_to_the_lease_that_asked_alone(backend: str, backend_pool: SandboxPool, shown: Path) -> None:
    if backend == UNSAFE:
        pytest.skip(f"{backend} shows no folders, by design")
    with backend_pool.lease(read_only={"/data": str(shown)}) as one, backend_pool.lease() as other:
        looks = "import os; os.write(3, repr(os.path.exists('/data/deep/file')).encode())"
        assert (run(one, looks), run(other, looks)) == (b"True", b"False")


@pytest.mark.parametrize("inside", ["data", "/workspace", "/proc", "/a/../b", "/", "/dev/x"])
def test_a_folder_cannot_be_shown_just_anywhere(backend_pool: SandboxPool, shown: Path, inside: str) -> None:
    with pytest.raises(ValueError, match="shown"), backend_pool.lease(read_only={inside: str(shown)}):
        pass


def test_a_folder_that_is_not_there_cannot_be_shown(backend_pool: SandboxPool, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="folder"), backend_pool.lease(read_only={"/data": str(tmp_path / "none")}):
        pass


CLOCK = "import os, time\nwhile True:\n    os.write(3, b'tick\\n')\n    time.sleep(0.01)"
SILENCE_S = 0.15


def is_silent(process: Process) -> bool:
    """Whether it says nothing anymore, once what was on its way has come."""
    for _ in range(200):
        if process.receive(SILENCE_S) is None:
            return process.receive(SILENCE_S) is None
    return False


def test_frozen_programs_stand_still_and_go_on_when_thawed(roomy: Sandbox, needs: Callable[..., None]) -> None:
    needs("freeze")
    clocks = [roomy.start(PythonCode(CLOCK), channel=True) for _ in range(2)]
    assert all(clock.receive(LONG_S) for clock in clocks)
    roomy.freeze()
    assert all(is_silent(clock) for clock in clocks)
    roomy.thaw()
    assert all(clock.receive(LONG_S) for clock in clocks)
    assert roomy.kill_all() >= 2


def test_a_frozen_program_can_be_killed(roomy: Sandbox, needs: Callable[..., None]) -> None:
    needs("freeze")
    clock = roomy.start(PythonCode(CLOCK), channel=True)
    assert clock.receive(LONG_S)
    roomy.freeze()
    assert clock.wait(0.1).status == "timeout_wall"
    roomy.thaw()


def test_freezing_where_nothing_runs_does_nothing(box: Sandbox, needs: Callable[..., None]) -> None:
    needs("freeze")
    box.freeze()
    box.thaw()
    box.thaw()


def test_a_lease_may_end_frozen(backend_pool: SandboxPool, needs: Callable[..., None]) -> None:
    needs("freeze")
    with backend_pool.lease() as box:
        box.start(PythonCode("import time; time.sleep(600)"))
        box.freeze()


def test_a_heartbeat_answers(box: Sandbox) -> None:
    health = box.heartbeat(LONG_S)
    assert health.alive
    assert 0 < health.latency_s < LONG_S


def test_a_heartbeat_answers_beside_a_running_program(box: Sandbox) -> None:
    process = box.start(PythonCode("import sys; sys.stdin.read()"))
    assert box.heartbeat(LONG_S).alive
    assert process.wait(LONG_S).status == "ok"
