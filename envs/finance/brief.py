"""The same episode for small models: one statement, a short question, and tools that take one short text each.

A cell is shown as a letter and its number: "2021 a1234|2020 b1100". The agent reckons with the letters, "a-b", and
hands in "= a-b": what Python printed last, resting on these cells. So a small model has to find the rows, the years and
the arithmetic, and need not copy a digit.
"""

from __future__ import annotations

import re
from string import ascii_letters
from typing import Any, Final

from workgym.envs.domain import Observation
from workgym.envs.finance.document import Table, TableCell
from workgym.envs.finance.session import FinanceSession
from workgym.envs.finance.show import choose_rows
from workgym.envs.finance.tools import brief_tools
from workgym.envs.sandbox.protocol import SandboxPool
from workgym.envs.tool import End
from workgym.tasks.errors import ActionError
from workgym.tasks.task import Task

__all__ = ["LETTER", "BriefSession"]

LETTER: Final = re.compile(r"(?<![A-Za-z0-9_.])[A-Za-z](?![A-Za-z0-9_(])")
"""A cell's letter in an expression: no function, and no part of a name or a number."""


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
        self._lettered: dict[str, str] = {}  # address -> letter, in the order in which they were shown
        self._printed = ""
        self._tools = brief_tools(get_rows=self._get_rows, python=self._reckon, submit=self._submit_briefly)

    def observe(self) -> Observation:
        """The short question alone."""
        return Observation(str(self.task.public["question"]))

    def _get_rows(self, label: str) -> str:
        rows = choose_rows(self._statement, label)
        row = next((row for row in rows if any(cell.kind == "amount" for cell in row.cells)), rows[-1])
        new = [cell.address for cell in row.cells if cell.address not in self._lettered]
        if len(self._lettered) + len(new) > len(ascii_letters):
            raise ActionError(f"at most {len(ascii_letters)} cells can be shown: answer from those that were")
        for address in new:
            self._lettered[address] = ascii_letters[len(self._lettered)]
        self.opened.add(self._statement.address, [row.number])
        return "|".join(f"{cell.period} {self._lettered[cell.address]}{_number(cell)}" for cell in row.cells)

    def _reckon(self, code: str) -> str:
        """Run code in which the letters stand for the digits of their cells, with their sign."""
        cells = [(letter, self._cell(letter)) for letter in self._lettered.values()]
        named = "".join(f"{letter}={_number(cell)};" for letter, cell in cells if cell.value is not None)
        self._printed = self.python(named + code)
        return self._printed

    def _submit_briefly(self, answer: str) -> End:
        value, _, expression = answer.strip().partition(" ")
        if value == "=":
            if not self._printed:
                raise ActionError("= stands for what Python printed last, and it has printed nothing")
            value = self._printed
        letters = list(dict.fromkeys(LETTER.findall(expression)))
        cells = [self._cell(letter) for letter in letters]
        return self.submit(
            value=value,
            expression=LETTER.sub(lambda match: f"c{letters.index(match[0]) + 1}", expression),
            citations=[{"cell": cell.address, "quote": cell.text} for cell in cells],
        )

    def _cell(self, letter: str) -> TableCell:
        address = next((address for address, known in self._lettered.items() if known == letter), "")
        if not address:
            raise ActionError(f"no cell with the letter {letter!r} was shown")
        return self._statement.cells[address]

    # ------------------------------------------------------------------ its life

    def snapshot(self) -> object:
        """What had been shown, under which letters, and what was printed."""
        kept = {"lettered": dict(self._lettered), "printed": self._printed}
        return {"task": self.task.id, "opened": self.opened.to_state(), **kept}

    def restore(self, snapshot: Any) -> None:
        """Go back to a snapshot of the same task.

        Raises:
            ValueError: it is of another task.
        """
        super().restore(snapshot)
        self._lettered, self._printed = dict(snapshot["lettered"]), str(snapshot["printed"])


def _number(cell: TableCell) -> str:
    """What a cell says, in digits with their sign; its text where that is no number."""
    return cell.text if cell.value is None else f"{cell.value:f}"
