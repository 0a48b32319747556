"""The same episode for small models: one statement, a short question, and tools that take one short text each."""

from __future__ import annotations

import re
from typing import Any, Final

from workgym.envs.domain import Observation
from workgym.envs.finance.document import Table
from workgym.envs.finance.session import FinanceSession
from workgym.envs.finance.show import choose_rows, show_row_briefly
from workgym.envs.finance.tools import brief_tools
from workgym.envs.sandbox.protocol import SandboxPool
from workgym.envs.tool import End
from workgym.tasks.errors import ActionError
from workgym.tasks.task import Task

__all__ = ["BriefSession"]

_CITATION: Final = re.compile(r"(r[1-9][0-9]{0,4}c[1-9][0-9]{0,3})=(.*)", re.DOTALL)


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
        self._tools = brief_tools(get_rows=self._get_rows, python=self.python, submit=self._submit_briefly)

    def observe(self) -> Observation:
        """The short question alone."""
        return Observation(str(self.task.public["question"]))

    def _get_rows(self, label: str) -> str:
        rows = choose_rows(self._statement, label)
        row = next((row for row in rows if any(cell.kind == "amount" for cell in row.cells)), rows[-1])
        self.opened.add(self._statement.address, [row.number])
        return show_row_briefly(row)

    def _submit_briefly(self, answer: str) -> End:
        value, _, rest = answer.strip().partition(" ")
        expression, _, cited = rest.partition(" ")
        fields: dict[str, Any] = {"value": value, "expression": expression}
        fields["citations"] = [self._citation(one) for one in cited.split()]
        return self.submit(**fields)

    def _citation(self, written: str) -> dict[str, str]:
        match = _CITATION.fullmatch(written)
        if match is None:
            raise ActionError(f"a citation looks like r2c3=1,234, not {written[:40]!r}")
        return {"cell": f"{self._statement.address}!{match[1]}", "quote": match[2]}
