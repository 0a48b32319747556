"""One episode: search and read a filing, reckon in a sandbox, then submit a typed answer or give up."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

from workgym.envs.domain import Observation
from workgym.envs.finance.answers import Refusal
from workgym.envs.finance.document import Document, Table
from workgym.envs.finance.html_document import read_html
from workgym.envs.finance.library import Library
from workgym.envs.finance.opened import Opened
from workgym.envs.finance.python_tool import run_python
from workgym.envs.finance.show import choose_rows, show_rows
from workgym.envs.finance.submission import read_submission
from workgym.envs.finance.tools import full_tools
from workgym.envs.sandbox.protocol import SandboxPool
from workgym.envs.tool import End, ToolTable
from workgym.envs.verify import Attempt
from workgym.tasks.errors import ActionError, TaskError
from workgym.tasks.finance.case import spec_of
from workgym.tasks.finance.wording import spec_in_words
from workgym.tasks.task import Task

__all__ = ["FinanceSession", "documents_of"]

_FILE: Final = re.compile(r"d[1-9][0-9]{0,2}\.html")
_CATALOG: Final = ("id", "title", "company", "form", "period", "pages")


def documents_of(task: Task) -> tuple[Document, ...]:
    """The documents of a task, read; kept for a while, since episodes and their judges read the same ones.

    Raises:
        TaskError: there is no file, one has another name than "d1.html", or it is no readable document.
    """
    if not task.files or not all(map(_FILE.fullmatch, task.files)):
        raise TaskError(f"the files of task {task.id!r} are {sorted(task.files)}: documents are d1.html, d2.html, ...")
    return tuple(_read(path.removesuffix(".html"), data) for path, data in task.files.items())


@functools.lru_cache(maxsize=64)
def _read(name: str, data: bytes) -> Document:
    return read_html(data, name)


class FinanceSession:
    """Holds what the agent has been shown; documents never change, and every run of Python is a sandbox of its own.

    Args:
        task: what is asked.
        pool: where the agent's Python runs.
    """

    def __init__(self, task: Task, pool: SandboxPool) -> None:
        self.task: Final = task
        self.spec: Final = spec_of(task)
        self._catalog: Final = _catalog_of(task)
        self.library: Final = Library(documents_of(task))
        self.opened = Opened()
        self.pool: Final = pool
        self._tools = full_tools(
            search=self._search,
            open_page=self._open_page,
            get_table=self._get_table,
            python=self.python,
            submit=self.submit,
            give_up=self._give_up,
        )

    @property
    def tools(self) -> ToolTable:
        """What the agent can do."""
        return self._tools

    def observe(self) -> Observation:
        """The question, the type of its answer, the catalog and the turns there are."""
        return Observation(
            "\n".join(
                [
                    self.task.prompt,
                    f"Answer: {spec_in_words(self.spec)}; at most {self.spec.citation_budget} cells cited.",
                    f"Documents ({' | '.join(_CATALOG)}):",
                    *self._catalog,
                    f"You have {self.task.budget.turns} turns.",
                ]
            )
        )

    # ------------------------------------------------------------------ the tools

    def _search(self, query: str, doc: str = "", k: int = 10) -> str:
        hits = self.library.search(query, doc, k)
        if not hits:
            return "no page has any of these words"
        return "\n".join(f"{hit.doc} page {hit.page}: {hit.snippet}" for hit in hits)

    def _open_page(self, doc: str, page: int, line: int = 1) -> str:
        piece = self.library.page(doc, page, line)
        self.opened.add(f"{doc}:p{page}", range(piece.first, piece.first + len(piece.lines)))
        if not piece.lines:
            return f"page {page} of {doc} is empty"
        more = f"\n[the page goes on: open_page with line {piece.next_line}]" if piece.next_line else ""
        return piece.text + more

    def _get_table(self, doc: str, table: str, part: str = "") -> str:
        found = self.table(doc, table)
        text, shown = show_rows(found, choose_rows(found, part))
        self.opened.add(found.address, shown)
        return text

    def table(self, doc: str, table: str) -> Table:
        """A table by its handle, "d1:t2" or "t2".

        Raises:
            ActionError: the document has no such table.
        """
        address = table if ":" in table else f"{doc}:{table}"
        if address.partition(":")[0] != doc:
            raise ActionError(f"table {table[:40]!r} is not of document {doc[:40]!r}")
        return self.library.table(address)

    def python(self, code: str) -> str:
        """Run the agent's code, with the tables of which it was shown any row.

        Raises:
            SandboxError: infrastructure failed.
        """
        tables = {address: self.library.table(address) for address in self.opened.tables()}
        return run_python(self.pool, code, tables, tuple(self.library.documents.values()))

    def submit(self, /, **fields: Any) -> End:
        """End the episode with an answer that can be read.

        Raises:
            ActionError: it cannot be read; the agent may submit again.
        """
        return self._hand_in("submitted", fields)

    def _give_up(self, /, **fields: Any) -> End:
        return self._hand_in("gave_up", fields)

    def _hand_in(self, how: str, fields: Mapping[str, Any]) -> End:
        try:
            text = json.dumps(fields, default=str)  # read here as the judge will read it: from its text
        except (TypeError, ValueError, RecursionError) as error:
            raise ActionError(f"the submission cannot be written as JSON: {str(error)[:100]}") from error
        read = read_submission(text, self.spec)
        if isinstance(read, Refusal):
            raise ActionError(read.text)
        return End(how, text)

    # ------------------------------------------------------------------ its life

    def attempt(self, submission: str | None) -> Attempt:
        """What will be judged: what was handed in, and what had been shown."""
        return Attempt(self.task.id, submission, state={"opened": self.opened.to_state()})

    def snapshot(self) -> object:
        """What had been shown."""
        return {"task": self.task.id, "opened": self.opened.to_state()}

    def restore(self, snapshot: Any) -> None:
        """Go back to a snapshot of the same task.

        Raises:
            ValueError: it is of another task.
        """
        if snapshot["task"] != self.task.id:
            raise ValueError(f"the snapshot is of task {snapshot['task']!r}, this session of {self.task.id!r}")
        self.opened = Opened.from_state(snapshot["opened"])

    def fork(self, n: int) -> Sequence[Self]:
        """Make n sessions that were shown the same, independent from then on."""
        copies = [type(self)(self.task, self.pool) for _ in range(n)]
        for copy in copies:
            copy.restore(self.snapshot())
        return copies

    def close(self) -> None:
        """Nothing is held between two calls."""


def _catalog_of(task: Task) -> list[str]:
    """A line for each document."""
    try:
        return [" | ".join(str(entry[name]) for name in _CATALOG) for entry in task.public["catalog"]]
    except (KeyError, TypeError) as error:
        raise TaskError(f"the public part of task {task.id!r} holds no catalog of documents: {error!r}") from error
