"""What scripts and mesh tools may do, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pytest

from workgym.envs.modeling.script import MESH_SANDBOX, make_bodies, run_script
from workgym.envs.sandbox.local.pool import LocalPool
from workgym.envs.sandbox.pool import open_pool
from workgym.envs.sandbox.spec import PythonCode
from workgym.tasks.errors import ActionError

CUBE = "from manifold3d import Manifold\nresult = Manifold.cube((1, 2, 3))\n"


@pytest.fixture(scope="module")
def pool(require_backend: Callable[[str], None]) -> Iterator[LocalPool]:
    require_backend("local")
    opened = open_pool("local", MESH_SANDBOX)
    assert isinstance(opened, LocalPool)
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("code", "names"),
    [
        (CUBE, ["out.ply"]),
        ("import trimesh\nresult = trimesh.creation.box((1, 2, 3))", ["out.ply"]),
        ("import trimesh\ntrimesh.creation.box((1, 2, 3)).export('out.stl')", ["out.stl"]),
        ("import trimesh\nresult = 1\ntrimesh.creation.box((1, 2, 3)).export('out.ply')", ["out.ply"]),
        (CUBE + "import sys; sys.exit(0)", ["out.ply"]),
    ],
    ids=["manifold", "trimesh", "stl", "a file counts before a result", "exit 0"],
)
def test_a_script_leaves_a_part(pool: LocalPool, code: str, names: list[str]) -> None:
    ran = run_script(pool, code, {})
    assert (ran.phase, list(ran.files)) == ("", names), ran.words


@pytest.mark.parametrize(
    ("code", "phase", "words"),
    [
        ("x = (", "parse", "line 1: SyntaxError"),
        ("x = '\0'", "parse", "null bytes"),
        ("x = 1\n1 / 0", "exec", "line 2: ZeroDivisionError"),
        ("import sys; sys.exit('no')", "exec", "SystemExit: 'no'"),
        ("x = 1", "export", "no `result`"),
        ("result = [1]", "export", "`result` is a list"),
        ("from manifold3d import Manifold\nresult = Manifold()", "kernel", "the part is empty"),
        (CUBE + "result = result.translate((float('nan'), 0, 0))", "kernel", "manifold3d says NonFiniteVertex"),
        ("import ctypes; ctypes.string_at(0)", "kernel", "signal 11"),
        ("x = bytearray(2 << 30)", "exec", "memory|MB"),
        ("open('out.stl', 'wb').write(bytes(1 << 27))", "exec", "too large|MB|space"),
        ("class E(Exception):\n    __str__ = None\nraise E", "exec", "line 3: E"),
    ],
)
def test_a_failure_names_its_phase(pool: LocalPool, code: str, phase: str, words: str) -> None:
    ran = run_script(pool, code, {})
    assert ran.phase == phase, ran.words
    assert any(one in ran.words for one in words.split("|")), ran.words
    assert not any(name.startswith("out.") for name in ran.files)


@pytest.mark.slow
@pytest.mark.parametrize("code", ["while True: pass", "import time; time.sleep(1000)"], ids=["computes", "sleeps"])
def test_a_script_without_end_is_ended(pool: LocalPool, code: str) -> None:
    assert run_script(pool, code, {}).phase == "timeout"


def test_files_are_kept_but_the_part_of_an_earlier_script(pool: LocalPool) -> None:
    first = run_script(pool, CUBE + "open('note.txt', 'w').write('kept')", {"input.stl": b"given"})
    assert sorted(first.files) == ["input.stl", "note.txt", "out.ply"]
    second = run_script(pool, "import os; print(os.path.exists('out.ply'), open('note.txt').read())", first.files)
    assert second.printed == "False kept"
    assert sorted(second.files) == ["input.stl", "note.txt"]


def test_a_script_that_fails_leaves_no_part(pool: LocalPool) -> None:
    ran = run_script(pool, "open('out.stl', 'wb').write(b'x' * 84)\n1 / 0", {"out.ply": b"old"})
    assert (ran.phase, dict(ran.files)) == ("exec", {})


def test_links_and_pipes_are_not_kept(pool: LocalPool) -> None:
    code = "import os; os.symlink('/etc/passwd', 'out.stl'); os.mkfifo('p'); open('a', 'w'); os.link('a', 'b')"
    ran = run_script(pool, code, {})
    assert dict(ran.files) == {}
    assert sorted(ran.dropped or {}) == ["a", "b", "out.stl", "p"]


def test_circles_have_64_segments_by_default(pool: LocalPool) -> None:
    code = "from manifold3d import CrossSection\nprint(CrossSection.circle(4).num_vert())\n" + CUBE
    ran = run_script(pool, code, {})
    assert ran.printed == "64"


def test_the_child_finds_its_packages_loaded_and_has_one_thread(pool: LocalPool) -> None:
    code = (
        "import sys; print([one in sys.modules for one in ('numpy', 'manifold3d', 'trimesh')])\n"
        "print(open('/proc/self/status').read().partition('Threads:')[2].split()[0])"
    )
    with pool.lease() as box:
        assert box.exec(PythonCode(code), timeout_s=60).stdout == b"[True, True, True]\n1\n"


def test_nothing_of_the_network_or_the_host_is_there(pool: LocalPool) -> None:
    code = (
        "import socket\ntry:\n    socket.create_connection(('127.0.0.1', 22), 1)\nexcept OSError as e:\n    print('no')"
    )
    assert run_script(pool, code, {}).printed == "no"


def test_what_is_printed_is_cut_and_shows_no_address(pool: LocalPool) -> None:
    assert run_script(pool, "print(object())", {}).printed == "<object object at 0x..>"
    assert len(run_script(pool, "print('x' * 100_000)", {}).printed) == 2000


def test_a_script_that_is_too_long_is_refused(pool: LocalPool) -> None:
    with pytest.raises(ActionError, match="at most 50000 characters"):
        run_script(pool, "x" * 50_001, {})


def test_bodies_are_made_by_calls(pool: LocalPool) -> None:
    calls: list[tuple[str, Mapping[str, object]]] = [
        ("primitive", {"name": "a", "kind": "cylinder", "radius": 4, "height": 9, "axis": "x"}),
        ("extrude", {"name": "b", "outline": [[0, 0], [0, 5], [5, 0]], "height": 2, "axis": "y", "start": 1}),
        ("boolean", {"op": "union", "a": "a", "b": "b"}),
        ("transform", {"name": "a", "turn": [0, 0, 90], "mirror": "z", "move": [1, 2, 3], "copy": "c"}),
        ("delete", {"name": "a"}),
    ]
    assert list(make_bodies(pool, calls, {}).files) == ["out.ply"]
    assert dict(make_bodies(pool, [*calls, ("delete", {"name": "c"})], {}).files) == {}


def test_a_call_that_the_kernel_cannot_carry_out_says_why(pool: LocalPool) -> None:
    crossing = [[0, 0], [4, 4], [4, 0], [0, 4], [-9, 1]]
    ran = make_bodies(pool, [("extrude", {"name": "a", "outline": crossing, "height": 1})], {})
    assert (ran.phase, dict(ran.files)) == ("kernel", {})
    assert "crosses" in ran.words
