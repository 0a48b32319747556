"""`workgym doctor`: what this machine offers, what is missing, and the command that mends it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final

import typer

from workgym.commands.machine import Part, look_at_all, try_sandboxes
from workgym.envs.sandbox.spec import Capabilities

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["doctor", "explain"]

_DEFAULT_BACKEND: Final = "local"
_MARKS: Final = {"ok": "[green]ok[/]", "partial": "[yellow]~[/]", "missing": "[red]--[/]"}


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list with one object for each part.")] = False,
) -> None:
    """Say what this machine offers, lacks, and how to mend it.

    The exit code is 0 if the default sandbox works, so that Coding-v0 runs, and 1 if it does not.
    """
    parts = look_at_all()
    works = any(part.name == _DEFAULT_BACKEND and part.state != "missing" for part in parts)
    if as_json:
        print(json.dumps([dataclasses.asdict(part) for part in parts], indent=2))
    else:
        _show(parts, works)
    raise typer.Exit(0 if works else 1)


def explain(part: Part) -> str:
    """Say in one line what is the matter with a part, and what mends it."""
    mend = f" To mend it: {part.mend}" if part.mend else ""
    return f"{part.name} is {part.state}: {part.found}.{mend}"


def _show(parts: Sequence[Part], works: bool) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("", "part", "what there is", "what it serves"):
        table.add_column(heading, overflow="fold")
    for part in parts:
        table.add_row(_MARKS[part.state], part.name, escape(part.found), escape(part.serves))
    console = Console()
    console.print(table)
    if works:
        console.print(_guarantees())
    mends = [part for part in parts if part.mend]
    if mends:
        console.print("\nTo mend what is missing, where you need it:")
    for part in mends:
        console.print(f"  {part.name:<8} {escape(part.mend)}", soft_wrap=True, highlight=False)
    console.print(
        f"\nThe default sandbox ({_DEFAULT_BACKEND}) works: environments run here."
        if works
        else f"\nThe default sandbox ({_DEFAULT_BACKEND}) does not work: no environment can run code here."
    )


def _guarantees() -> Table:
    """What each sandbox that works here was seen to hold, tried a moment ago."""
    from rich.table import Table

    seen = try_sandboxes()
    table = Table(
        box=None, pad_edge=False, padding=(0, 2, 0, 0), title="\nwhat the sandboxes hold", title_justify="left"
    )
    for heading in ("guarantee", *seen):
        table.add_column(heading)
    for field in dataclasses.fields(Capabilities):
        held = (getattr(one, field.name) for one in seen.values())
        table.add_row(
            field.name,
            *(value if isinstance(value, str) and value else _MARKS["ok" if value else "missing"] for value in held),
        )
    return table
