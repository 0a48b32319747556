"""What runs an agent's Python inside the sandbox. It is loaded there, where nothing of ours can be imported.

It reads the code and the tables from stdin, runs the code with `tables`, `cells`, `pd`, `np` and `Decimal` at hand,
shows the value of a last expression, and tells an error in one line. Whatever it says is the agent's word.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator, Mapping
from decimal import Decimal
from types import ModuleType
from typing import Any, NamedTuple, cast

# Where it is installed pandas loads it, and it starts a thread: what is forked from must have none but its first. So
# there is none in a sandbox, and pandas is the same everywhere. Who imports this module by its full name keeps it.
if not __name__.startswith("workgym."):
    sys.modules["pyarrow"] = cast("ModuleType", None)

import numpy as np
import pandas as pd

__all__ = ["Cell", "Tables", "main"]

_NAME = "<python>"
_MOST_ERROR_CHARS = 600
_EXACT = 2**53  # beyond it a float has no ones

pd.set_option("display.width", 160, "display.max_columns", 20, "display.max_rows", 60, "display.max_colwidth", 60)


class Cell(NamedTuple):
    """A cell of a table, with exact numbers; `amount` is what it says in ones."""

    address: str
    text: str
    kind: str
    value: Decimal | None
    scale: Decimal
    unit: str
    row_path: tuple[str, ...]
    period: str

    @property
    def amount(self) -> Decimal | None:
        """The digits with their sign times the scale."""
        return None if self.value is None else self.value * self.scale


class Tables(Mapping[str, pd.DataFrame]):
    """Address -> DataFrame: an index of row labels, a column for each heading; made when it is looked at."""

    def __init__(self, tables: Mapping[str, Any], cells: Mapping[str, Cell]) -> None:
        self._tables, self._cells = tables, cells
        self._made: dict[str, pd.DataFrame] = {}

    def __getitem__(self, address: str) -> pd.DataFrame:
        """The table at an address."""
        if address not in self._made:
            if address not in self._tables:
                raise KeyError(f"no table {address!r} was fetched; there are: {', '.join(self._tables) or 'none'}")
            self._made[address] = self._frame(self._tables[address])
        return self._made[address]

    def __iter__(self) -> Iterator[str]:
        """The addresses."""
        return iter(self._tables)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._tables)

    def __repr__(self) -> str:
        """The addresses and titles."""
        return "\n".join(f"{address}: {table['title']}" for address, table in self._tables.items()) or "no tables"

    def _frame(self, table: Mapping[str, Any]) -> pd.DataFrame:
        rows = [[_number(self._cells.get(address)) for address in row["cells"]] for row in table["rows"]]
        columns = dict(enumerate(zip(*rows, strict=True)))  # by number: two may have the same heading
        frame = pd.DataFrame(columns, index=[row["label"] for row in table["rows"]])
        frame.columns = pd.Index(table["headings"][: len(columns)])
        frame.attrs.update({name: table[name] for name in ("title", "caption", "page")})
        return frame


def _number(cell: Cell | None) -> object:
    if cell is None or cell.kind == "blank":
        return None
    if cell.value is None:
        return cell.text
    return int(cell.value) if cell.value == int(cell.value) and abs(cell.value) < _EXACT else float(cell.value)


def _run(code: str, names: dict[str, Any]) -> None:
    tree = ast.parse(code, _NAME)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, _NAME, "exec"), names)  # noqa: S102 - this is what the sandbox is for
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), _NAME, "eval"), names)
        if value is not None:
            print(repr(value))


def _in_one_line(error: BaseException) -> str:
    """Where in the agent's own code, what, and the words for it."""
    frames, line = error.__traceback__, 0
    while frames is not None:
        if frames.tb_frame.f_code.co_filename == _NAME:
            line = frames.tb_lineno
        frames = frames.tb_next
    if isinstance(error, SyntaxError):
        line, words = error.lineno or line, error.msg
    else:
        words = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    words = " ".join(words.split())[:_MOST_ERROR_CHARS]
    place = f"line {line}: " if line else ""
    return f"{place}{type(error).__name__}{': ' + words if words else ''}"


def main() -> None:
    """Run what stdin says.

    Raises:
        SystemExit: the code failed.
    """
    told = json.loads(sys.stdin.buffer.read())
    cells = {
        one[0]: Cell(one[0], one[1], one[2], one[3] and Decimal(one[3]), Decimal(one[4]), one[5], tuple(one[6]), one[7])
        for one in told["cells"]
    }
    names = {"__name__": "__main__", "pd": pd, "np": np, "Decimal": Decimal, "cells": cells}
    names["tables"] = Tables(told["tables"], cells)
    try:
        _run(told["code"], names)
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - the agent's own
        try:
            words = _in_one_line(error)
        except BaseException:  # noqa: BLE001 - its class may be the agent's too
            words = type(error).__name__
        raise SystemExit(words) from None  # the interpreter prints it, whatever the code has broken


def _warm_up() -> None:
    """Do once what most calls do: what pandas loads and makes for it is then there for all."""
    cells = {
        name: Cell(name, "1", "amount", Decimal(number), Decimal(1), "", (), "")
        for name, number in zip("abcd", "1234", strict=True)
    }
    rows = [{"label": "a", "cells": ["a", "b"]}, {"label": "b", "cells": ["c", "d"]}]
    table = {"headings": ["1", "2"], "rows": rows, "title": "", "caption": "", "page": 1}
    frame = Tables({"t": table}, cells)["t"]
    assert frame.loc["a", "1"] + frame.iloc[1, 1] + frame["1"].sum() == 9
    repr((frame, frame["1"], (frame / 2).mean(), frame.T, frame[frame["1"] > 1]))


_warm_up()
