"""A table of amounts as HTML: columns for marks and for nothing, indents, rules."""

from __future__ import annotations

import functools
import html
from collections.abc import Iterator
from typing import Final

from workgym.tasks.finance.ledger import Ledger
from workgym.tasks.finance.statements import Cell, Row, Statement
from workgym.tasks.finance.styles import Style

__all__ = ["escaped", "render_statement"]

_MONEY: Final = ("currency", "currency/share")
_SPACE: Final = "&#160;"
_SPACER: Final = f'<td style="width:1%">{_SPACE}</td>'
_INDENT_POINTS: Final = 10


def render_statement(table: Statement, ledger: Ledger, style: Style) -> str:
    """Write a table of amounts.

    Raises:
        TaskError: the ledger does not hold an amount that the table shows.
    """
    rows = [_row(row, number, table, ledger, style) for number, row in enumerate(table.rows)]
    head = _head(table, style)
    if style.has_thead:
        head = f"<thead>{head}</thead>\n<tbody>"
    widths = _widths(len(table.headings), style) if style.width_row else ""
    end = "</tbody>" if style.has_thead else ""
    look = "width:100%;border-collapse:collapse;margin:6pt 0"
    return f'<table style="{look}">\n{widths}{head}\n{"".join(rows)}{end}</table>\n'


def _widths(columns: int, style: Style) -> str:
    each = (3 if style.marks_apart else 1) + style.spacers
    return f'<tr><td style="width:52%"></td>{"<td></td>" * (columns * each)}</tr>\n'


def _head(table: Statement, style: Style) -> str:
    tag = style.head_tag
    words = escaped(table.caption) if style.caption_in_head and table.caption else _SPACE
    cells = [f'<{tag} style="text-align:left;font-weight:normal">{words}</{tag}>']
    span = ' colspan="3"' if style.marks_apart else ""
    look = "text-align:center;font-weight:bold;border-bottom:1px solid #000000"
    for heading in table.headings:
        spacer = f"<{tag}>{_SPACE}</{tag}>" if style.spacers else ""
        cells.append(f'{spacer}<{tag}{span} style="{look}">{escaped(heading)}</{tag}>')
    return f"<tr>{''.join(cells)}</tr>"


def _row(row: Row, number: int, table: Statement, ledger: Ledger, style: Style) -> str:
    shade = ' style="background-color:#e6eefa"' if style.shaded and number % 2 == 0 else ""
    amounts = "".join(_amounts(row, table, ledger, style)) if row.cells else _nothing(table, style)
    return f"<tr{shade}>{_label(row, style)}{amounts}</tr>\n"


def _label(row: Row, style: Style) -> str:
    weight = ";font-weight:bold" if row.total or not row.cells else ""
    if style.indents_by_spaces:
        return f'<td style="text-align:left{weight}">{_SPACE * (4 * row.depth)}{escaped(row.label)}</td>'
    indent = f";padding-left:{_INDENT_POINTS * row.depth}pt" if row.depth else ""
    return f'<td style="text-align:left{indent}{weight}">{escaped(row.label)}</td>'


def _nothing(table: Statement, style: Style) -> str:
    """The columns of a row of text alone."""
    each = (3 if style.marks_apart else 1) + style.spacers
    return f'<td colspan="{len(table.headings) * each}"></td>'


def _amounts(row: Row, table: Statement, ledger: Ledger, style: Style) -> Iterator[str]:
    rule = ";border-top:1px solid #000000" if row.total else ""
    marked = _shows_dollar(row, table, style)
    for cell in row.cells:
        if style.spacers:
            yield _SPACER
        before, digits, after = ("", "", "") if cell.address in table.blanks else _parts(cell, ledger, marked=marked)
        if style.marks_apart:
            yield f'<td style="text-align:left{rule}">{before}</td><td style="text-align:right{rule}">{digits}</td>'
            yield f'<td style="text-align:left{rule}">{after}</td>'
        else:
            yield f'<td style="text-align:right{rule}">{before}{digits}{after}</td>'


def _shows_dollar(row: Row, table: Statement, style: Style) -> bool:
    if row.cells[0].unit not in _MONEY or table.key == "operating":  # where a label says what is money
        return False
    if style.dollar_rows == "all" or row.total or row.cells[0].unit != "currency":
        return True
    return row is next(other for other in table.rows if other.cells and other.cells[0].unit == "currency")


def _parts(cell: Cell, ledger: Ledger, *, marked: bool) -> tuple[str, str, str]:
    """What stands before the digits of a cell, they, and what stands after them: ("$", "(1,234", ")")."""
    text = cell.text(ledger)
    digits = text.rstrip(")%")
    return "$" if marked else "", digits, text[len(digits) :]


@functools.lru_cache(maxsize=4096)
def escaped(text: str) -> str:
    """Words as they are written in HTML."""
    return html.escape(text, quote=False)
