"""Measures what was handed in: the answer, each citation by a fresh read, and the derivation in redrawn books."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final

from workgym.envs.finance.answers import Amount, Refusal
from workgym.envs.finance.derivation import Derivation, derivation_holds
from workgym.envs.finance.document import Document
from workgym.envs.finance.matching import Match, in_asked_unit, match
from workgym.envs.finance.opened import CELL_ADDRESS, LINE_ADDRESS, Opened
from workgym.envs.finance.session import documents_of
from workgym.envs.finance.submission import Citation, Submission, read_submission
from workgym.envs.sandbox.protocol import Pools
from workgym.envs.verify import Attempt, Check
from workgym.tasks.finance.case import Case, case_of, spec_of
from workgym.tasks.finance.expression import read_expression
from workgym.tasks.finance.statements import Cell
from workgym.tasks.task import Task

__all__ = ["Cited", "FinanceFindings", "examine_filing"]

_LEAST_QUOTE: Final = 20
"""Characters of a line that a quote of it holds, where the line has as many."""


@dataclass(frozen=True, slots=True)
class Cited:
    """A citation that was looked up.

    Attributes:
        citation: as it was given.
        counts: it was shown in this episode, and stands there as quoted.
        cell: what it shows; None where it does not count, and where it shows no amount of the books.
    """

    citation: Citation
    counts: bool
    cell: Cell | None


class FinanceFindings:
    """What is to be known of an attempt; each finding is computed when a verifier first asks for it.

    Args:
        attempt: what was handed in, and what had been shown.
        task: what was asked.
    """

    def __init__(self, attempt: Attempt, task: Task) -> None:
        self._attempt = attempt
        self._task = task
        self.spec: Final = spec_of(task)

    @cached_property
    def case(self) -> Case:
        """The hidden side of the task."""
        return case_of(self._task)

    @cached_property
    def submission(self) -> Submission | Refusal:
        """What was handed in."""
        if self._attempt.submission is None:
            return Refusal("empty", "nothing was submitted")
        return read_submission(self._attempt.submission, self.spec)

    @cached_property
    def answer(self) -> Match:
        """Whether the value is the gold."""
        answer = self._read.answer
        gold = self.case.gold
        if answer is None:
            return Match(False, "gave_up")
        return Match(False, "unanswerable") if gold is None else match(answer, self.spec, gold)

    @cached_property
    def cited(self) -> tuple[Cited, ...]:
        """The citations, looked up in documents that are read afresh."""
        opened = Opened.from_state(self._attempt.state.get("opened", {}))
        documents = {document.name: document for document in documents_of(self._task)}
        return tuple(self._look_up(citation, opened, documents) for citation in self._read.citations)

    @cached_property
    def derivation(self) -> Check:
        """Whether the expression over the citations that count is the arithmetic that was asked for."""
        name = "derivation_holds"
        if self.case.question is None:
            return Check(name, 1.0, "there is nothing to derive")
        if not self._read.expression:
            return Check(name, 0.0, "no expression was given", "no_expression")
        if unread := [number for number in sorted(self.used) if not self.cited[number - 1].counts]:
            words = f"c{unread[0]} was not shown in this episode, or its quote is not what stands there"
            return Check(name, 0.0, words, "not_read")
        shown = Derivation(self._read.expression, tuple(cited.cell for cited in self.cited), self._value)
        return derivation_holds(shown, self.case.question, self.case.reported.ledger)

    @property
    def used(self) -> frozenset[int]:
        """The numbers of the citations that the expression names, from 1."""
        return read_expression(self._read.expression).cells if self._read.expression else frozenset()

    @property
    def _read(self) -> Submission:
        """What was handed in, where it could be read: the first layer is a gate."""
        return self.submission if isinstance(self.submission, Submission) else Submission(None)

    @property
    def reason(self) -> str:
        """Why the agent gave up; "" where it did not."""
        return self._read.reason

    @property
    def _value(self) -> Fraction:
        """The submitted value in base units; the value's own layer, a gate, has found it to be a number."""
        question, answer = self.case.question, self._read.answer
        if question is None or answer is None or not isinstance(answer.value, Amount):
            return Fraction(0)
        return (in_asked_unit(answer.value, self.spec) or Fraction(0)) * question.scale

    def _look_up(self, citation: Citation, opened: Opened, documents: dict[str, Document]) -> Cited:
        text = _read_afresh(citation.cell, documents)
        counts = text is not None and opened.holds(citation.cell) and _is_quote(citation, text)
        return Cited(citation, counts, self.case.reported.cells.get(citation.cell) if counts else None)


def examine_filing(attempt: Attempt, task: Task, pools: Pools | None) -> FinanceFindings:
    """Prepare the findings; everything is arithmetic on texts, so that nothing of the agent runs again."""
    return FinanceFindings(attempt, task)


def _read_afresh(address: str, documents: dict[str, Document]) -> str | None:
    """What stands at an address; None where there is no such place."""
    document = documents.get(address.partition(":")[0])
    if document is None:
        return None
    if match := CELL_ADDRESS.fullmatch(address):
        table = document.tables.get(match["table"])
        cell = table.cells.get(address) if table is not None else None
        return None if cell is None else cell.text
    if match := LINE_ADDRESS.fullmatch(address):
        number, line = int(match["page"].rpartition(":p")[2]), int(match["line"])
        lines = document.pages[number - 1].lines if number <= len(document.pages) else ()
        return lines[line - 1] if line <= len(lines) else None
    return None


def _is_quote(citation: Citation, text: str) -> bool:
    """Whether a quote is what stands there: all of a cell, of a line enough to be no accident. Spaces may differ."""
    quote, whole = (" ".join(words.split()) for words in (citation.quote, text))
    if "!r" in citation.cell:
        return quote == whole or quote.removeprefix("$").lstrip() == whole.removeprefix("$").lstrip()
    return quote in whole and len(quote) >= min(_LEAST_QUOTE, len(whole))
