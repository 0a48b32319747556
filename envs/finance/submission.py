"""What an agent hands in: a typed answer, the cells it rests on and the expression over them; or why there is none.

It is read from its text and the public answer spec alone, so a refusal tells nothing of the gold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from workgym.envs.finance.answers import Answer, Refusal, shown
from workgym.envs.finance.opened import CELL_ADDRESS, LINE_ADDRESS
from workgym.envs.finance.value import parse_submission, read_answer
from workgym.tasks.errors import ActionError
from workgym.tasks.finance.answer import AnswerSpec
from workgym.tasks.finance.expression import read_expression
from workgym.tasks.finance.wording import REASONS
from workgym.tasks.naming import unknown_name

__all__ = ["MOST_CITATIONS", "Citation", "Submission", "read_submission"]

MOST_CITATIONS: Final = 2000
_MOST_QUOTE_CHARS: Final = 2000


@dataclass(frozen=True, slots=True)
class Citation:
    """A place in a document, and what stands there.

    Attributes:
        cell: "d1:t2!r5c3" for a cell of a table, "d1:p4!l7" for a line of a page.
        quote: what the agent read there.
    """

    cell: str
    quote: str


@dataclass(frozen=True, slots=True)
class Submission:
    """What was handed in.

    Attributes:
        answer: the typed answer; None where the agent gave up.
        expression: over the citations, c1 the first one; "" where there is none.
        citations: in their order.
        reason: why there is no answer, one of `REASONS`; "" where there is one.
    """

    answer: Answer | None
    expression: str = ""
    citations: tuple[Citation, ...] = ()
    reason: str = ""


def read_submission(given: Mapping[str, Any] | str, spec: AnswerSpec) -> Submission | Refusal:
    """Read the arguments of `submit` or `give_up`, or their JSON text.

    Args:
        given: with the fields of `submit`, or with `reason` and `citations`.
        spec: the type that the answer is wanted in.

    Returns:
        What was handed in, or in words why it cannot be read. Nothing raises.
    """
    fields = parse_submission(given) if isinstance(given, str) else given
    if isinstance(fields, Refusal):
        return fields
    citations = _read_citations(fields.get("citations"))
    if isinstance(citations, Refusal):
        return citations
    if "reason" in fields:
        reason = fields["reason"]
        if not isinstance(reason, str) or reason not in REASONS:
            return Refusal("reason", unknown_name("reason to give up", str(reason)[:40], REASONS))
        return Submission(None, "", citations, reason)
    expression = fields.get("expression") or ""
    if refused := _check_expression(expression, len(citations)):
        return refused
    answer = read_answer(fields, spec)
    return answer if isinstance(answer, Refusal) else Submission(answer, expression, citations)


def _check_expression(expression: object, n_citations: int) -> Refusal | None:
    """Refuse what is no expression over the cited cells."""
    if not expression:
        return None
    if not isinstance(expression, str):
        return Refusal("expression", f"the expression is a text over c1, c2, ..., not {type(expression).__name__}")
    try:
        cells = read_expression(expression).cells
    except ActionError as error:
        return Refusal("expression", str(error))
    if max(cells) > n_citations:
        return Refusal(
            "expression",
            f"the expression names c{max(cells)}, but {n_citations} cells are cited: c1 is the first of the citations",
        )
    return None


def _read_citations(given: object) -> tuple[Citation, ...] | Refusal:
    if given is None:
        return ()
    if not isinstance(given, list | tuple):
        return Refusal("citations", f"citations are a list of {{cell, quote}}, not {type(given).__name__}")
    if len(given) > MOST_CITATIONS:
        return Refusal("citations", f"at most {MOST_CITATIONS} citations are read, not {len(given)}")
    citations = []
    for number, one in enumerate(given, 1):
        citation = _read_citation(number, one)
        if isinstance(citation, Refusal):
            return citation
        citations.append(citation)
    return tuple(citations)


def _read_citation(number: int, given: object) -> Citation | Refusal:
    if not isinstance(given, Mapping):
        return Refusal("citations", f"citation {number} is an object with cell and quote, not {type(given).__name__}")
    if unknown := [name for name in given if name not in ("cell", "quote")]:
        return Refusal("citations", f"citation {number} has cell and quote, not {_in_words(unknown[0])}")
    cell, quote = given.get("cell"), given.get("quote")
    if not isinstance(cell, str) or not (CELL_ADDRESS.fullmatch(cell) or LINE_ADDRESS.fullmatch(cell)):
        return Refusal(
            "citations",
            f"citation {number} names the cell {_in_words(cell)}; addresses look like d1:t2!r5c3 or d1:p4!l7",
        )
    if not isinstance(quote, str) or len(quote) > _MOST_QUOTE_CHARS:
        return Refusal(
            "citations",
            f"citation {number} quotes what stands at {cell}, in a text of at most {_MOST_QUOTE_CHARS} characters",
        )
    return Citation(cell, quote)


def _in_words(given: object) -> str:
    """A piece of a submission, for a message; of what is no text its type alone, for some of it cannot be written."""
    return shown(given) if isinstance(given, str) else type(given).__name__
