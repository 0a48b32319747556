"""The scorer, as the environment's process speaks to it: it starts, is asked, and is blamed only after a trial.

The scorer is no sandbox: it is a process of its own because geometry kernels crash, and what crashes must not be the
environment. Where it dies over a mesh it is started again and asked again; where it dies twice, and then measures a
cube, the mesh is to blame and is worth nothing. Else nobody is judged.
"""

from __future__ import annotations

import atexit
import os
import selectors
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import IO, Any, Final, cast

import numpy as np

from workgym.envs.modeling.mesh_file import parse
from workgym.envs.modeling.reader import CANARY, RawMesh
from workgym.envs.modeling.wire import Closed, receive, send
from workgym.tasks.errors import SandboxError, VerifierError

__all__ = ["Scorer", "close_shared_scorer", "shared_scorer"]

_TIMEOUT_S: Final = 600.0  # of wall time; the CPU limits of the process decide long before
_START_S: Final = 120.0
_END_S: Final = 5.0
_COMMAND: tuple[str, ...] = ("-m", "workgym.envs.modeling.scorer_process")


class _Died(Exception):
    """The process ended, or said what is no answer."""


class Scorer:
    """A process that holds truths and compares meshes with them. Starts with the first question; safe in threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The process's number; None before its first question and after its end."""
        return None if self._process is None else self._process.pid

    def measure(self, mesh: RawMesh, seed: int = 0) -> dict[str, Any]:
        """What may be said of a mesh to whoever made it.

        Raises:
            SandboxError: infrastructure failed.
            VerifierError: the scorer does not work.
        """
        return self._ask_fairly({"kind": "measure", "seed": seed}, mesh, b"")

    def judge(self, mesh: RawMesh, hidden: Mapping[str, Any], given: bytes = b"", seed: int = 0) -> dict[str, Any]:
        """Compare a mesh with the truth of a task.

        Args:
            mesh: as it was read.
            hidden: `Task.hidden`.
            given: the mesh that the task hands out (binary STL), b"" if there is none.
            seed: draws the lines along which the gate looks.

        Raises:
            SandboxError: infrastructure failed.
            VerifierError: the scorer does not work, or the task cannot be judged.
        """
        answer = self._ask_fairly({"kind": "judge", "seed": seed, "hidden": dict(hidden)}, mesh, given)
        if "task_error" in answer:
            raise VerifierError(f"the task cannot be judged: {answer['task_error']}")
        return answer

    def close(self) -> None:
        """End the process. Idempotent; a later question starts another."""
        with self._lock:
            self._end()

    def _ask_fairly(self, head: dict[str, Any], mesh: RawMesh, given: bytes) -> dict[str, Any]:
        with self._lock:
            ends = []
            for _ in range(2):
                try:
                    return self._ask(head, mesh, given)
                except _Died as died:
                    ends.append(str(died))
            try:
                canary = self._ask({"kind": "measure", "seed": 0}, RawMesh(*parse(".stl", CANARY)), b"")
            except _Died as died:
                raise VerifierError(f"the scorer does not measure a cube: {died}. Before it: {ends}") from died
            if canary["flaw"] is not None or canary["volume_mm3"] != 1.0:
                raise VerifierError(f"the scorer measures a cube wrongly: {canary}")
            detail = "judging it ended the judge twice"
            return {"flaw": {"label": "scorer", "detail": detail}, "solids": 0, "voids": 0, "ends": ends}

    def _ask(self, head: dict[str, Any], mesh: RawMesh, given: bytes) -> dict[str, Any]:
        """One question, one answer.

        Raises:
            _Died: there is no answer.
            SandboxError: the process does not start, or is too late.
        """
        process = self._living()
        vertices = np.ascontiguousarray(mesh.vertices, dtype="<f8").tobytes()
        faces = np.ascontiguousarray(mesh.faces, dtype="<i8").tobytes()
        try:
            send(cast("IO[bytes]", process.stdin), head, [vertices, faces, given])  # type: ignore[arg-type]
            answer = self._receive(process, _TIMEOUT_S)
        except (OSError, Closed, ValueError) as error:
            self._end()
            raise _Died(f"it ended with {process.returncode}") from error
        except BaseException:
            self._end()
            raise
        if "fault" in answer:
            self._end()
            raise _Died(answer["fault"])
        return answer

    def _receive(self, process: subprocess.Popen[bytes], timeout_s: float) -> dict[str, Any]:
        stream = cast("IO[bytes]", process.stdout)
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            if not selector.select(timeout_s):
                raise SandboxError(f"the scorer did not answer within {timeout_s:g} s; is the machine overloaded?")
        return receive(stream)[0]  # type: ignore[arg-type]

    def _living(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self._end()
        if self._process is None:
            single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
            self._process = subprocess.Popen(
                [sys.executable, *_COMMAND],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, **single},
            )
            try:
                self._receive(self._process, _START_S)
            except Closed as closed:
                self._end()
                raise SandboxError("the scorer does not start; pip install 'workgym[modeling]'") from closed
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for stream in (process.stdin, process.stdout):
            try:
                cast("IO[bytes]", stream).close()
            except OSError:
                continue
        process.wait(_END_S)


_shared: dict[int, Scorer] = {}  # by process: after a fork the child starts its own
_shared_lock = threading.Lock()


def shared_scorer() -> Scorer:
    """The scorer of this process."""
    with _shared_lock:
        return _shared.setdefault(os.getpid(), Scorer())


def close_shared_scorer() -> None:
    """End the scorer of this process, if it has started. Idempotent."""
    with _shared_lock:
        scorer = _shared.pop(os.getpid(), None)
    if scorer is not None:
        scorer.close()


atexit.register(close_shared_scorer)
