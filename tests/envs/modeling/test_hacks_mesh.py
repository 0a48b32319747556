"""Attacks on the judge that need no session: meshes that a naive grader pays for, and files that break a reader."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable

import made_meshes as made
import numpy as np
import pytest
from plates import ReaderPools, attempt, plate, plate_task, stl

from workgym.envs.modeling.examine import PartFindings
from workgym.envs.modeling.layers import LAYERS
from workgym.envs.modeling.reader import CANARY, READER_SANDBOX, RawMesh, read_mesh
from workgym.envs.modeling.scorer import Scorer
from workgym.envs.sandbox.pool import open_pool
from workgym.envs.sandbox.protocol import SandboxPool
from workgym.envs.sandbox.spec import PythonCode
from workgym.envs.verify import Verdict, judge
from workgym.tasks.errors import ActionError

Judge = Callable[[bytes], Verdict]


@pytest.fixture
def judged(reader_pool: SandboxPool, scorer: Scorer) -> Judge:
    def judged(data: bytes) -> Verdict:
        return judge(LAYERS, PartFindings(attempt(data), plate_task(), ReaderPools(reader_pool), scorer))

    return judged


def naive_score(mesh: made.Arrays) -> float:
    """What a grader gives that believes volume, bounding box and `NoError`, as many do."""
    import manifold3d

    wanted, solid = (
        plate(),
        manifold3d.Manifold(manifold3d.Mesh64(np.ascontiguousarray(mesh[0]), mesh[1].astype(np.uint64))),
    )
    if solid.status() != manifold3d.Error.NoError:
        return 0.0
    low, high = mesh[0].min(axis=0), mesh[0].max(axis=0)
    size = float(np.abs(np.stack([low, high]) - [[0, 0, 0], [100, 60, 10]]).max() < 0.5)
    volume = abs(abs(made.volume(mesh)) - made.volume(wanted)) / made.volume(wanted)
    return 0.5 * size + 0.5 * max(0.0, 1 - 10 * volume)


def fake_holes(by: float) -> made.Arrays:
    """A block, and an inner body that is inside out: its volume is taken off as if there were holes."""
    block = plate(hole=0)
    missing = made.volume(block) - made.volume(plate())
    side = missing ** (1 / 3)
    return made.joined(block, made.inverted(made.box((40, 25, by), (40 + side, 25 + side, by + side))))


PAID_BY_THE_NAIVE = {
    "inside out": made.inverted(plate()),
    "an inner solid": made.joined(plate(), made.box((48, 28, 4), (50, 30, 6))),
    "a hidden void": fake_holes(0.4),
    "a void that comes out of the part": fake_holes(-2.0),
    "another copy a little beside it": made.joined(plate(hole=0), made.moved(made.inverted(plate()), (0.001, 0, 0)),
                                                   made.moved(plate(), (0.002, 0, 0))),
    "a second body on top": made.joined(plate(), made.box((50, 30, 10), (52, 32, 10.3))),
}  # fmt: skip

PAID_BY_NOBODY = {
    "an open face": (plate()[0], plate()[1][1:]),
    "a shell of 0.2 mm": made.joined(
        made.box((0, 0, 0), (100, 60, 10)), made.inverted(made.box((0.2, 0.2, 0.2), (99.8, 59.8, 9.8)))
    ),
    "an exact duplicate": made.joined(plate(), plate()),
    "5000 micro tetrahedra": made.scattered(0.01),
    "a tube through itself": made.loop_tube(0.0),
    "a block": made.box((0, 0, 0), (100, 60, 10)),
    "a hull": plate(hole=0),
    "inches": plate(scale=1 / 25.4),
}


@pytest.mark.parametrize("name", PAID_BY_THE_NAIVE)
def test_a_forged_part_that_a_naive_grader_pays_is_worth_nothing(judged: Judge, name: str) -> None:
    assert naive_score(PAID_BY_THE_NAIVE[name]) > 0.4
    assert judged(stl(PAID_BY_THE_NAIVE[name])).reward == 0.0


@pytest.mark.parametrize("name", PAID_BY_NOBODY)
def test_a_forged_part_is_worth_nothing(judged: Judge, name: str) -> None:
    verdict = judged(stl(PAID_BY_NOBODY[name]))
    assert (verdict.reward, verdict.success) == (0.0, False)


FILES = {
    "five million triangles": bytes(80) + struct.pack("<I", 5_000_000) + bytes(1000),
    "not a number": stl(plate())[:96] + struct.pack("<f", float("nan")) + stl(plate())[100:],
    "infinity": stl(plate())[:96] + struct.pack("<f", float("inf")) + stl(plate())[100:],
    "1e9": stl(plate())[:96] + struct.pack("<f", 1e9) + stl(plate())[100:],
    "random triangles": bytes(80) + struct.pack("<I", 5000) + np.random.default_rng(1).bytes(250_000),
    "a pickle": b"cos\nsystem\n(S'touch /tmp/owned'\ntR.",
    "a shell script": b"#!/bin/sh\nexit 0\n",
}


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_file_is_worth_nothing(judged: Judge, name: str) -> None:
    assert judged(FILES[name]).reward == 0.0


def test_triangles_that_all_lie_in_one_place_end_in_a_score_and_not_in_a_hang(judged: Judge) -> None:
    rng = np.random.default_rng(5)
    turns = [made.octahedron((0, 0, 0), 10) for _ in range(600)]
    needles = made.joined(*[((v @ np.linalg.qr(rng.normal(size=(3, 3)))[0]) * [1, 1, 1], f) for v, f in turns])
    assert judged(stl(needles)).reward == 0.0


_LOOK = """
import os
found = []
secret = bytes(int(one, 16) for one in {secret!r}.split())
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps:
        span, rights = line.split()[:2]
        if "r" not in rights or "[v" in line:
            continue
        begin, end = (int(one, 16) for one in span.split("-"))
        try:
            memory.seek(begin)
            data = memory.read(end - begin)
        except (OSError, ValueError, OverflowError):
            continue
        hit = data.count(secret)
        if hit:
            found.append(hit)
