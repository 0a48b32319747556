"""The scorer holds the truth, and blames nobody without a trial."""

from __future__ import annotations

import os
import signal

import made_meshes as made
import numpy as np
import plates
import pytest

from workgym.envs.modeling import scorer as scorer_module
from workgym.envs.modeling.mesh_file import parse
from workgym.envs.modeling.reader import CANARY, RawMesh
from workgym.envs.modeling.scorer import Scorer
from workgym.tasks.errors import SandboxError, VerifierError

CUBE = RawMesh(*parse(".stl", CANARY))


def faulty(monkeypatch: pytest.MonkeyPatch, body: str) -> Scorer:
    """A scorer whose process does `body` with each request's vertices before it answers."""
    program = f"""
import os, signal, sys
import numpy as np
from workgym.envs.modeling import scorer_process as real
answer = real._Scorer.answer
def answered(self, head, blobs):
    vertices = np.frombuffer(blobs[0], "<f8")
    real._allow(1)
    {body}
    return answer(self, head, blobs)
real._Scorer.answer = answered
real.main(sys.stdin.buffer, sys.stdout.buffer)
"""
    monkeypatch.setattr(scorer_module, "_COMMAND", ("-c", program))
    return Scorer()


def test_a_measure_says_what_may_be_said(scorer: Scorer) -> None:
    said = scorer.measure(CUBE)
    assert said["flaw"] is None
    assert (said["solids"], said["voids"], said["genus"], said["volume_mm3"]) == (1, 0, 0, 1.0)
    assert said["center_of_mass"] == pytest.approx([0.5, 0.5, 0.5])


@pytest.mark.parametrize(
    "body",
    [
        "os.kill(os.getpid(), signal.SIGSEGV) if vertices.max() > 5 else None",
        "\n    if vertices.max() > 5: raise ValueError('a bug')",
        "\n    while vertices.max() > 5: pass",
    ],
    ids=["crash", "exception", "endless loop"],
)
def test_a_mesh_that_ends_the_scorer_twice_is_to_blame(monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    scorer = faulty(monkeypatch, body)
    try:
        said = scorer.measure(RawMesh(*made.box()))
        assert said["flaw"]["label"] == "scorer"
        assert scorer.measure(CUBE)["flaw"] is None
    finally:
        scorer.close()


def test_a_scorer_that_measures_no_cube_judges_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    scorer = faulty(monkeypatch, "os.kill(os.getpid(), signal.SIGSEGV)")
    try:
        with pytest.raises(VerifierError, match="does not measure a cube"):
            scorer.measure(RawMesh(*made.box()))
    finally:
        scorer.close()


def test_a_scorer_that_does_not_start_is_a_fault_of_the_machinery(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scorer_module, "_COMMAND", ("-c", "raise SystemExit(3)"))
    scorer = Scorer()
    with pytest.raises(SandboxError, match="does not start"):
        scorer.measure(CUBE)


def test_a_killed_scorer_is_started_again(scorer: Scorer) -> None:
    task = plates.plate_task()
    mesh = RawMesh(*plates.plate(hole=5.0))
    first = scorer.judge(mesh, task.hidden)
    assert scorer.pid is not None
    os.kill(scorer.pid, signal.SIGKILL)
    assert scorer.judge(mesh, task.hidden) == first


def test_the_scorer_ends_when_it_is_closed_and_starts_at_the_next_question() -> None:
    scorer = Scorer()
    assert scorer.pid is None
    scorer.measure(CUBE)
    pid = scorer.pid
    assert pid is not None
    scorer.close()
    scorer.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_odd_arrays_are_measured_as_nothing(scorer: Scorer) -> None:
    for vertices, faces in (
        (np.full((3, 3), np.nan), [[0, 1, 2]]),
        (np.full((3, 3), 1e308), [[0, 1, 2]]),
        (np.zeros((0, 3)), [[0, 1, 2]]),
        (np.zeros((4, 3)), [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]]),
    ):
        assert scorer.measure(RawMesh(vertices, np.array(faces)))["flaw"] is not None
