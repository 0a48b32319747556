"""The reader reads STL and PLY, refuses the rest in words, and outlives whatever it is given."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import made_meshes as made
import numpy as np
import pytest
from plates import plate, ply, stl

from workgym.envs.modeling import mesh_file
from workgym.envs.modeling.mesh_file import MAGIC, Unreadable, parse
from workgym.envs.modeling.reader import CANARY, MAX_FILE_BYTES, READER_SANDBOX, RawMesh, read_mesh
from workgym.envs.modeling.sound import is_sound
from workgym.envs.modeling.surface import Flaw
from workgym.envs.sandbox.pool import open_pool
from workgym.envs.sandbox.protocol import SandboxPool
from workgym.envs.sandbox.spec import PythonCode
from workgym.tasks.errors import VerifierError

CUBE = made.box()


def ascii_stl(mesh: made.Arrays) -> bytes:
    lines = ["solid a part"]
    for corners in mesh[0][mesh[1]]:
        lines += ["facet normal 0 0 0", " outer loop", *(f"  vertex {x!r} {y!r} {z!r}" for x, y, z in corners.tolist())]
        lines += [" endloop", "endfacet"]
    return "\n".join([*lines, "endsolid a part", ""]).encode()


def ascii_ply(mesh: made.Arrays) -> bytes:
    head = ply(mesh).split(b"end_header\n")[0].replace(b"binary_little_endian", b"ascii")
    rows = [" ".join(map(repr, row)) for row in mesh[0].tolist()]
    rows += ["3 " + " ".join(map(str, row)) for row in mesh[1].tolist()]
    return head + b"end_header\n" + "\n".join(rows).encode() + b"\n"


def big_endian_ply(mesh: made.Arrays) -> bytes:
    head = ply(mesh).split(b"end_header\n")[0].replace(b"little", b"big")
    rows = np.zeros(len(mesh[1]), dtype=[("n", "u1"), ("corners", ">i4", 3)])
    rows["n"], rows["corners"] = 3, mesh[1]
    return head + b"end_header\n" + mesh[0].astype(">f8").tobytes() + rows.tobytes()


FORMATS: dict[str, tuple[str, Callable[[made.Arrays], bytes]]] = {
    "binary STL": (".stl", stl),
    "ASCII STL": (".stl", ascii_stl),
    "PLY, little end first": (".ply", ply),
    "PLY, big end first": (".ply", big_endian_ply),
    "ASCII PLY": (".ply", ascii_ply),
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_read_as_it_was_written(name: str) -> None:
    suffix, write = FORMATS[name]
    vertices, faces = parse(suffix, write(CUBE))
    assert np.array_equal(vertices[faces], CUBE[0][CUBE[1]])


def zipped() -> bytes:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("out.stl", CANARY)
    return packed.getvalue()


REFUSED = {
    "nothing": (".stl", b""),
    "a count too large": (".stl", CANARY[:80] + struct.pack("<I", 13) + CANARY[84:]),
    "a count of four billion": (".stl", CANARY[:80] + b"\xff" * 4 + CANARY[84:]),
    "a byte too many": (".stl", CANARY + b"\0"),
    "a renamed archive": (".stl", zipped()),
    "a word for a number": (".stl", ascii_stl(CUBE).replace(b"10.0", b"ten", 1)),
    "a number as Python has it": (".stl", ascii_stl(CUBE).replace(b"10.0", b"1_0", 1)),
    "an ASCII facet cut short": (".stl", ascii_stl(CUBE).replace(b"vertex", b"", 1)),
    "a facet in another order": (".stl", ascii_stl(CUBE).replace(b"outer loop", b"loop outer", 1)),
    "no header": (".ply", b"ply\n"),
    "a face of four": (".ply", ascii_ply(CUBE).replace(b"\n3 0 2 1", b"\n4 0 2 1", 1)),
    "another element": (".ply", ply(CUBE).replace(b"element face", b"element edge")),
    "a list of lists": (".ply", ply(CUBE).replace(b"property double x", b"property list uchar int x")),
    "PLY cut short": (".ply", ply(CUBE)[:-1]),
    "PLY of a billion": (".ply", ply(CUBE).replace(b"element vertex 8", b"element vertex 888888888")),
    "no z": (".ply", ply(CUBE).replace(b"double z", b"double w")),
    "an index too large for any integer": (".ply", ascii_ply(CUBE).replace(b"\n3 0 2 1", b"\n3 0 2 " + b"9" * 400, 1)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_such_file_is_refused_in_words(name: str) -> None:
    with pytest.raises(Unreadable, match=r"\w+ \w+"):
        parse(*REFUSED[name])


def test_more_triangles_than_are_read_are_refused() -> None:
    n = mesh_file.MOST_TRIANGLES + 1
    with pytest.raises(Unreadable, match="at most"):
        parse(".stl", bytes(80) + struct.pack("<I", n) + bytes(50 * n))


def test_a_child_reads_what_the_parser_reads(reader_pool: SandboxPool) -> None:
    for name, data in (("out.stl", stl(plate())), ("out.PLY", ply(CUBE))):
        read = read_mesh(reader_pool, name, data)
        assert isinstance(read, RawMesh)
        vertices, faces = parse(name[-4:].lower(), data)
        assert np.array_equal(read.vertices, vertices)
        assert np.array_equal(read.faces, faces)


def test_other_formats_and_files_that_are_too_large_start_no_child(reader_pool: SandboxPool) -> None:
    for name, data in (("out.obj", b""), ("out.3mf", zipped()), ("out.glb", b""), ("out", b"")):
        assert read_mesh(reader_pool, name, data) == Flaw("format", f".stl, .ply are read, not {name[3:]!r}")
    read = read_mesh(reader_pool, "out.stl", bytes(MAX_FILE_BYTES + 1))
    assert isinstance(read, Flaw)
    assert read.label == "too_large"


def test_the_largest_mesh_fits_through_the_channel(reader_pool: SandboxPool) -> None:
    n = mesh_file.MOST_TRIANGLES
    read = read_mesh(reader_pool, "out.stl", bytes(80) + struct.pack("<I", n) + bytes(50 * n))
    assert isinstance(read, RawMesh)
    assert read.faces.shape == (n, 3)
    assert is_sound(read.vertices, read.faces).flaw is not None


def test_a_file_that_ends_the_reader_twice_is_to_blame() -> None:
    source = READER_SANDBOX.warm_modules[0][1].replace(
        "def _stl(data: bytes) -> _Mesh:\n", 'def _stl(data: bytes) -> _Mesh:\n    if b"KILL" in data: os.abort()\n'
    )
    spec = type(READER_SANDBOX)(**{**vars(READER_SANDBOX), "warm_modules": (("workgym_mesh_file", source),)})
    with open_pool("local", spec) as pool:
        read = read_mesh(pool, "out.stl", b"KILL")
        assert isinstance(read, Flaw)
        assert read.label == "reader"
        assert isinstance(read_mesh(pool, "out.stl", CANARY), RawMesh)


def test_a_reader_that_reads_no_cube_judges_nobody() -> None:
    source = "import os\ndef main(suffix):\n    os.abort()\n"
    spec = type(READER_SANDBOX)(**{**vars(READER_SANDBOX), "warm_modules": (("workgym_mesh_file", source),)})
    with open_pool("local", spec) as pool, pytest.raises(VerifierError, match="does not read a cube"):
        read_mesh(pool, "out.stl", CANARY)


@pytest.mark.parametrize(
    "said", [b"", b"wgmesh1\n", MAGIC + b"\0" + b"\xff" * 16, b"x" * 25, MAGIC + b"\7" + bytes(16)]
)
def test_what_a_captured_child_says_is_a_message_or_nothing(said: bytes) -> None:
    source = f"import os\ndef main(suffix):\n    os.write(int(os.environ['WORKGYM_CHANNEL']), {said!r})\n"
    spec = type(READER_SANDBOX)(**{**vars(READER_SANDBOX), "warm_modules": (("workgym_mesh_file", source),)})
    with open_pool("local", spec) as pool, pytest.raises(VerifierError):
        read_mesh(pool, "out.stl", CANARY)


def mutated(rng: np.random.Generator) -> tuple[str, bytes]:
    """A file with some of its bytes changed, cut out or doubled."""
    name, write = list(FORMATS.values())[rng.integers(len(FORMATS))]
    data = bytearray(write(CUBE))
    for _ in range(rng.integers(1, 12)):
        at, length = int(rng.integers(len(data))), int(rng.integers(1, 9))
        kind = rng.integers(4)
        if kind == 0:
            data[at : at + length] = rng.bytes(length)
        elif kind == 1:
            del data[at : at + length]
        elif kind == 2:
            data[at:at] = data[at : at + 50]
        else:
            data[at : at + 4] = rng.choice([b"\xff\xff\xff\xff", b"\0\0\xc0\x7f", b"1e99", b"nan "])
    return name, bytes(data)


def assert_mutations_are_survived(pool: SandboxPool, seeds: range) -> None:
    for seed in seeds:
        suffix, data = mutated(np.random.default_rng(seed))
        read = read_mesh(pool, f"out{suffix}", data)
        if isinstance(read, RawMesh):
            is_sound(read.vertices, read.faces)
        else:
            assert read.detail
    assert isinstance(read_mesh(pool, "out.stl", CANARY), RawMesh)


def test_mutated_files_are_survived(reader_pool: SandboxPool) -> None:
    assert_mutations_are_survived(reader_pool, range(25))


@pytest.mark.slow
def test_200_mutated_files_are_survived(reader_pool: SandboxPool) -> None:
    assert_mutations_are_survived(reader_pool, range(25, 225))


def test_no_library_but_numpy_and_nothing_of_workgym_is_in_the_reader(reader_pool: SandboxPool) -> None:
    look = "import sys, os; os.write(3, ' '.join(sys.modules).encode())"
    with reader_pool.lease() as box:
        names = set(box.exec(PythonCode(look), timeout_s=60, channel=True).channel.decode().split())
    assert {"numpy", "workgym_mesh_file"} <= names
    assert not [
        one for one in names if one.startswith(("workgym.tasks", "workgym.envs.modeling", "trimesh", "manifold"))
    ]


def test_every_real_stl_is_read(test_data: Callable[[str], Path], reader_pool: SandboxPool) -> None:
    for path in sorted(test_data("trimesh-models").glob("*.[sS][tT][lL]")):
        assert isinstance(read_mesh(reader_pool, path.name, path.read_bytes()), RawMesh), path.name
