"""A filing as HTML, as the software of filers writes it.

    html = render_html(plan_filing(structure, level=2), draw_ledger(structure, 3))

Looks are inline, tables are laid out by columns that mean nothing, and nothing beside the words and amounts of the
filing is written: no tags of facts, no names, no comments.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from workgym.tasks.finance.blocks import Block, Grid, Text
from workgym.tasks.finance.filing import Filing
from workgym.tasks.finance.ledger import Ledger
from workgym.tasks.finance.render.html_table import escaped, render_statement
from workgym.tasks.finance.statements import Statement
from workgym.tasks.finance.styles import Style

__all__ = ["render_html"]

_LOOKS: Final = {
    "item": "margin:12pt 0 8pt 0;font-weight:bold;font-size:13pt",
    "heading": "margin:10pt 0 6pt 0;font-weight:bold",
    "company": "margin:6pt 0 0 0;text-align:center;font-weight:bold",
    "title": "margin:2pt 0 0 0;text-align:center;font-weight:bold",
    "caption": "margin:0 0 4pt 0;text-align:center;font-style:italic",
    "under": "margin:6pt 0;text-align:center;font-size:9pt",
    "center": "margin:4pt 0;text-align:center",
    "paragraph": "margin:0 0 8pt 0;text-align:justify",
    "head": "margin:0 0 12pt 0;text-align:right;font-size:8pt;color:#555555",
    "foot": "margin:14pt 0 0 0;text-align:center;font-size:8pt",
}
_HEADINGS: Final = frozenset({"item", "heading"})


def render_html(filing: Filing, ledger: Ledger) -> bytes:
    """Write a filing as HTML; the same filing and ledger give the same bytes.

    Args:
        filing: what stands where.
        ledger: the amounts of its company.

    Returns:
        ASCII; other characters are written as references to them.

    Raises:
        TaskError: the ledger does not hold an amount that the filing shows.
    """
    parts = [
        '<!DOCTYPE html>\n<html><head><meta charset="utf-8"/>',
        f"<title>{escaped(filing.title)}</title></head>\n",
        f'<body style="font-family:{filing.style.font};font-size:10pt">\n',
    ]
    last = filing.pages[-1]
    for page in filing.pages:
        blocks = "".join(_block(block, ledger, filing.style) for block in page.blocks)
        parts.append(_page(blocks, filing.style, is_first=page.number == 1, is_last=page is last))
    parts.append("</body></html>\n")
    return "".join(parts).encode("ascii", "xmlcharrefreplace")


def _page(blocks: str, style: Style, *, is_first: bool, is_last: bool) -> str:
    if style.breaks_by_rule:
        rule = "" if is_last else '<hr style="page-break-after:always"/>\n'
        return f"{blocks}{rule}"
    breaks = "" if is_first else "page-break-before:always;"
    return f'<div style="{breaks}padding:24pt">\n{blocks}</div>\n'


def _block(block: Block | Statement, ledger: Ledger, style: Style) -> str:
    match block:
        case Statement():
            return render_statement(block, ledger, style)
        case Grid():
            return _grid(block, style)
        case Text(kind, text):
            tag = style.heading_tag if kind in _HEADINGS else "p" if kind == "paragraph" else "div"
            return f'<{tag} style="{_LOOKS[kind]}">{escaped(text)}</{tag}>\n'
    return ""


def _grid(grid: Grid, style: Style) -> str:
    rows = "".join(f"<tr>{''.join(_words(cells))}</tr>\n" for cells in grid.rows)
    return f'<table cellpadding="0" cellspacing="0" style="width:90%;margin:8pt auto">\n{rows}</table>\n'


def _words(cells: tuple[str, ...]) -> Iterator[str]:
    for number, text in enumerate(cells):
        align = "left" if not number else "right"
        yield f'<td style="text-align:{align};padding:2pt">{escaped(text)}</td>'
