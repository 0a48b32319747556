"""The tools of the finance domain: what they are called, what they take, and what an agent is told of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from workgym.envs.tool import End, Tool, ToolTable, one_text
from workgym.tasks.finance.answer import DIRECTIONS
from workgym.tasks.finance.units import SCALES
from workgym.tasks.finance.wording import REASONS

__all__ = ["brief_tools", "full_tools"]

_Call = Callable[..., str | End]


def _object(required: tuple[str, ...], **properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


_DOC: Final = {"type": "string", "description": 'a document of the catalog, such as "d1"'}
_CITATIONS: Final = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "cell": {"type": "string", "description": "d1:t2!r5c3 for a cell of a table, d1:p4!l7 for a line"},
            "quote": {"type": "string", "description": "what stands there, exactly as it was shown"},
        },
        "required": ["cell", "quote"],
    },
    "description": "cells that you were shown in this episode; the expression names them c1, c2, ... in this order",
}

_SEARCH: Final = _object(
    ("query",),
    query={"type": "string", "description": "words to look for"},
    doc={**_DOC, "description": "look in this document alone"},
    k={"type": "integer", "description": "pages to list, 1 to 20; 10 by default"},
)
_OPEN_PAGE: Final = _object(
    ("doc", "page"),
    doc=_DOC,
    page={"type": "integer", "description": "number of the page, from 1"},
    line={"type": "integer", "description": "the line to begin at, where a page is shown in pieces; 1 by default"},
)
_GET_TABLE: Final = _object(
    ("doc", "table"),
    doc=_DOC,
    table={"type": "string", "description": 'handle of the table as a page shows it: "d1:t2" or "t2"'},
    part={"type": "string", "description": 'rows to show: "r5-r12", or words of their labels; all by default'},
)
_SUBMIT: Final = _object(
    ("value",),
    value={"description": "one value of the type asked for; a number, or a text such as (1,234)"},
    unit={"type": "string", "description": 'unit of the value where it is not the one asked for: "USD", "percent"'},
    scale={"type": "string", "enum": list(SCALES), "description": "scale of the value where it is not the one asked"},
    direction={"type": "string", "enum": list(DIRECTIONS), "description": "where a magnitude is asked for"},
    expression={
        "type": "string",
        "description": "how the value follows from the cited cells, such as (c1 - c2) / c2. It holds + - * / ** ( ), "
        "plain numbers, sum mean min max abs. A cell counts in base units, with the sign it shows: "
        "(1,234) in a table in millions is -1234000000. Give c1 where the answer is the cell itself",
    },
    citations=_CITATIONS,
)
_GIVE_UP: Final = _object(
    ("reason",),
    reason={
        "type": "string",
        "enum": list(REASONS),
        "description": "; ".join(f"{reason}: {meaning}" for reason, meaning in REASONS.items()),
    },
    citations={**_CITATIONS, "description": "what shows it: a blank cell, the heading of a period, or a sentence"},
)
_PYTHON: Final = one_text(
    "code",
    "Python; what it prints, and the value of a last expression, is shown. `tables` holds the tables that you fetched, "
    "address -> pandas.DataFrame; documents lie in /docs. Every call starts afresh",
)


def full_tools(
    *, search: _Call, open_page: _Call, get_table: _Call, python: _Call, submit: _Call, give_up: _Call
) -> ToolTable:
    """The tools for language models."""
    return ToolTable(
        (
            Tool("search", "Find pages by words; lists pages with snippets.", _SEARCH, search),
            Tool("open_page", "Read a page: numbered lines, and handles of its tables.", _OPEN_PAGE, open_page),
            Tool("get_table", "Read a table: every cell with its address, text and value.", _GET_TABLE, get_table),
            Tool("python", "Run Python with pandas in a sandbox, to reckon.", _PYTHON, python),
            Tool("submit", "Hand in the answer and end the episode.", _SUBMIT, submit),
            Tool("give_up", "Say that the filing does not answer the question, and why.", _GIVE_UP, give_up),
        )
    )


def brief_tools(*, get_rows: _Call, python: _Call, submit: _Call) -> ToolTable:
    """The tools for small models: each takes one text."""
    rows = one_text("label", "label of a row of the statement")
    code = one_text("code", "Python, in which row, year and column together stand for a number: a2021x-a2020y")
    answer = one_text("answer", "VALUE EXPRESSION; = a2021x-a2020y where the value is what Python printed last")
    return ToolTable(
        (
            Tool(
                "get_rows",
                "Show the row of this label: its letter, then each year with the letter of its column and the number.",
                rows,
                get_rows,
                short="g",
            ),
            Tool("python", "Run Python in a sandbox.", code, python, short="p"),
            Tool("submit", "Hand in the answer and end the episode.", answer, submit, short="s"),
        )
    )
