"""`workgym compare`: two evaluations on the same tasks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from workgym.agents.trajectory import Trajectory
    from workgym.commands.eval_settings import EvalSettings

__all__ = ["compare_runs"]


def compare_runs(
    run_a: Annotated[Path, typer.Argument(metavar="RUN_A", help="Folder of an evaluation.")],
    run_b: Annotated[Path, typer.Argument(metavar="RUN_B", help="Folder of another, on the same tasks.")],
    out: Annotated[Path | None, typer.Option(help="File for the comparison: .md or .json.")] = None,
) -> None:
    """Say which of two evaluations is better on the tasks that both have scored, and whether it is more than noise.

    The difference of success has a 95% interval and an exact test, both of pairs. The exit code is 0 either way.

    Raises:
        WorkgymError, ValueError: a folder holds no evaluation, or the two have no task in common.
    """
    from workgym.benchmarks.compare import COMPARE_COLUMNS, compare
    from workgym.benchmarks.spending import NO_PRICE, NO_USAGE
    from workgym.commands.eval_settings import read_settings
    from workgym.commands.tables import print_table, readable

    if out is not None and out.suffix not in (".md", ".json"):
        raise ValueError(f"--out {out}: the name ends with .md or .json, which says what is written")
    settings = read_settings(run_a), read_settings(run_b)
    names = tuple(f"{run}, {one.agent} on {one.suite.name}" for run, one in zip((run_a, run_b), settings, strict=True))
    notes = [*_unfinished(run_a, run_b), *_differences(*settings)]
    unknown = [NO_USAGE if one.price else NO_PRICE for one in settings]
    comparison = compare(
        _episodes(run_a),
        _episodes(run_b),
        names=(names[0], names[1]),
        notes=notes,
        unknown=(unknown[0], unknown[1]),
    )
    print_table(COMPARE_COLUMNS, comparison.rows(), n_left=2)
    typer.echo(readable("\n".join(["", *comparison.lines(), "", comparison.verdict])))
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(comparison.markdown() if out.suffix == ".md" else comparison.json(), encoding="utf-8")


def _episodes(run: Path) -> list[Trajectory]:
    from workgym.agents.archive import Archive

    with Archive.open(run / "archive") as archive:
        return list(archive)


def _unfinished(*runs: Path) -> Iterator[str]:
    for name, run in zip("AB", runs, strict=True):
        if not (run / "report.json").exists():
            yield f"{name} is not finished: to go on with it: workgym eval --resume {run}"


def _differences(a: EvalSettings, b: EvalSettings) -> Iterator[str]:
    """What else differs between the runs than who acted: a difference may come from there."""
    for name, (one, other) in _paired_settings(a, b).items():
        if one != other:
            yield f"They differ in {name}: {one} and {other}."


def _paired_settings(a: EvalSettings, b: EvalSettings) -> dict[str, tuple[Any, Any]]:
    names = ("max_turn_tokens", "temperature", "tools")
    plain = {name: (getattr(a, name), getattr(b, name)) for name in names}
    return plain | {
        "repeats": (a.suite.n_repeats, b.suite.n_repeats),
        "budgets": (_budgets(a), _budgets(b)),
    }


def _budgets(settings: EvalSettings) -> str:
    """The budgets that a suite sets, in words."""
    told = dict.fromkeys(
        f"turns {one.budget.turns or 'own'}, tokens {one.budget.tokens or 'own'}, seconds {one.budget.wall_s or 'own'}"
        for one in settings.suite.sets
    )
    return "; ".join(told)