for pid in [one for one in os.listdir("/proc") if one.isdigit()]:
    for name in ("cmdline", "environ"):
        try:
            with open(f"/proc/{{pid}}/{{name}}", "rb") as file:
                found += [1] * file.read().count(secret)
        except OSError:
            pass
os.write(3, str(len(found)).encode())
"""


def hex_of(secret: bytes) -> str:
    """Written so that the text of the search does not hold what is searched for."""
    return " ".join(f"{one:02x}" for one in secret)


def seen_by_child(pool: SandboxPool, secret: bytes, planted: bytes = b"") -> int:
    plant = f"kept = bytes(int(one, 16) for one in {hex_of(planted)!r}.split()) * 2\n" if planted else ""
    with pool.lease() as box:
        result = box.exec(PythonCode(plant + _LOOK.format(secret=hex_of(secret))), timeout_s=120, channel=True)
    assert result.status == "ok", result.stderr
    return int(result.channel)


def test_the_reader_holds_no_truth_and_the_search_finds_one_that_is_planted(reader_pool: SandboxPool) -> None:
    secret = b"TRUTH-" + json.dumps(plate_task().hidden["tree"])[:20].encode() + b"-7319"
    clean = seen_by_child(reader_pool, secret)
    planted = seen_by_child(reader_pool, secret, planted=secret)
    assert planted > clean  # `secret` itself lies in the searching child in both


_PATCH = """
import workgym_mesh_file as m
m.parse = lambda suffix, data: (_ for _ in ()).throw(m.Unreadable("owned"))
m.MAGIC = b"owned!!!"
import numpy
numpy.frombuffer = None
import os
os.write(3, b"done")
"""


def test_a_child_that_patches_its_reader_changes_no_other(reader_pool: SandboxPool) -> None:
    with reader_pool.lease() as box:
        assert box.exec(PythonCode(_PATCH), timeout_s=60, channel=True).channel == b"done"
    assert isinstance(read_mesh(reader_pool, "out.stl", CANARY), RawMesh)


def test_a_patched_reader_is_believed_where_it_is_the_reader() -> None:
    """The control: whoever owns the reader owns what it says, and that is why agents never run in it."""
    forged = "import os, struct\ndef main(suffix):\n    os.write(3, struct.pack('<8sBQQ', b'wgmesh1\\n', 0, 0, 0))\n"
    spec = type(READER_SANDBOX)(**{**vars(READER_SANDBOX), "warm_modules": (("workgym_mesh_file", forged),)})
    with open_pool("local", spec) as pool:
        read = read_mesh(pool, "out.stl", CANARY)
    assert isinstance(read, RawMesh)
    assert len(read.faces) == 0


def test_links_are_no_artifacts(reader_pool: SandboxPool) -> None:
    with reader_pool.lease() as box:
        box.exec(PythonCode("import os; os.symlink('/etc/passwd', 'out.stl'); os.mkfifo('out.ply')"), timeout_s=60)
        for name in ("out.stl", "out.ply"):
            with pytest.raises(ActionError):
                box.read(name, 1000)
