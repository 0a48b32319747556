"""Measures an attempt from the bytes of one file: read by a child that knows nothing, judged by a process apart."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final

from workgym.envs.modeling.comparison import Comparison
from workgym.envs.modeling.reader import RawMesh, read_mesh
from workgym.envs.modeling.scorer import Scorer, shared_scorer
from workgym.envs.modeling.surface import Flaw
from workgym.envs.sandbox.protocol import Pools
from workgym.envs.verify import Attempt
from workgym.tasks.errors import SandboxError, VerifierError
from workgym.tasks.task import Task

__all__ = ["ARTIFACTS", "INPUT", "PartFindings", "examine_part"]

ARTIFACTS: Final = ("out.stl", "out.ply")
"""The names under which a part is handed in; exactly one of them."""

INPUT: Final = "input.stl"
"""The name of the mesh that a task hands out, if it does."""


class PartFindings:
    """What is to be known of an attempt; each finding is computed when a verifier first asks for it.

    Args:
        attempt: holds the artifact.
        task: what was asked.
        pools: `grader` was opened with `READER_SANDBOX`.
        scorer: the process that holds the truth.
    """

    def __init__(self, attempt: Attempt, task: Task, pools: Pools, scorer: Scorer) -> None:
        self._attempt = attempt
        self._task = task
        self._pools = pools
        self._scorer = scorer

    @cached_property
    def read(self) -> RawMesh | Flaw:
        """The artifact as it was read, or why there is none.

        Raises:
            SandboxError: infrastructure failed.
            VerifierError: the reader does not work.
        """
        names = [name for name in ARTIFACTS if name in self._attempt.files]
        if len(names) != 1:
            return Flaw("missing", f"one of {', '.join(ARTIFACTS)} is judged; there are {len(names)}")
        return read_mesh(self._pools.grader, names[0], self._attempt.files[names[0]])

    @cached_property
    def _judged(self) -> dict[str, Any]:
        if isinstance(self.read, Flaw):
            return {"flaw": {"label": self.read.label, "detail": self.read.detail}}
        hidden = self._task.hidden
        given = self._task.files.get(INPUT, b"")
        return self._scorer.judge(self.read, hidden, given, seed=int(hidden["views_seed"]))

    @property
    def flaw(self) -> Flaw | None:
        """Why it is no part, or not of as many solids and voids as were asked for; None where it is.

        Raises:
            SandboxError: infrastructure failed.
            VerifierError: the reader or the scorer does not work, or the task cannot be judged.
        """
        flaw = self._judged["flaw"]
        return None if flaw is None else Flaw(flaw["label"], flaw["detail"])

    @property
    def comparison(self) -> Comparison:
        """How it compares with the wanted part.

        Raises:
            VerifierError: it is no part; the gate has to be asked first.
        """
        if "comparison" not in self._judged:
            raise VerifierError(f"what is no part was to be compared: {self._judged['flaw']}; is there a gate before?")
        return Comparison(**self._judged["comparison"])


def examine_part(attempt: Attempt, task: Task, pools: Pools | None) -> PartFindings:
    """Prepare the findings of a modeling attempt; nothing runs before a verifier asks.

    Raises:
        SandboxError: there are no pools to read it in.
    """
    if pools is None:
        raise SandboxError("the modeling domain reads artifacts in a sandbox and was given none")
    return PartFindings(attempt, task, pools, shared_scorer())
