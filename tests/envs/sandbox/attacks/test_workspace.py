"""What a workspace holds when we look into it, or unpack it: 26-28."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from arena import Free
from host import Host
from ring import LONG_S, Ring, program

from workgym.envs.sandbox.spec import PythonCode
from workgym.tasks.errors import ActionError

Control = Callable[..., Free]
ODD = ("link", "upward", "folder/canary", "loop", "two", "fifo", "real/file", "one/file", "absent", "folder")


@pytest.fixture
def box(ring: Ring) -> Iterator[Any]:
    """A lease."""
    with ring.pool.lease() as lent:
        yield lent


def test_26_odd_files(ring: Ring, control: Control, host: Host, box: Any) -> None:
    free = control(26)
    if (free.folder / "hard").exists():  # a temp folder may lie on another file system
        assert (free.folder / "hard").read_text() == host.secret
    for name in ("link", "upward", "folder/canary"):
        assert (free.folder / name).read_text() == host.secret

    outcome = ring.attack(26, env=host.facts, box=box)

    assert outcome.status == "ok"
    outcome.assert_held()
    began = time.monotonic()
    for name in ODD:
        with pytest.raises(ActionError):
            box.read(name, 1 << 20)
    with pytest.raises(ActionError):
        box.read("sparse", 1 << 20)
    for name in ("../canary", host.facts["CANARY"], "a\0b", "real/../../x", ""):
        with pytest.raises(ValueError, match="path"):
            box.read(name, 1 << 20)
    assert not any(host.secret.encode() in data for data in box.diff().written.values())
    assert time.monotonic() - began < 5


def test_27_a_rename_while_it_is_read(ring: Ring, host: Host, box: Any, tmp_path: Path) -> None:
    with _racing_freely(host, tmp_path) as seen:
        assert seen == {"mine", host.secret}

    process = box.start(PythonCode(program(27)), env=host.facts, channel=True)
    assert process.receive(LONG_S) == b"ready"
    seen = set()
    n_reads, deadline = 0, time.monotonic() + LONG_S
    while (
        n_reads < 300 or b"mine" not in seen
    ) and time.monotonic() < deadline:  # it may be stopped where it is a link
        n_reads += 1
        with contextlib.suppress(ActionError):
            seen.add(box.read("data", 100))
    process.kill()

    assert process.wait(LONG_S).status in ("killed", "timeout_cpu")
    assert seen - {b""} == {b"mine"}


@contextlib.contextmanager
def _racing_freely(host: Host, folder: Path) -> Iterator[set[str]]:
    """What one reads who follows a name while the attack runs freely."""
    command = [sys.executable, "-c", program(27)]
    seen: set[str] = set()
    with subprocess.Popen(
        command, cwd=folder, env=host.facts, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as racing:
        assert racing.stdout is not None
        racing.stdout.readline()
        deadline = time.monotonic() + LONG_S
        while len(seen) < 2 and time.monotonic() < deadline:
            seen |= {(folder / "data").read_text()} - {""}
        racing.kill()
        yield seen


def test_28_paths_that_lead_out(ring: Ring, control: Control, host: Host, box: Any, tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    with tarfile.open(control(28).folder / "out.tar") as archive:
        member = archive.extractfile("../planted")
        assert member is not None
        (inside / "../planted").write_bytes(member.read())  # as one unpacks who believes in names
    assert (tmp_path / "planted").read_text() == "evil"

    assert ring.attack(28, env=host.facts, box=box).status == "ok"

    for name in ("out/planted", "root/workgym-planted"):
        with pytest.raises(ActionError):
            box.write(name, b"evil")
    with pytest.raises(ActionError):
        box.read("out/canary", 100)
    archive_bytes = box.read("out.tar", 1 << 20)
    before = box.diff()
    snapshot = box.snapshot()
    ring.attack(5, box=box)
    box.restore(snapshot)
    assert box.read("out.tar", 1 << 20) == archive_bytes
    assert box.diff() == before
    assert not Path("/workgym-planted").exists()
