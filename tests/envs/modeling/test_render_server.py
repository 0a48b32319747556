"""The process that draws: one for life, ended with its owner, replaced where it dies, and never a shared one."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from drawn_parts import FRAME, a_server, block

from workgym.envs.modeling.render.pipe import Pipe
from workgym.envs.modeling.render.protocol import BACKENDS
from workgym.envs.modeling.render.server import RenderServer, close_shared_servers, render_sheet, render_view
from workgym.tasks.errors import SandboxError

pytestmark = pytest.mark.xdist_group("alone")

PRELUDE = """
import os, signal, sys, threading
import numpy as np
from workgym.envs.modeling.render.server import RenderServer
from workgym.tasks.modeling.solid import Solid
part = Solid(np.array([[0, 0, 0], [9, 0, 0], [0, 9, 0], [0, 0, 9]], float),
             np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]], np.int32))
box = ([0, 0, 0], [10, 10, 10])
server = RenderServer("raycast")
def children():
    return {int(pid) for task in os.listdir("/proc/self/task")
            for pid in open(f"/proc/self/task/{task}/children").read().split()}
"""


@pytest.fixture
def raycast() -> Iterator[RenderServer]:
    with a_server("raycast") as server:
        yield server


def _children() -> set[int]:
    listed = [path.read_text() for path in Path("/proc/self/task").glob("*/children")]
    return {int(pid) for pids in listed for pid in pids.split()}


def _run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PRELUDE + code, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def _ends(pid: int, within_s: float = 20.0) -> bool:
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    ended = bool(poll.poll(within_s * 1000))
    os.close(handle)
    return ended


@pytest.mark.parametrize("backend", BACKENDS)
def test_one_process_draws_everything_and_is_gone_after_close(backend):
    before, files = _children(), set(os.listdir("/proc/self/fd"))
    with a_server(backend) as server:
        server.sheet(block(), FRAME)
        server.view(block(), FRAME, "iso")
        server.sheet(block((0, 0, 0), (1, 2, 3)), FRAME)
        assert len(_children() - before) == 1
    assert _children() == before
    assert set(os.listdir("/proc/self/fd")) == files


def test_threads_that_draw_at_once_each_get_their_own_picture(raycast):
    parts = [block((0, 0, 0), (n, n, n)) for n in range(2, 10)]
    wanted = [raycast.sheet(part, FRAME) for part in parts]
    seen: dict[int, list[np.ndarray]] = {n: [] for n in range(len(parts))}

    def look(n: int) -> None:
        seen[n] += [raycast.sheet(parts[n], FRAME) for _ in range(2)]

    threads = [threading.Thread(target=look, args=(n,)) for n in range(len(parts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert all(len(seen[n]) == 2 and all(np.array_equal(one, wanted[n]) for one in seen[n]) for n in seen)


def test_a_server_outlives_the_thread_that_started_it(raycast):
    raycast.close()
    before = _children()
    thread = threading.Thread(target=lambda: raycast.sheet(block(), FRAME))
    thread.start()
    thread.join()
    started = _children() - before

    raycast.sheet(block(), FRAME)

    assert _children() - before == started


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_server_that_was_killed_starts_again_and_draws_the_same(backend):
    before = _children()
    with a_server(backend) as server:
        wanted, by = server.sheet(block(), FRAME), server.drawn_by
        (victim,) = _children() - before
        os.kill(victim, signal.SIGKILL)

        assert np.array_equal(server.sheet(block(), FRAME), wanted)
        assert server.drawn_by == by
        assert _children() - before != {victim}


FATAL = "import os, signal; open(os.environ['STARTS'], 'a').write('x'); os.kill(os.getpid(), signal.SIGKILL)"
BROKEN = "raise OSError('no such driver')"


@pytest.fixture
def shadow(tmp_path, monkeypatch):
    """`shadow(package, code)`: in processes that start from now on, that is what the package does when it is loaded."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("STARTS", str(tmp_path / "starts"))

    def put(package: str, code: str) -> Path:
        (tmp_path / f"{package}.py").write_text(code)
        return tmp_path / "starts"

    return put


def test_a_renderer_that_dies_starts_once_more_and_then_rays_are_cast(shadow):
    starts = shadow("pyrender", FATAL)
    with a_server(None) as server:
        assert server.drawn_by[0] == "raycast"
        assert starts.read_text() == "xx"


def test_a_renderer_that_does_not_work_is_left_at_once(shadow, raycast):
    shadow("pyrender", BROKEN)
    with a_server(None) as server:
        assert np.array_equal(server.sheet(block(), FRAME), raycast.sheet(block(), FRAME))


@pytest.mark.parametrize(("code", "words"), [(BROKEN, "no such driver"), (FATAL, "ended with -9")])
@pytest.mark.parametrize("backend", [None, "raycast"])
def test_where_nothing_draws_the_error_says_why_and_the_way_out(shadow, code, words, backend):
    shadow("pyrender", BROKEN)
    shadow("embreex", code)
    server = RenderServer(backend)

    with pytest.raises(
        SandboxError, match=rf"^render: no renderer is left: .*{words}.*pip install 'workgym\[modeling\]'"
    ):
        server.sheet(block(), FRAME)

    server.close()


