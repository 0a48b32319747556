"""What an agent wrote, and tables of it, safely on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from workgym.agents.readable import readable

__all__ = ["print_table", "readable"]


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]], n_left: int = 0) -> None:
    """Print a table whose rows are never broken, however narrow the terminal.

    Args:
        heads: names of the columns.
        rows: cells.
        n_left: columns aligned to the left, from the first; the others are numbers.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for number, head in enumerate(heads):
        table.add_column(head, no_wrap=True, justify="left" if number < n_left else "right")
    for row in rows:
        table.add_row(*(Text(readable(cell).replace("\n", " ")) for cell in row))
    Console(width=Console(width=10_000).measure(table).maximum).print(table)
