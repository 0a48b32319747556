"""Runs an agent's script, or the calls of its mesh tools, in a child of a warm interpreter that is then thrown away.

A workspace is a mapping of paths to bytes. It is written into a fresh sandbox, and what is a plain file there in the
end is read back: links, pipes and devices are not, and nothing that a script started lives on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from workgym.envs.sandbox.protocol import SandboxPool
from workgym.envs.sandbox.spec import ExecResult, PythonCode, SandboxSpec, WorkspaceDiff
from workgym.tasks.errors import ActionError, SandboxError
from workgym.tasks.extras import install_command

__all__ = ["MAX_CODE_CHARS", "MESH_SANDBOX", "OUTPUTS", "Ran", "make_bodies", "run_script"]

OUTPUTS: Final = ("out.stl", "out.ply")
"""The files by which a part is handed in. What an earlier script left of them is gone before the next one starts."""

MAX_CODE_CHARS: Final = 50_000

_GUEST: Final = "workgym_mesh"
_TIMEOUT_S: Final = 60.0  # several times the CPU limit: what is stopped by it sleeps or waits
_MAX_PRINTED_CHARS: Final = 2000
_MAX_FILE_BYTES: Final = 20 * 2**20
_MAX_FILES: Final = 64

MESH_SANDBOX: Final = SandboxSpec(
    warm_modules=((_GUEST, files("workgym.envs.modeling").joinpath("mesh_child.py").read_text(encoding="utf-8")),),
    memory_mb=1024,
    cpu_s=10.0,
    n_processes=64,
    disk_mb=48,
    n_inodes=256,
    output_kb=16,
)
"""What one script may use. The backend's interpreters must find numpy, manifold3d and trimesh."""

_PLACE: Final = re.compile(r"\bat 0x[0-9a-f]+")
_OUR_FOLDER: Final = re.compile(r"(?:/[^\s'\"():]+)*/(?:site-packages|dist-packages|python3\.\d+)/")
_PHASES: Final = ("parse", "exec", "kernel", "export")


@dataclass(frozen=True)
class Ran:
    """What became of a run.

    Attributes:
        files: the workspace afterwards; without any of `OUTPUTS` where the run failed.
        phase: that failed: "parse", "exec", "kernel", "export" or "timeout"; "" where all went well.
        words: why, for the agent.
        printed: what the script printed.
        dropped: path -> why what lies there was not kept.
    """

    files: Mapping[str, bytes]
    phase: str = ""
    words: str = ""
    printed: str = ""
    dropped: Mapping[str, str] | None = None


def run_script(pool: SandboxPool, code: str, workspace: Mapping[str, bytes]) -> Ran:
    """Run an agent's script.

    Args:
        pool: of `MESH_SANDBOX`.
        code: Python that leaves `result`, a manifold3d.Manifold or a trimesh.Trimesh, or writes out.stl or out.ply.
        workspace: the files that it finds.

    Raises:
        ActionError: the code is too long.
        SandboxError: infrastructure failed, or the backend's interpreter lacks a package.
    """
    if len(code) > MAX_CODE_CHARS:
        raise ActionError(f"a script has at most {MAX_CODE_CHARS} characters, not {len(code)}")
    return _run(pool, "run", code.encode("utf-8", "surrogatepass"), workspace)


def make_bodies(
    pool: SandboxPool, calls: Sequence[tuple[str, Mapping[str, Any]]], workspace: Mapping[str, bytes]
) -> Ran:
    """Carry out calls of the mesh tools, from the first one on; out.ply holds the bodies that are left.

    Args:
        pool: of `MESH_SANDBOX`.
        calls: name and arguments of each, checked.
        workspace: the files beside it.

    Raises:
        SandboxError: infrastructure failed, or the backend's interpreter lacks a package.
    """
    return _run(pool, "make", json.dumps(calls).encode(), workspace)


def _run(pool: SandboxPool, what: str, told: bytes, workspace: Mapping[str, bytes]) -> Ran:
    kept = {path: data for path, data in workspace.items() if path not in OUTPUTS}
    program = PythonCode(f"import {_GUEST}\n{_GUEST}.{what}()\n")
    with pool.lease() as box:
        try:
            for path, data in kept.items():
                box.write(path, data)
            result = box.exec(program, stdin=told, timeout_s=_TIMEOUT_S)
        except SandboxError as error:
            _require_packages(pool.spec, error)
            raise
        changed = box.diff()
    phase, words = _end_of(result, pool.spec)
    left, dropped = _after(kept, changed)
    if phase:
        left = {path: data for path, data in left.items() if path not in OUTPUTS}
    return Ran(left, phase, words, _plain(result.stdout)[:_MAX_PRINTED_CHARS].rstrip(), dropped)


def _after(kept: Mapping[str, bytes], changed: WorkspaceDiff) -> tuple[dict[str, bytes], dict[str, str]]:
    """The workspace after a run, and what was not kept of it."""
    left = {path: data for path, data in kept.items() if path not in changed.removed and path not in changed.skipped}
    dropped = dict(changed.skipped)
    for path, data in changed.written.items():
        if len(data) > _MAX_FILE_BYTES:
            dropped[path] = f"{len(data):,} bytes are too many"
            left.pop(path, None)
        elif path not in left and len(left) >= _MAX_FILES:
            dropped[path] = f"there are {_MAX_FILES} files already"
        else:
            left[path] = data
    return left, dropped


def _end_of(result: ExecResult, spec: SandboxSpec) -> tuple[str, str]:
    """The phase that failed and why, in words for the agent; "" twice where all went well."""
    match result.status:
        case "ok" | "output_limit" if result.exit_code == 0:
            return "", ""
        case "nonzero" | "output_limit":
            lines = [line.strip() for line in _plain(result.stderr).splitlines() if line.strip()]
            phase, _, words = (lines[-1] if lines else "").partition(": ")
            return (phase, words[:1000]) if phase in _PHASES else ("exec", f"exit code {result.exit_code}")
        case "timeout_cpu":
            return "timeout", f"it took more than {spec.cpu_s:g} seconds of CPU time"
        case "timeout_wall":
            return "timeout", "it was not done in time; does it wait for something?"
        case "oom":
            return "exec", f"it needed more than {spec.memory_mb} MB of memory"
        case "disk_limit":
            return "exec", f"it wrote more than {spec.disk_mb} MB"
        case "processes_limit":
            return "exec", f"it started more than {spec.n_processes} processes and threads"
        case "signal":
            return "kernel", f"it was ended by signal {result.signal}"
        case _:
            raise SandboxError(f"a script ended as {result.status!r}: something beside it killed it")


def _require_packages(spec: SandboxSpec, error: SandboxError) -> None:
    for name in ("numpy", "manifold3d", "trimesh"):
        if f"No module named '{name}'" in str(error):
            raise SandboxError(
                f"scripts need {name} where they run, and there is none. With sandbox='local' or 'bwrap': "
                f"{install_command('modeling')}. With sandbox='docker' the image {spec.image!r} has none: name one "
                "with python3, numpy, manifold3d and trimesh in SandboxSpec.image, or take sandbox='local'"
            ) from error


def _plain(output: bytes) -> str:
    """Text without what tells of this machine: places in memory, and where packages lie."""
    return _OUR_FOLDER.sub("", _PLACE.sub("at 0x..", output.decode(errors="replace")))
