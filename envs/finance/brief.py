"""The same episode for small models: one statement, a short question, and tools that take one short text each.

A row is shown as "a 2021x 1234|2020y 1100": its letter, and for each column the year, a letter and the number. A cell
goes by the three together. The agent reckons, "a2021x-a2020y", and hands in "= a2021x-a2020y": what Python printed
last, resting on these cells. So a small model has to read which rows and columns it needs, and need not copy an amount.
"""

from __future__ import annotations

import re
from string import ascii_lowercase
from typing import Any, Final

from workgym.envs.domain import Observation
from workgym.envs.finance.document import Table, TableCell, TableRow
from workgym.envs.finance.session import FinanceSession
from workgym.envs.finance.show import choose_rows
from workgym.envs.finance.tools import brief_tools
from workgym.envs.sandbox.protocol import SandboxPool
from workgym.envs.tool import End
from workgym.tasks.errors import ActionError
from workgym.tasks.task import Task

__all__ = ["BriefSession", "name_columns"]

_CELL_NAME: Final = re.compile(r"(?<![A-Za-z0-9_.])[a-z][0-9]{4}[a-z](?![A-Za-z0-9_(])")
"""What a cell goes by in an expression."""
_COLUMNS: Final = "xyzwvuts"


class BriefSession(FinanceSession):
    """A session whose texts are as short as they can be. Its rewards are those of any other.

    Args:
        task: what is asked; its statement is the longest table of its first document.
        pool: where the agent's Python runs.
    """

    def __init__(self, task: Task, pool: SandboxPool) -> None:
        super().__init__(task, pool)
        first = next(iter(self.library.documents.values()))
        self._statement: Final[Table] = max(first.tables.values(), key=lambda table: len(table.rows))
        self._letters: dict[int, str] = {}  # number of a row -> letter, in the order in which they were shown
        self._printed = ""
        self._tools = brief_tools(get_rows=self._get_rows, python=self._reckon, submit=self._submit_briefly)

    def observe(self) -> Observation:
        """The short question alone."""
        return Observation(str(self.task.public["question"]))

    def _get_rows(self, label: str) -> str:
        rows = choose_rows(self._statement, label)
        row = next((row for row in rows if any(cell.kind == "amount" for cell in row.cells)), rows[-1])
        if row.number not in self._letters and len(self._letters) == len(ascii_lowercase):
            raise ActionError(f"at most {len(ascii_lowercase)} rows can be shown: answer from those that were")
        letter = self._letters.setdefault(row.number, ascii_lowercase[len(self._letters)])
        self.opened.add(self._statement.address, [row.number])
        return f"{letter} {'|'.join(f'{name} {_number(cell)}' for name, cell in name_columns(row).items())}"

    def _reckon(self, code: str) -> str:
        """Run code in which the names of cells stand for their digits, with their sign."""
        named = [f"{name}={_number(cell)};" for name, cell in self._cells().items() if cell.value is not None]
        self._printed = self.python("".join(named) + code)
        return self._printed

    def _submit_briefly(self, answer: str) -> End:
        value, _, expression = answer.strip().partition(" ")
        if value == "=":
            if not self._printed:
                raise ActionError("= stands for what Python printed last, and it has printed nothing")
            value = self._printed
        names, known = list(dict.fromkeys(_CELL_NAME.findall(expression))), self._cells()
        if strange := [name for name in names if name not in known]:
            raise ActionError(f"no cell {strange[0]} was shown")
        return self.submit(
            value=value,
            expression=_CELL_NAME.sub(lambda match: f"c{names.index(match[0]) + 1}", expression),
            citations=[{"cell": known[name].address, "quote": known[name].text} for name in names],
        )

    def _cells(self) -> dict[str, TableCell]:
        """The cells that were shown, by name."""
        shown = [(self._letters[row.number], row) for row in self._statement.rows if row.number in self._letters]
        return {f"{letter}{name}": cell for letter, row in shown for name, cell in name_columns(row).items()}

    # ------------------------------------------------------------------ its life

    def snapshot(self) -> object:
        """What had been shown, under which letters, and what was printed."""
        kept = {"letters": dict(self._letters), "printed": self._printed}
        return {"task": self.task.id, "opened": self.opened.to_state(), **kept}

    def restore(self, snapshot: Any) -> None:
        """Go back to a snapshot of the same task.

        Raises:
            ValueError: it is of another task.
        """
        super().restore(snapshot)
        self._letters, self._printed = dict(snapshot["letters"]), str(snapshot["printed"])


def name_columns(row: TableRow) -> dict[str, TableCell]:
    """The cells of a row by year and column: "2021x", "2020y"."""
    return {f"{cell.period}{letter}": cell for letter, cell in zip(_COLUMNS, row.cells, strict=False)}


def _number(cell: TableCell) -> str:
    """What a cell says, in digits with their sign; its text where that is no number."""
    return cell.text if cell.value is None else f"{cell.value:f}"
