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
    from workgym.agents.trajectory import Step, Trajectory

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Look into archived episodes, and judge them again.")

_HEADS = ("rollout", "domain", "family", "split", "policy", "end", "level", "reward", "success", "turns", "tokens")
_RULE = 78

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
) -> None:
    """Print one episode: what was asked, said and answered, the verdict and the cost."""
    from workgym.agents.records import to_record
    from workgym.commands.tables import readable

    with _open(path) as archive:
        trajectory = archive.get(rollout)
    if as_json:
        typer.echo(json.dumps(to_record(trajectory), indent=2))
    else:
        typer.echo(readable("\n".join(_lines(trajectory))))


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


# ---- one episode in words


def _lines(trajectory: Trajectory) -> list[str]:
    lines = [
        f"rollout   {trajectory.rollout_id}",
        f"task      {trajectory.task_id} ({trajectory.domain}, {trajectory.family}, level {trajectory.level}, "
        f"{trajectory.split})",
        f"policy    {trajectory.policy}, seed {trajectory.seed}",
        f"env       {trajectory.env}",
    ]
    opening = len(trajectory.messages) - 2 * len(trajectory.steps)
    for message in trajectory.messages[: max(opening, 0)]:
        lines += [_rule(message.role), message.text]
    for number, step in enumerate(trajectory.steps, start=1):
        lines += [_rule(f"turn {number}"), step.action, _rule(_about(step), "."), step.observation]
    return [*lines, _rule("verdict"), *_verdict_lines(trajectory), *_cost_lines(trajectory)]


def _rule(title: str, mark: str = "-") -> str:
    return f"{mark * 2} {title} ".ljust(_RULE, mark)


def _about(step: Step) -> str:
    parts = [f"reward {step.reward:g}"]
    if step.stop > step.start:
        parts.append(f"{step.stop - step.start} tokens, {step.finish or 'open'}")
    if not step.valid:
        parts.append("could not be carried out")
    parts.append(f"policy {step.policy_s:.3f} s, environment {step.env_s:.3f} s")
    return ", ".join(parts)


def _verdict_lines(trajectory: Trajectory) -> list[str]:
    verdict = trajectory.verdict
    ended = f"ended     {trajectory.end_reason}" + (f": {trajectory.error}" if trajectory.error else "")
    if verdict is None or not verdict.valid:
        return [ended, "reward    none: infrastructure failed, and the episode counts nowhere"]
    outcome = "success" if verdict.success else "no success"
    lines = [ended, f"reward    {verdict.reward:g}, {outcome}{'' if verdict.integrity else ', BREACH of integrity'}"]
    for check in verdict.checks:
        label = f" [{check.label}]" if check.label else ""
        lines.append(f"  check   {check.name} {check.score:g}{label} {check.detail}".rstrip())
    attempt = trajectory.attempt
    if attempt is not None and attempt.submission is not None:
        lines.append(f"submitted {attempt.submission}")
    if attempt is not None and attempt.files:
        lines.append(f"files     {', '.join(f'{name} ({len(data)} bytes)' for name, data in attempt.files.items())}")
    return lines


def _cost_lines(trajectory: Trajectory) -> list[str]:
    cost, n_rows = trajectory.cost, trajectory.n_splits + 1
    money = f", {cost.money_usd:.4f} US dollars" if cost.money_usd else ""
    return [
        f"cost      {cost.tokens_in} tokens in, {cost.tokens_out} out, "
        f"{cost.wall_s:.2f} s, {cost.cpu_s:.3f} CPU-s{money}",
        f"tokens    {len(trajectory.ids)} kept, {sum(trajectory.action)} sampled, in {n_rows} row{'s' * (n_rows > 1)}",
    ]
