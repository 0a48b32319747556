"""`workgym archive`: look into archived episodes, and judge them again."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from workgym.agents.archive import Archive
    from workgym.agents.regrade import Regrade
    from workgym.agents.trajectory import Trajectory

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Look into archived episodes, and judge them again.")

_HEADS = ("rollout", "domain", "family", "split", "policy", "end", "level", "reward", "success", "turns", "tokens")

Folder = Annotated[Path, typer.Argument(metavar="PATH", help="An archive, or the folder of a run that has one.")]
Domain = Annotated[str, typer.Option(help="Only this domain.")]
Family = Annotated[str, typer.Option(help="Only this family.")]
Level = Annotated[int | None, typer.Option(help="Only this level.")]
Split = Annotated[str, typer.Option(help="Only this split.")]
PolicyName = Annotated[str, typer.Option(help="Only this policy.")]
EndReason = Annotated[str, typer.Option(help="Only episodes that ended so: submitted, turns, tokens, wall, ...")]
Success = Annotated[bool | None, typer.Option("--success/--failure", help="Only episodes that succeeded, or did not.")]
Valid = Annotated[bool | None, typer.Option("--valid/--invalid", help="Only where infrastructure held, or failed.")]
Prefix = Annotated[str, typer.Option(help="Only rollouts whose id begins so: a stage, a task.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("ls")
def list_episodes(
    path: Folder,
    domain: Domain = "",
    family: Family = "",
    level: Level = None,
    split: Split = "",
    policy: PolicyName = "",
    end_reason: EndReason = "",
    success: Success = None,
    valid: Valid = None,
    prefix: Prefix = "",
    limit: Annotated[int, typer.Option(help="The last so many; 0 for all.", min=0)] = 50,
    as_json: AsJson = False,
) -> None:
    """List episodes."""
    from workgym.commands.tables import print_table

    filters = _filters(domain, family, level, split, policy, end_reason, success, valid)
    with _open(path) as archive:
        found = archive.entries(prefix=prefix, **filters)
        n_all = len(archive)
    shown = found[-limit:] if limit else found
    if as_json:
        for entry in shown:
            typer.echo(json.dumps(asdict(entry)))
        return
    rows = [
        [
            entry.rollout_id,
            entry.domain,
            entry.family,
            entry.split,
            entry.policy,
            entry.end_reason,
            str(entry.level),
            f"{entry.reward:.3f}" if entry.valid else "-",
            ("yes" if entry.success else "no") if entry.valid else "invalid",
            str(entry.n_turns),
            str(entry.n_tokens),
        ]
        for entry in shown
    ]
    print_table(_HEADS, rows, n_left=6)
    typer.echo(f"\n{len(shown)} shown of {len(found)} that match, of {n_all} in all. To read one:")
    typer.echo(f"  workgym archive show {path} {shown[-1].rollout_id if shown else 'ROLLOUT'}")


@app.command("show")
def show_episode(
    path: Folder,
    rollout: Annotated[str, typer.Argument(metavar="ROLLOUT", help="Its id, or how the id begins.")],
    as_json: AsJson = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write one page for a browser instead; it needs no network.")
    ] = None,
    tokenizer: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="The model whose tokens the page shows. [default: the run's own]"),
    ] = None,
) -> None:
    """Print one episode, or write it as a page: what was asked, said and answered, the verdict and the cost."""
    from workgym.agents.records import to_record
    from workgym.commands.episode_text import episode_lines
    from workgym.commands.tables import readable

    if (html is not None and as_json) or (tokenizer is not None and html is None):
        raise ValueError("--html writes a page: give no --json beside it, and --tokenizer only with it")
    with _open(path) as archive:
        trajectory = archive.get(rollout)
    if html is not None:
        _write_page(trajectory, html, tokenizer, path)
    elif as_json:
        typer.echo(json.dumps(to_record(trajectory), indent=2))
    else:
        typer.echo(readable("\n".join(episode_lines(trajectory))))


@app.command("regrade")
def judge_again(
    path: Folder,
    domain: Domain = "",
    family: Family = "",
    level: Level = None,
    split: Split = "",
    policy: PolicyName = "",
    success: Success = None,
    prefix: Prefix = "",
    skip_drifted: Annotated[
        bool, typer.Option(help="Leave out tasks that have changed since, and say how many.")
    ] = False,
    report: Annotated[Path | None, typer.Option(help="Folder for a report of the new verdicts.")] = None,
) -> None:
    """Judge archived attempts again. The exit code is 0 if every verdict came out the same, to the bit, else 1."""
    from workgym.agents.regrade import regrade
    from workgym.commands.agents import import_from_here

    import_from_here()  # an environment of a module of the current folder
    filters = _filters(domain, family, level, split, policy, "", success, None)
    with _open(path) as archive:
        episodes = list(archive.query(prefix=prefix, **filters))
    result = regrade(episodes, skip_drifted=skip_drifted)
    for one in result.results:
        if one.status in ("different", "drifted"):
            typer.echo(f"{one.rollout_id}: {one.status}, {one.detail}")
            typer.echo(f"  then {one.then}\n  now  {one.now}" if one.now else f"  then {one.then}")
    counts = {status: result.count(status) for status in ("equal", "different", "drifted", "nothing")}
    typer.echo(
        f"{counts['equal']} verdicts came out the same, {counts['different']} did not, {counts['drifted']} tasks have "
        f"changed since, {counts['nothing']} had no verdict to compare with."
    )
    if report is not None:
        _write_report(report, path, episodes, result)
    raise typer.Exit(0 if result.reproduced else 1)


def _open(path: Path) -> Archive:
    """Open the archive at a path, or that of the run at a path."""
    from workgym.agents.archive import FRAMES, Archive

    inside = path / "archive"
    return Archive.open(inside if not (path / FRAMES).exists() and (inside / FRAMES).exists() else path)


def _write_page(trajectory: Trajectory, file: Path, tokenizer: Path | None, run: Path) -> None:
    from workgym.agents.page import episode_page
    from workgym.commands.token_texts import find_token_text

    token_text = find_token_text(tokenizer, run) if trajectory.ids else None
    file.write_text(episode_page(trajectory, token_text), encoding="utf-8")
    typer.echo(f"{file} holds the episode; any browser opens it.")
    if trajectory.ids and token_text is None:
        typer.echo("Its tokens stand there as ids: --tokenizer FOLDER names the model that they belong to.")


def _filters(
    domain: str,
    family: str,
    level: int | None,
    split: str,
    policy: str,
    end_reason: str,
    success: bool | None,
    valid: bool | None,
) -> dict[str, Any]:
    """The filters that were given."""
    texts = {"domain": domain, "family": family, "split": split, "policy": policy, "end_reason": end_reason}
    others = {"level": level, "success": success, "valid": valid}
    return {name: text for name, text in texts.items() if text} | {
        name: value for name, value in others.items() if value is not None
    }


def _write_report(folder: Path, path: Path, episodes: list[Trajectory], result: Regrade) -> None:
    from workgym.benchmarks.report import make_report, write_report

    judged = [
        replace(episode, verdict=one.now or one.then) for episode, one in zip(episodes, result.results, strict=True)
    ]
    write_report(make_report(judged, title=f"{path}, judged again"), folder)
