"""Touch files with a program's rights, and stay root for everything else.

Only the user id for files is changed. With another effective one, programs could meanwhile take away process 1's share
of the processor, and with another real one signal it.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator

from workgym.envs.sandbox.docker.inside.birth import NOBODY

__all__ = ["files_as_nobody"]

_c = ctypes.CDLL(None)


@contextlib.contextmanager
def files_as_nobody() -> Iterator[None]:
    """What is opened, made or changed here is so by the programs' user.

    Raises:
        PermissionError: this process may not do that.
    """
    _c.setfsuid(NOBODY)
    try:
        if _c.setfsuid(-1) != NOBODY:  # it changes nothing, and is the only way to ask
            raise PermissionError(1, "cannot take on the programs' user for files")
        yield
    finally:
        _c.setfsuid(0)
