"""What may be started in a sandbox."""

from __future__ import annotations

import os
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
        if not all(map(_can_be_passed, program)):
            raise ValueError(f"a program's words hold no NUL and no lone surrogate: {program!r}")
    for name, value in env.items():
        if not name or "=" in name or not _can_be_passed(name + value):
            raise ValueError(f"environment variable {name!r} has no valid name or value")


def _can_be_passed(word: str) -> bool:
    """Whether the kernel takes it; bytes that are no UTF-8 are escaped as `os.fsdecode` does."""
    try:
        return b"\0" not in os.fsencode(word)
    except UnicodeEncodeError:
        return False
