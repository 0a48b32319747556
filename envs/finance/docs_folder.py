"""Folders of the host that sandboxes show at /docs.

A sandbox that shows a folder needs an interpreter of its own for it, which must load pandas: a second. So a process has
a few folders that stay, one for each run at a time; what lies in one is changed between two runs, when nobody sees it.
They go with the process: not with a pool, whose end may come in the midst of anything, when garbage is collected.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import secrets
import shutil
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from workgym.envs.finance.document import Document
from workgym.envs.sandbox.ledger import own_ledger
from workgym.tasks.errors import SandboxError

__all__ = ["laid_out"]

_MOST: Final = min(8, os.cpu_count() or 1)
"""Runs at once; one more waits."""


class _Folder:
    """A folder, and the documents that lie in it."""

    def __init__(self) -> None:
        self.path: Final = Path(tempfile.gettempdir(), f"workgym-docs-{secrets.token_hex(8)}")
        self._note: Final = own_ledger().note("folder", path=str(self.path))  # before it is made: we may be killed
        self.path.mkdir()
        self.path.chmod(0o755)
        self._held: tuple[Document, ...] = ()

    def holds(self, documents: Sequence[Document]) -> bool:
        return len(self._held) == len(documents) and all(map(_is, self._held, documents))

    def fill(self, documents: Sequence[Document]) -> None:
        self._held = ()
        for old in self.path.iterdir():
            old.unlink()
        for document in documents:
            file = self.path / f"{document.name}.txt"
            file.write_text(_text_of(document), encoding="utf-8", errors="replace")
            file.chmod(0o644)
        self._held = tuple(documents)

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        own_ledger().done(self._note)


class _Folders:
    """The folders of this process. Safe to use from many threads."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._changed = threading.Condition()
        self._all: list[_Folder] = []
        self._free: list[_Folder] = []

    @contextlib.contextmanager
    def with_these(self, documents: Sequence[Document]) -> Iterator[str]:
        folder = self._take(documents)
        try:
            if not folder.holds(documents):
                folder.fill(documents)
            yield str(folder.path)
        finally:
            with self._changed:
                self._free.append(folder)
                self._changed.notify()

    def _take(self, documents: Sequence[Document]) -> _Folder:
        with self._changed:
            while not self._free:
                if len(self._all) < _MOST:
                    self._all.append(_Folder())
                    return self._all[-1]
                self._changed.wait()
            chosen = next((one for one in self._free if one.holds(documents)), self._free[0])
            self._free.remove(chosen)
            return chosen

    def remove(self) -> None:
        if self._pid == os.getpid():  # in the child of a fork they are its parent's
            for folder in self._all:
                folder.remove()


@contextlib.contextmanager
def laid_out(documents: Sequence[Document]) -> Iterator[str]:
    """A folder with a text file for each document, "d1.txt", for nobody else until the `with` ends.

    Args:
        documents: of the episode.

    Returns:
        Its path.

    Raises:
        SandboxError: it cannot be written.
    """
    with contextlib.ExitStack() as stack:
        try:
            path = stack.enter_context(_folders.with_these(documents))
        except OSError as error:
            raise SandboxError(f"cannot lay out documents for a sandbox: {error}; is the disk full?") from error
        yield path


def _is(one: Document, other: Document) -> bool:
    return one is other


def _text_of(document: Document) -> str:
    """Its lines, page by page; of a table the one line that gives its address."""
    return "".join(
        f"=== page {page.number} ===\n" + "".join(f"{line}\n" for line in page.lines) for page in document.pages
    )


def _begin_anew() -> None:
    global _folders
    _folders = _Folders()


_folders = _Folders()
atexit.register(lambda: _folders.remove())
os.register_at_fork(after_in_child=_begin_anew)
