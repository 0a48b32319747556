"""What may be started in a sandbox."""

from __future__ import annotations

from collections.abc import Mapping

from workgym.envs.sandbox.protocol import Program
from workgym.envs.sandbox.spec import PythonCode

__all__ = ["check_program"]


def check_program(program: Program, env: Mapping[str, str]) -> None:
    """Refuse what no backend can start.

    Raises:
        ValueError: `program` is neither source nor a tuple of words, or `env` holds what is no variable.
    """
    if not isinstance(program, PythonCode):
        if not program or isinstance(program, str) or not all(isinstance(word, str) for word in program):
            raise ValueError(f"a program is PythonCode or a tuple of words, not {program!r}")
        if any("\0" in word for word in program):
            raise ValueError(f"a program's words hold no NUL: {program!r}")
    for name, value in env.items():
        if not name or "=" in name or "\0" in name + value:
            raise ValueError(f"environment variable {name!r} has no valid name or value")
