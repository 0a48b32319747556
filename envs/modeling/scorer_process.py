"""The process that holds the truth. It takes arrays, answers with numbers, and reads no file of any agent.

It ends when its input does. A request that takes more CPU time than it may have ends it by a signal.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import traceback
from collections import OrderedDict
from typing import Any, BinaryIO, Final

import numpy as np

from workgym.envs.modeling.mesh import Floats, Ints, box_of
from workgym.envs.modeling.sound import Soundness, is_sound
from workgym.envs.modeling.truth import Truth
from workgym.envs.modeling.wire import Closed, receive, send
from workgym.tasks.task import content_hash

__all__ = ["CPU_S", "MEMORY_MB", "main"]

CPU_S: Final = 30
"""CPU seconds of one request; the largest honest parts take a tenth."""

MEMORY_MB: Final = 4096
_PREPARE_CPU_S: Final = 120
_N_TRUTHS: Final = 16


class _Scorer:
    """Answers requests; keeps the truths of the last tasks."""

    def __init__(self) -> None:
        self._truths: OrderedDict[str, Truth] = OrderedDict()

    def answer(self, head: dict[str, Any], blobs: list[bytes]) -> dict[str, Any]:
        """What is found. An exception that is no WorkgymError is a fault that the parent blames on nobody yet."""
        vertices = np.frombuffer(blobs[0], "<f8").reshape(-1, 3).astype(np.float64)
        faces = np.frombuffer(blobs[1], "<i8").reshape(-1, 3).astype(np.int64)
        if head["kind"] == "measure":
            _allow(CPU_S)
            return _report(is_sound(vertices, faces, seed=head["seed"]))
        _allow(_PREPARE_CPU_S)
        try:
            truth = self._truth(head["hidden"], blobs[2])
        except Exception as error:  # noqa: BLE001 - nothing that was handed in has been looked at yet: it is no fault of it
            return {"task_error": f"{type(error).__name__}: {error}"}
        _allow(CPU_S)
        return _judge(truth, vertices, faces, head["seed"])

    def _truth(self, hidden: dict[str, Any], given: bytes) -> Truth:
        key = content_hash([hidden, given])
        if key not in self._truths:
            self._truths[key] = Truth(hidden, given)
        self._truths.move_to_end(key)
        if len(self._truths) > _N_TRUTHS:
            self._truths.popitem(last=False)
        return self._truths[key]


def _judge(truth: Truth, vertices: Floats, faces: Ints, seed: int) -> dict[str, Any]:
    found = is_sound(vertices, faces, solids=truth.solids, voids=truth.voids, seed=seed)
    answer = _report(found)
    if found.flaw is None and found.mesh is not None:
        one = truth.compare(found.mesh)
        answer["comparison"] = {name: getattr(one, name) for name in one.__slots__}
    return answer


def _report(found: Soundness) -> dict[str, Any]:
    """What may be said of a mesh to whoever made it: nothing of any truth goes into it but the counts asked for."""
    flaw = None if found.flaw is None else {"label": found.flaw.label, "detail": found.flaw.detail}
    report: dict[str, Any] = {"flaw": flaw, "solids": found.n_solids, "voids": found.n_voids}
    if found.mesh is not None:
        low, high = box_of(found.mesh.vertices)
        report |= {
            "triangles": len(found.mesh.faces),
            "low": low.tolist(),
            "high": high.tolist(),
            "volume_mm3": float(found.mesh.volumes.sum()),
            "area_mm2": float(found.mesh.areas.sum()),
        }
    if found.flaw is None and found.mesh is not None:
        report["center_of_mass"] = found.mesh.moments[0].tolist()
        report["genus"] = int(found.mesh.genera[found.mesh.volumes > 0].sum())
    return report


def _allow(cpu_s: float) -> None:
    """From now on so much CPU time; then the kernel ends this process, in whatever code it is."""
    signal.setitimer(signal.ITIMER_PROF, cpu_s)


def _start_single_threaded() -> None:
    """Have the kernel's thread pool start while one core alone is to be seen: sums then have one order."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    import manifold3d
    from embreex.rtcore_scene import EmbreeScene

    EmbreeScene()
    cube = manifold3d.Manifold.cube((1, 1, 1))
    if not (cube + cube.translate((0.5, 0.5, 0.5))).volume() > 1:
        raise SystemExit("manifold3d does not add two cubes")
    os.sched_setaffinity(0, cores)


def main(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer until there are no more requests."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's terminal interrupts the parent
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MB << 20, MEMORY_MB << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _start_single_threaded()
    scorer = _Scorer()
    send(answers, {"ready": True})
    while True:
        try:
            head, blobs = receive(requests)
        except Closed:
            return
        try:
            answer = scorer.answer(head, blobs)
        except Exception:  # noqa: BLE001 - whose fault it is, the parent finds out
            answer = {"fault": traceback.format_exc(limit=4)}
        _allow(0)
        send(answers, answer)


if __name__ == "__main__":
    main(sys.stdin.buffer, sys.stdout.buffer)
