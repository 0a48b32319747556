"""One episode in words, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workgym.agents.trajectory import Step, Trajectory

__all__ = ["cost_lines", "episode_lines", "rule", "verdict_lines"]

_RULE = 78


def rule(title: str, mark: str = "-") -> str:
    """A line across the terminal with a title in it."""
    return f"{mark * 2} {title} ".ljust(_RULE, mark)


def episode_lines(trajectory: Trajectory) -> list[str]:
    """A whole episode: what was asked, said and answered, the verdict and the cost."""
    lines = [
        f"rollout   {trajectory.rollout_id}",
        f"task      {trajectory.task_id} ({trajectory.domain}, {trajectory.family}, level {trajectory.level}, "
        f"{trajectory.split})",
        f"policy    {trajectory.policy}, seed {trajectory.seed}",
        f"env       {trajectory.env}",
    ]
    opening = len(trajectory.messages) - 2 * len(trajectory.steps)
    for message in trajectory.messages[: max(opening, 0)]:
        lines += [rule(message.role), message.text]
    for number, step in enumerate(trajectory.steps, start=1):
        said = trajectory.messages[opening + 2 * number - 2].text if opening > 0 else ""
        beside = [said] if said and said != step.action else []  # words beside native tool calls
        lines += [rule(f"turn {number}"), *beside, step.action, rule(_about(step), "."), step.observation]
    return [*lines, rule("verdict"), *verdict_lines(trajectory), *cost_lines(trajectory)]


def verdict_lines(trajectory: Trajectory) -> list[str]:
    """How an episode ended, what it was worth, and what each layer found."""
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


def cost_lines(trajectory: Trajectory) -> list[str]:
    """What an episode used."""
    from workgym.agents.outcomes import lacks_tokens

    cost, n_rows = trajectory.cost, trajectory.n_splits + 1
    money = f", {cost.money_usd:.4f} US dollars" if cost.money_usd else ""
    money = ", price unknown" if cost.money_usd is None else money
    used = "tokens not reported" if lacks_tokens(trajectory) else f"{cost.tokens_in} tokens in, {cost.tokens_out} out"
    lines = [f"cost      {used}, {cost.wall_s:.2f} s, {cost.cpu_s:.3f} CPU-s{money}"]
    if not trajectory.ids:
        return lines
    return [
        *lines,
        f"tokens    {len(trajectory.ids)} kept, {sum(trajectory.action)} sampled, in {n_rows} row{'s' * (n_rows > 1)}",
    ]


def _about(step: Step) -> str:
    parts = [f"reward {step.reward:g}"]
    if step.stop > step.start:
        parts.append(f"{step.stop - step.start} tokens, {step.finish or 'open'}")
    if not step.valid:
        parts.append("could not be carried out")
    parts.append(f"policy {step.policy_s:.3f} s, environment {step.env_s:.3f} s")
    return ", ".join(parts)
