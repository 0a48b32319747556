"""Progress of long work: a bar on a terminal, a line now and then where nobody watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

__all__ = ["Bars"]

_LINES: Final = 5  # of one piece of work, where there is no terminal


class Bars:
    """Progress bars of consecutive pieces of work, and lines between them.

    Args:
        console: where they go; stderr if None.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._console: Final = console or Console(stderr=True, highlight=False, soft_wrap=True)
        columns = (
            TextColumn("{task.description:<18}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
        )
        self._progress: Final = Progress(*columns, console=self._console, disable=not self._console.is_terminal)

    @contextmanager
    def bar(self, what: str, total: int, done: int = 0) -> Iterator[Callable[[str], None]]:
        """Show a piece of work.

        Args:
            what: names it.
            total: its steps.
            done: steps that were done before.

        Yields:
            A function to call after each step, with a note to show beside the bar.
        """
        task = self._progress.add_task(what, total=total, completed=done, note="")
        n_done = done

        def advance(note: str) -> None:
            nonlocal n_done
            n_done += 1
            self._progress.update(task, completed=n_done, note=note)
            if not self._console.is_terminal and n_done * _LINES // total > (n_done - 1) * _LINES // total:
                self._console.print(f"{what} {n_done}/{total} {note}".rstrip())

        yield advance

    def say(self, text: str) -> None:
        """Print a line above the bars."""
        self._console.print(text, markup=False)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()
        sys.stderr.flush()
