"""Score a grader of financial answers on the conformance corpus: ours, or any callable.

    python -m workgym.envs.finance.conformance [--grader MODULE:CALLABLE] [--corpus FILE] [--show N]

A grader is called as `grader(submission, spec, gold)` with the three fields of a row, plain JSON, and returns what it
makes of the submission:

- `True` (accepted) or `False` (not accepted), where it knows no more, or
- `"accept"`, `"wrong"` or `"refuse"`, or
- a tuple `(outcome, label)` or `(outcome, label, text)`: the kind of mistake, and the words of a refusal.

It fails a row by accepting what is not the gold, by not accepting what is, by an exception, and, as far as it says so
much, by taking a wrong answer for an unreadable one or the other way round, by another label, and by a refusal that
is not the same, words and all, under another gold. The exit status is 0 where no row fails, 1 where one does, 2 where
there is nothing to score.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from workgym.envs.finance.answers import shown
from workgym.envs.finance.corpus import Row, corpus_rows
from workgym.envs.finance.matching import grade
from workgym.tasks.errors import TaskError
from workgym.tasks.finance.answer import AnswerSpec, Gold
from workgym.tasks.naming import unknown_name

__all__ = ["Grader", "Scored", "load_grader", "main", "our_grader", "read_corpus", "score", "table"]

Grader = Callable[[Any, dict[str, Any], dict[str, Any]], Any]

OUTCOMES: Final = ("accept", "wrong", "refuse")
_FIELDS: Final = ("id", "spec", "gold", "submission", "outcome", "label")
_OTHER_GOLD: Final = {
    "number": "-98765.4321",
    "count": 98765,
    "year": 1871,
    "date": "1871-01-18",
    "bool": False,
    "text": "quite another text",
}


@dataclass(frozen=True, slots=True)
class Scored:
    """What a grader made of one row.

    Attributes:
        row: the row.
        said: `accept`, `wrong`, `refuse`, `not accepted` or `exception`.
        fault: why the row fails, in words; "" where it passes.
    """

    row: Row
    said: str
    fault: str


def our_grader(submission: Any, spec: dict[str, Any], gold: dict[str, Any]) -> tuple[str, str, str]:
    """The reader and the comparison of this package, as a grader."""
    asked = AnswerSpec.from_public(spec)
    graded = grade(submission, asked, Gold.from_hidden(gold, asked))
    return graded.outcome, graded.label, graded.text


def score(grader: Grader, rows: Iterable[Row]) -> list[Scored]:
    """Call a grader on every row."""
    return [_score_row(grader, row) for row in rows]


def _score_row(grader: Grader, row: Row) -> Scored:
    try:
        said, label, text = _verdict(grader(row["submission"], row["spec"], row["gold"]))
        again = said if said != "refuse" else _verdict(grader(row["submission"], row["spec"], _other_gold(row)))
    except Exception as error:  # noqa: BLE001 - whatever a grader raises is its answer to this row
        return Scored(row, "exception", f"raised {type(error).__name__}: {shown(str(error))}")
    wanted = row["outcome"]
    if (said == "accept") != (wanted == "accept") or (said in OUTCOMES and said != wanted):
        return Scored(row, said, f"{said} instead of {wanted}")
    if wanted == "wrong" and label and label != row["label"]:
        return Scored(row, said, f"labelled {label} instead of {row['label']}")
    if said == "refuse" and again != (said, label, text):
        return Scored(row, said, "refused otherwise under another gold")
    return Scored(row, said, "")


def _verdict(returned: Any) -> tuple[str, str, str]:
    """What a grader returned, as (outcome, label, text).

    Raises:
        TypeError: it returned something else.
    """
    if isinstance(returned, bool):
        return ("accept" if returned else "not accepted"), "", ""
    parts = returned if isinstance(returned, tuple) else (returned,)
    if not 1 <= len(parts) <= 3 or parts[0] not in OUTCOMES:
        raise TypeError(f"the grader returned {shown(repr(returned))}; True, False, or one of {', '.join(OUTCOMES)}")
    outcome, label, text = (*map(str, parts), "", "")[:3]
    return outcome, label, text


def _other_gold(row: Row) -> dict[str, Any]:
    """A gold of the same type with another value."""
    spec, right = row["spec"], row["gold"]["value"]
    value: Any = _OTHER_GOLD.get(spec["kind"])
    if spec["kind"] == "choice":
        value = next((choice for choice in spec["choices"] if choice != right), right)
    if spec.get("length") is not None:
        value = [value] * spec["length"]
    return {"value": value, "direction": "increase"} if spec.get("sign") == "magnitude" else {"value": value}


def table(scored: Sequence[Scored], name: str) -> str:
    """What came of it: a line for each outcome that was right, a column for each that was said."""
    said = [column for column in (*OUTCOMES, "not accepted", "exception") if any(one.said == column for one in scored)]
    lines = [
        f"{name} on {len(scored)} rows",
        "",
        f"{'right is':<10}{'rows':>7}" + "".join(f"{s:>14}" for s in said) + f"{'fail':>8}",
    ]
    for outcome in OUTCOMES:
        of = [one for one in scored if one.row["outcome"] == outcome]
        counts = "".join(f"{sum(one.said == column for one in of):>14}" for column in said)
        lines.append(f"{outcome:<10}{len(of):>7}{counts}{sum(bool(one.fault) for one in of):>8}")
    failed = sum(bool(one.fault) for one in scored)
    return "\n".join((*lines, "", f"{len(scored) - failed} of {len(scored)} rows pass"))


def read_corpus(path: Path) -> list[Row]:
    """Read a corpus of one's own, in the form that `workgym.envs.finance.corpus` prints.

    Raises:
        TaskError: a line is no row, or the file has none.
    """
    rows = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines if line.strip()]
    except (OSError, ValueError) as error:
        raise TaskError(f"corpus {str(path)!r} cannot be read: {error}") from None
    for number, row in enumerate(rows, start=1):
        _check_row(row, f"row {number} of corpus {str(path)!r}")
    if not rows:
        raise TaskError(f"corpus {str(path)!r} has no rows; `python -m workgym.envs.finance.corpus` prints some")
    return rows


def _check_row(row: Any, place: str) -> None:
    if not isinstance(row, dict) or any(name not in row for name in _FIELDS):
        raise TaskError(f"{place} lacks some of its fields: {', '.join(_FIELDS)}")
    if row["outcome"] not in OUTCOMES:
        raise TaskError(f"{place}: " + unknown_name("outcome", row["outcome"], OUTCOMES))
    spec = AnswerSpec.from_public(row["spec"])
    Gold.from_hidden(row["gold"], spec)


def load_grader(name: str) -> Grader:
    """The callable that `module:callable` names.

    Raises:
        TaskError: there is none.
    """
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise TaskError(f"grader {name!r} is no MODULE:CALLABLE")
    try:
        grader = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise TaskError(f"grader {name!r} cannot be loaded: {error}") from None
    if not callable(grader):
        raise TaskError(f"grader {name!r} cannot be called: it is a {type(grader).__name__}")
    found: Grader = grader
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Score a grader and print the table; the exit status says whether every row passes."""
    parser = argparse.ArgumentParser(
        prog="python -m workgym.envs.finance.conformance", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "--grader", metavar="MODULE:CALLABLE", help="called as grader(submission, spec, gold); default: ours"
    )
    parser.add_argument("--corpus", type=Path, metavar="FILE", help="JSON lines; default: the corpus of this package")
    parser.add_argument("--show", type=int, default=20, metavar="N", help="how many failed rows to print (default 20)")
    options = parser.parse_args(arguments)
    try:
        grader = load_grader(options.grader) if options.grader else our_grader
        rows = read_corpus(options.corpus) if options.corpus else corpus_rows()
    except TaskError as error:
        print(error, file=sys.stderr)
        return 2
    scored = score(grader, rows)
    print(table(scored, options.grader or "workgym's reader"))
    failed = [one for one in scored if one.fault]
    for one in failed[: options.show]:
        print(f"{one.row['id']}: {shown(json.dumps(one.row['submission']))}: {one.fault}")
    if len(failed) > options.show:
        print(f"... and {len(failed) - options.show} more; --show N prints more of them")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