def test_a_renderer_that_was_asked_for_by_name_has_no_substitute(shadow):
    shadow("pyrender", BROKEN)
    server = RenderServer("pyrender")

    with pytest.raises(SandboxError, match="pyrender does not work here .*apt-get install libegl1"):
        server.sheet(block(), FRAME)

    server.close()


def test_a_server_that_found_nothing_looks_again_the_next_time(shadow):
    starts = shadow("embreex", BROKEN)
    server = RenderServer("raycast")
    with pytest.raises(SandboxError):
        server.sheet(block(), FRAME)

    (starts.parent / "embreex.py").unlink()

    assert server.sheet(block(), FRAME).any()
    server.close()


def test_a_server_ends_when_its_owner_is_killed():
    ended = _run("server.sheet(part, box); print(*children(), flush=True); os.kill(os.getpid(), signal.SIGKILL)")

    assert ended.returncode == -signal.SIGKILL
    assert _ends(int(ended.stdout))


def test_a_server_ends_with_its_owner_though_another_process_has_its_pipes():
    code = """
import ctypes
server.sheet(part, box)
print(*children(), flush=True)
if ctypes.PyDLL(None).fork() == 0:  # of which Python does not know
    sys.stdin.read(1)
    os._exit(0)
os.kill(os.getpid(), signal.SIGKILL)
"""
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", PRELUDE + code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        assert _ends(int(owner.stdout.readline()))


def test_a_server_ends_when_its_owner_does():
    ended = _run("server.sheet(part, box); print(*children())")

    assert (ended.returncode, ended.stderr) == (0, "")
    assert _ends(int(ended.stdout))


def test_a_forked_process_draws_with_a_server_of_its_own():
    code = """
wanted, theirs = server.sheet(part, box), children()
pid = os.fork()
if pid == 0:
    same = np.array_equal(server.sheet(part, box), wanted) and len(children()) == 1 and not children() & theirs
    server.close()
    os._exit(0 if same and not children() else 1)
assert os.waitpid(pid, 0)[1] == 0
assert np.array_equal(server.sheet(part, box), wanted) and children() == theirs
server.close()
assert not children()
"""
    ended = _run(code)

    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_process_that_is_forked_while_another_thread_draws_does_not_wait_for_it():
    code = """
wanted = server.sheet(part, box)
server._lock.acquire()  # as a thread holds it that draws; the fork copies it, held
go = threading.Event()
def fork():
    pid = os.fork()
    if pid == 0:
        os._exit(0 if np.array_equal(server.sheet(part, box), wanted) else 1)
    results.append(os.waitpid(pid, 0)[1])
results = []
thread = threading.Thread(target=fork)
thread.start()
thread.join()
assert results == [0], results
server._lock.release()
"""
    ended = _run(code)

    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize("backend", BACKENDS)
def test_nothing_is_left_in_the_home_folder(backend, tmp_path, monkeypatch):
    for name in ("HOME", "XDG_CACHE_HOME", "TMPDIR"):
        monkeypatch.setenv(name, str(tmp_path))
    with a_server(backend) as server:
        server.sheet(block(), FRAME)

    assert list(tmp_path.iterdir()) == []


def test_whoever_asks_for_pictures_loads_no_renderer():
    code = """
server.sheet(part, box)
print(sorted({"pyrender", "OpenGL", "trimesh", "embreex", "manifold3d", "PIL", "scipy"} & set(sys.modules)))
print("PYOPENGL_PLATFORM" in os.environ)
"""
    assert _run(code).stdout == "[]\nFalse\n"


def test_the_functions_share_one_server():
    before = _children()
    sheet = render_sheet(block(), FRAME, "raycast")
    view = render_view(block(), FRAME, "iso", "section", "raycast")

    assert sheet.shape == view.shape
    assert len(_children() - before) == 1
    close_shared_servers()
    assert _children() == before


def test_a_server_that_hangs_is_a_fault_of_the_machinery_and_is_replaced():
    before = _children()
    server = RenderServer("raycast", timeout_s=0.5)
    wanted = server.sheet(block(), FRAME)
    (hanging,) = _children() - before
    os.kill(hanging, signal.SIGSTOP)

    with pytest.raises(SandboxError, match="^render: .* did not answer in time; is the machine overloaded"):
        server.sheet(block(), FRAME)

    assert hanging not in _children()
    server.close()
    with a_server("raycast") as other:
        assert np.array_equal(other.sheet(block(), FRAME), wanted)


def test_a_pipe_gives_up_in_time():
    reads, theirs = os.pipe()
    theirs_too, writes = os.pipe()
    pipe = Pipe(reads, writes)
    pipe.allow(0.05)
    with pytest.raises(TimeoutError, match="did not answer in time"):
        pipe.read(1)
    with pytest.raises(TimeoutError, match="did not answer in time"):
        pipe.write(bytes(2**24))
    for descriptor in (reads, theirs, theirs_too, writes):
        os.close(descriptor)
