"""The conformance corpus: forms of answers, and what a reader of financial answers has to make of them.

    python -m workgym.envs.finance.corpus > corpus.jsonl

A line is an object: `id`; `spec` and `gold` as `AnswerSpec.to_public` and `Gold.to_hidden` write them; `submission`,
an object or, where JSON has no plain way to say it, the text of one; `outcome`: `accept`, `wrong` (readable, but not
the gold) or `refuse`; `label`: of a wrong one, the kind of mistake. The rows are written out from tables and from
other values, always the same ones, so that nobody has to carry the file about.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any, Final

from workgym.envs.finance.corpus_tables import JSON_ROWS, QUESTIONS, REFUSED, RIGHT, WRONG
from workgym.envs.finance.renderings import Rendering, hidden_amount, refused_forms, right_forms, wrong_forms
from workgym.tasks.finance.answer import AnswerSpec

__all__ = ["Row", "corpus_rows", "main", "to_lines"]

Row = dict[str, Any]

_SPACES: Final = {"no-break": "\u00a0", "figure": "\u2007", "thin": "\u2009", "narrow": "\u202f"}
_N_REFUSED: Final = 7

# (kind, unit, scale, decimals, values): where the tables have one value for a form, these have others.
_OTHERS: Final = (
    ("number", "USD", "millions", 0, "5678 -987 43210 7 -20"),
    ("number", "USD", "billions", 2, "3.45 -12.07"),
    ("number", "USD", "thousands", 0, "812345 -6789"),
    ("number", "EUR", "millions", 1, "-67.8 1902.4"),
    ("number", "GBP", "units", 2, "45678.90"),
    ("number", "JPY", "billions", 0, "2381 -4"),
    ("number", "CAD", "thousands", 1, "1650.5"),
    ("number", "USD/share", "units", 2, "3.17 -1.25"),
    ("number", "percent", "units", 1, "7.3 -3.8 0.4 112.6"),
    ("number", "percent", "units", 2, "-0.25"),
    ("number", "percentage_points", "units", 1, "-2.4"),
    ("number", "bps", "units", 0, "35 -140"),
    ("number", "ratio", "units", 2, "1.85 0.64"),
    ("number", "multiple", "units", 1, "8.4 17.3"),
    ("number", "shares", "millions", 1, "927.5"),
    ("number", "days", "units", 1, "62.8"),
    ("count", "count", "units", 0, "17 240"),
)

# What the questions of filings lead astray to, with the numbers that show it.
_DISTRACTORS: Final = {
    "wrong_period": "5412",
    "wrong_entity": "4999",
    "wrong_base": "6120",
    "superseded": "5655",
    "planted": "7777",
    "injected": "1",
}


def corpus_rows() -> list[Row]:
    """All rows, in an order that does not change."""
    return [*_table_rows(), *_spaced_rows(), *_rendered_rows(), *_distractor_rows()]


def to_lines(rows: Iterable[Row]) -> str:
    """The rows as JSON lines in ASCII, so that no character hides in the file."""
    return "".join(json.dumps(row, separators=(", ", ": ")) + "\n" for row in rows)


def main() -> None:
    """Print the corpus."""
    sys.stdout.write(to_lines(corpus_rows()))


def _row(name: str, question: str, submission: dict[str, Any] | str, outcome: str, label: str = "") -> Row:
    spec, gold = QUESTIONS[question]
    return {"id": name, "spec": spec, "gold": gold, "submission": submission, "outcome": outcome, "label": label}


def _table_rows() -> Iterator[Row]:
    tables = (
        ("accept", [(*row, "") for row in RIGHT]),
        ("wrong", WRONG),
        ("refuse", [(*row, "") for row in REFUSED]),
    )
    for outcome, table in tables:
        for number, (question, declared, forms, label) in enumerate(table, start=1):
            for place, form in enumerate(forms.split("·"), start=1):
                name = f"table/{outcome}/{number}/{place}"
                yield _row(name, question, {"value": form, **declared}, outcome, label)
    for number, (question, submission, outcome, label) in enumerate(JSON_ROWS, start=1):
        yield _row(f"table/json/{number}", question, submission, outcome, label)


def _spaced_rows() -> Iterator[Row]:
    """Every right form with a space in it, once more with each other kind of space."""
    for number, (question, declared, forms) in enumerate(RIGHT, start=1):
        for place, form in enumerate(forms.split("·"), start=1):
            if " " not in form.strip() or QUESTIONS[question][0]["kind"] == "text":
                continue
            for kind, space in _SPACES.items():
                value = form.replace(" ", space)
                yield _row(f"spaces/{number}/{place}/{kind}", question, {"value": value, **declared}, "accept")


def _rendered_rows() -> Iterator[Row]:
    start = 0
    for kind, unit, scale, decimals, values in _OTHERS:
        spec = AnswerSpec(kind, unit, scale, decimals)
        for value in map(Decimal, values.split()):
            forms: tuple[tuple[str, Iterator[Rendering]], ...] = (
                ("accept", right_forms(spec, value)),
                ("wrong", wrong_forms(spec, value)),
                ("refuse", refused_forms(spec, value, start, _N_REFUSED)),
            )
            start += _N_REFUSED
            for outcome, renderings in forms:
                for number, form in enumerate(renderings, start=1):
                    name = f"rendered/{unit}/{scale}/{value}/{outcome}/{number}"
                    row = {"id": name, "spec": spec.to_public(), "gold": hidden_amount(value)}
                    yield row | {"submission": form.submission, "outcome": outcome, "label": form.label}


def _distractor_rows() -> Iterator[Row]:
    spec = AnswerSpec("number", "USD", "millions").to_public()
    gold = {"value": "5678", "distractors": [[label, value] for label, value in _DISTRACTORS.items()]}
    for label, value in _DISTRACTORS.items():
        for number, text in enumerate((value, f"${int(value):,} million"), start=1):
            row = {"id": f"distractor/{label}/{number}", "spec": spec, "gold": gold}
            yield row | {"submission": {"value": text}, "outcome": "wrong", "label": label}


if __name__ == "__main__":
    main()
