"""An agent's Python, with pandas at hand: each call a sandbox of its own, that sees documents and fetched tables."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, Final

from workgym.envs.finance.docs_folder import laid_out
from workgym.envs.finance.document import Document, Table, TableCell, TableRow
from workgym.envs.sandbox.protocol import SandboxPool
from workgym.envs.sandbox.spec import ExecResult, PythonCode, SandboxSpec
from workgym.tasks.errors import ActionError, SandboxError

__all__ = ["MAX_CODE_CHARS", "PYTHON_SANDBOX", "TIMEOUT_S", "run_python"]

MAX_CODE_CHARS: Final = 20_000

_GUEST: Final = "workgym_python"
_START: Final = PythonCode(f"import {_GUEST}\n{_GUEST}.main()")
_OUTPUT_KB: Final = 4
_MOST_BYTES: Final = _OUTPUT_KB * 1024
_CUT: Final = f"[the output is cut: at most {_OUTPUT_KB} KB]"

PYTHON_SANDBOX: Final = SandboxSpec(
    warm_modules=((_GUEST, files("workgym.envs.finance").joinpath("python_child.py").read_text(encoding="utf-8")),),
    cpu_s=10.0,
    memory_mb=512,
    output_kb=_OUTPUT_KB,
)
"""What one call may use. The backend's interpreters must find numpy and pandas."""

TIMEOUT_S: Final = 30.0
"""Of the clock, three times what a call may compute."""

_PLACE: Final = re.compile(r"\bat 0x[0-9a-f]+")
_OUR_FOLDER: Final = re.compile(r"(?:/[^\s'\"():]+)*/(?:site-packages|dist-packages|python3\.\d+)/")


def run_python(
    pool: SandboxPool,
    code: str,
    tables: Mapping[str, Table] | None = None,
    documents: Sequence[Document] = (),
    *,
    timeout_s: float = TIMEOUT_S,
) -> str:
    """Run code in a fresh sandbox.

    The code finds `tables` (address -> DataFrame of the digits as they are shown, with their sign), `cells` (address ->
    the cell, with exact `value`, `scale`, `amount`, `unit`, `period`), `pd`, `np`, `Decimal`, and a text file of each
    document below /docs, which it cannot change.

    Args:
        pool: of `PYTHON_SANDBOX`.
        code: the agent's; nothing of it is left for the next call.
        tables: those that the agent has fetched, by address.
        documents: those of the episode.
        timeout_s: seconds of the clock after which it is ended: it sleeps, or the machine is overloaded.

    Returns:
        What it printed and the value of its last expression, then the last line of its error, if it failed or ran into
        a limit; at most 4 KB.

    Raises:
        ActionError: the code is too long.
        SandboxError: infrastructure failed, or the backend's interpreter has no pandas.
    """
    if len(code) > MAX_CODE_CHARS:
        raise ActionError(f"the code has at most {MAX_CODE_CHARS} characters, not {len(code)}")
    told = json.dumps({"code": code, **_told(tables or {})}).encode()
    with laid_out(documents) as folder, pool.lease(read_only={"/docs": folder}) as box:
        try:
            result = box.exec(_START, stdin=told, timeout_s=timeout_s)
        except SandboxError as error:
            _require_packages(pool.spec, error)
            raise
    return _shown(result, pool.spec)


def _require_packages(spec: SandboxSpec, error: SandboxError) -> None:
    for name in ("numpy", "pandas"):
        if f"No module named '{name}'" in str(error):
            raise SandboxError(
                f"the tool `python` needs {name} where code runs, and there is none. With sandbox='local' or 'bwrap' "
                f"install it: pip install 'workgym[finance]'. With sandbox='docker' the image {spec.image!r} has none: "
                "name one with python3, numpy and pandas in SandboxSpec.image, or take sandbox='local'"
            ) from error


def _told(tables: Mapping[str, Table]) -> dict[str, Any]:
    """The tables as JSON; numbers as text, so that they stay exact."""
    cells = [_told_cell(cell) for table in tables.values() for cell in table.cells.values()]
    return {"tables": {address: _told_table(table) for address, table in tables.items()}, "cells": cells}


def _told_cell(cell: TableCell) -> list[Any]:
    value = None if cell.value is None else str(cell.value)
    return [cell.address, cell.text, cell.kind, value, str(cell.scale), cell.unit, cell.row_path, cell.period]


def _told_table(table: Table) -> dict[str, Any]:
    columns = range(2, 2 + len(table.headings))
    rows = [
        {"label": row.label, "cells": [f"{table.address}!r{row.number}c{column}" for column in columns]}
        for row in _body(table)
        if row.cells
    ]
    return {
        "title": table.title,
        "caption": table.caption,
        "page": table.page,
        "headings": table.headings,
        "rows": rows,
    }


def _body(table: Table) -> Sequence[TableRow]:
    """The rows from the first amount or blank on; those before say what the columns are."""
    for number, row in enumerate(table.rows):
        if any(cell.kind != "words" for cell in row.cells):
            return table.rows[number:]
    return table.rows[1:]


def _shown(result: ExecResult, spec: SandboxSpec) -> str:
    printed, end = _plain(result.stdout).rstrip(), _end_of(result, spec)
    whole = "\n".join(part for part in (printed, end) if part)
    if result.truncated_bytes or len(whole.encode()) > _MOST_BYTES:
        rest = "\n".join(part for part in (_CUT, end) if part)
        kept = printed.encode()[: _MOST_BYTES - len(rest.encode()) - 1].decode(errors="ignore")
        return f"{kept}\n{rest}"
    return whole or "no output"


def _end_of(result: ExecResult, spec: SandboxSpec) -> str:
    """How it ended, in words for the agent; "" where all went well."""
    match result.status:
        case "ok" | "output_limit":
            return ""
        case "nonzero":
            lines = [line.strip() for line in _plain(result.stderr).splitlines() if line.strip()]
            return f"error: {lines[-1][:1000]}" if lines else f"error: exit code {result.exit_code}"
        case "timeout_cpu":
            return f"error: it took more than {spec.cpu_s:g} seconds of CPU time"
        case "timeout_wall":
            return "error: it was not done in time; does it wait for something?"
        case "oom":
            return f"error: it needed more than {spec.memory_mb} MB of memory"
        case "disk_limit":
            return f"error: it wrote more than {spec.disk_mb} MB"
        case "processes_limit":
            return f"error: it started more than {spec.n_processes} processes and threads"
        case "signal":
            return f"error: it was ended by signal {result.signal}"
        case _:
            raise SandboxError(f"a run of Python ended as {result.status!r}: something beside it killed it")


def _plain(output: bytes) -> str:
    """Text without what tells of this machine: places in memory, and where packages lie."""
    return _OUR_FOLDER.sub("", _PLACE.sub("at 0x..", output.decode(errors="replace")))
