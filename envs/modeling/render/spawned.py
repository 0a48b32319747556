"""One process that draws, as its owner holds it: it is there from the start to its end, and never comes back."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import IO, Any, Final, cast

from workgym.envs.modeling.render.pipe import Pipe
from workgym.envs.modeling.render.protocol import Backend
from workgym.envs.modeling.wire import Closed, receive, send

__all__ = ["Died", "Spawned", "Unusable"]

_START_S: Final = 300.0
_END_S: Final = 5.0
_MOST_WORDS: Final = 300
_PROGRAM: Final = "workgym.envs.modeling.render.process"


class Died(Exception):
    """The process has ended, or said what is no answer."""


class Unusable(Exception):
    """The process says that its renderer does not work on this machine."""


class Spawned:
    """Starts the process. Not safe in threads.

    Args:
        backend: what it draws with.

    Raises:
        Unusable: the renderer does not work here.
        Died: the process ended before it said anything.
        TimeoutError: it says nothing.
    """

    def __init__(self, backend: Backend) -> None:
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `end`
        single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", _PROGRAM, backend, str(os.getpid())],
                bufsize=0,  # a buffer that a fork has copied would be written twice
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env={**os.environ, **single},
            )
        except BaseException:
            self._errors.close()
            raise
        self._reads, self._writes = (cast("IO[bytes]", end) for end in (self._process.stdout, self._process.stdin))
        self._pipe = Pipe(self._reads.fileno(), self._writes.fileno())
        said, _ = self._exchange(None, (), _START_S)
        if "unusable" in said:
            self.end()
            raise Unusable(said["unusable"])
        self.version: str = said["version"]

    @property
    def is_alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def ask(self, head: Mapping[str, Any], blobs: Sequence[bytes], timeout_s: float) -> bytes:
        """Have a picture drawn. Whatever is raised, the process has ended then.

        Args:
            head: what picture.
            blobs: of what.
            timeout_s: of wall time.

        Raises:
            Died: there is no picture.
            TimeoutError: it takes too long.
        """
        answer, pictures = self._exchange(head, blobs, timeout_s)
        if len(pictures) != 1:
            self.end()
            raise Died(f"failed: {answer.get('fault', 'it gave no picture')}")
        return pictures[0]

    def end(self) -> None:
        """End the process. Idempotent."""
        self._process.kill()
        self._process.wait(_END_S)
        self._close()

    def forsake(self) -> None:
        """In a forked process: let go of what is the parent's."""
        self._process.returncode = 0  # no child of ours: there is nothing to wait for
        self._close()

    def _exchange(
        self, head: Mapping[str, Any] | None, blobs: Sequence[bytes], seconds: float
    ) -> tuple[dict[str, Any], list[bytes]]:
        """Send a question, if there is one, and receive an answer."""
        try:
            self._pipe.allow(seconds)
            if head is not None:
                send(self._pipe.stream, head, blobs)
            return receive(self._pipe.stream)
        except TimeoutError:
            self.end()
            raise
        except (OSError, Closed, ValueError, KeyError) as error:
            raise Died(self._last_words()) from error
        except BaseException:
            self.end()
            raise

    def _last_words(self) -> str:
        """End the process; how it ended, and the last of what it wrote on its standard error."""
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
        size = os.fstat(self._errors.fileno()).st_size
        words = os.pread(self._errors.fileno(), _MOST_WORDS, max(0, size - _MOST_WORDS))
        self.end()
        told = words.decode(errors="replace").strip()
        return f"ended with {self._process.returncode}" + (f", saying {told!r}" if told else "")

    def _close(self) -> None:
        for stream in (self._reads, self._writes, self._errors):
            stream.close()
