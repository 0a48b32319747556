"""The episode loop: one policy, many environments, one wave of turns after another.

In each wave the policy takes one turn in every running conversation; the environments then take their steps at the same
time, in threads; what they say is put in order by seat, so that nothing but the measured times depends on which thread
was first. Environments whose episode ended take the next seats.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, SupportsFloat

from workgym.agents.clock import cpu_seconds
from workgym.agents.message import message
from workgym.agents.policy import Conversation, Policy, Turn
from workgym.agents.rack import AnyEnv, EnvRack, Seat, env_recipe
from workgym.agents.trajectory import Step, Trajectory, Versions
from workgym.envs.env import WorkEnv
from workgym.envs.verify import Verdict
from workgym.tasks.errors import PolicyError
from workgym.tasks.task import Budget

__all__ = ["play"]


_Answer = tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class _Result:
    """What an environment answered to one turn."""

    observation: Any
    reward: float
    ended: bool
    info: dict[str, Any]
    valid: bool
    env_s: float


@dataclass(slots=True)
class _Slot:
    """A place of the rack with the episode that runs there.

    `used_s` are the seconds that the episode took by itself: how many run beside it must not decide what it is worth.
    """

    place: int
    order: int
    env: AnyEnv
    conversation: Conversation
    budget: Budget
    used_s: float

    @property
    def trajectory(self) -> Trajectory:
        return self.conversation.trajectory


def play(
    policy: Policy,
    rack: EnvRack,
    seats: Sequence[Seat],
    *,
    max_turn_tokens: int = 1024,
    on_end: Callable[[Trajectory], None] | None = None,
    policy_name: str = "",
) -> list[Trajectory]:
    """Play an episode for every seat.

    Args:
        policy: acts.
        rack: where; its `n_envs` bounds how many episodes run at once.
        seats: what is played.
        max_turn_tokens: tokens that one turn may have; less where the task's budget holds less.
        on_end: called with each trajectory as it ends, in an order that does not depend on timing.
        policy_name: names the policy in the trajectories; its own name by default.

    Returns:
        The trajectories in the order of the seats. One whose infrastructure failed has `valid` False.

    Raises:
        PolicyError: the policy failed.
        SandboxError: an environment cannot be reset on this machine.
        ValueError: two seats have one rollout id.
    """
    if len({seat.rollout_id for seat in seats}) != len(seats):
        raise ValueError(f"the rollout ids of {len(seats)} seats are not distinct: give each episode its own")
    waiting = deque(enumerate(seats))
    played: dict[int, Trajectory] = {}
    running: list[_Slot] = []
    with _forgetting(policy, running):
        while waiting or running:
            began_cpu_s = cpu_seconds()
            _fill(rack, running, waiting, policy_name or policy.name)
            for slot in _wave(policy, rack, running, max_turn_tokens, began_cpu_s):
                played[slot.order] = slot.trajectory
                if on_end is not None:
                    on_end(slot.trajectory)
    return [played[order] for order in range(len(seats))]


@contextmanager
def _forgetting(policy: Policy, running: list[_Slot]) -> Iterator[None]:
    """Whatever happens, the policy keeps nothing of the episodes that were cut off."""
    try:
        yield
    finally:
        if running:
            policy.forget([slot.trajectory.rollout_id for slot in running])


# ---- starting


def _fill(rack: EnvRack, running: list[_Slot], waiting: deque[tuple[int, Seat]], policy_name: str) -> None:
    """Start the next seats in the free places, the lowest place first."""
    taken = {slot.place for slot in running}
    free = [place for place in range(rack.n_envs) if place not in taken][: len(waiting)]
    seats = [waiting.popleft() for _ in free]
    envs = [rack.env(place) for place in free]
    running += rack.threads.map(_start, free, seats, envs, [policy_name] * len(free))
    running.sort(key=lambda slot: slot.place)


def _start(place: int, numbered: tuple[int, Seat], env: AnyEnv, policy_name: str) -> _Slot:
    order, seat = numbered
    began_s = time.monotonic()
    observation, info = env.reset(seed=seat.seed, options={"task": seat.task})
    inner = env.unwrapped
    if not isinstance(inner, WorkEnv):
        raise TypeError(f"{type(inner).__name__} is no WorkEnv: only environments of workgym can be played")
    text = _text(observation)
    domain, task = inner.domain, seat.task
    opening = [message("system", domain.instructions)] if domain.instructions else []
    opening.append(message("user", text))
    trajectory = Trajectory(
        rollout_id=seat.rollout_id,
        task_id=task.id,
        task_hash=task.content_hash(),
        domain=task.domain,
        family=task.family,
        level=task.level,
        split=task.split,
        env=env_recipe(env),
        seed=seat.seed,
        policy=policy_name,
        messages=list(opening),
        versions=Versions(domain.source.version, _own_version(), domain.version),
    )
    conversation = Conversation(trajectory, inner.tools_schema(), opening, text, info, inner)
    return _Slot(place, order, env, conversation, task.budget, time.monotonic() - began_s)


# ---- one wave


def _wave(policy: Policy, rack: EnvRack, running: list[_Slot], max_turn_tokens: int, began_cpu_s: float) -> list[_Slot]:
    """Take one turn in every conversation; take those that ended out of `running` and return them.

    The CPU that the wave took, sandboxes included, is shared evenly: who used how much of it cannot be told apart.
    """
    for slot in running:
        slot.conversation.max_tokens = _tokens_left(slot, max_turn_tokens)
    began_s = time.monotonic()
    turns = policy.act([slot.conversation for slot in running])
    shared_s = (time.monotonic() - began_s) / len(running)
    _check(policy, turns, len(running))
    policy_s = [shared_s if turn.own_s is None else turn.own_s for turn in turns]
    for slot, turn, took_s in zip(running, turns, policy_s, strict=True):
        slot.used_s += took_s
        _hear(slot.trajectory, turn)
    results = list(rack.threads.map(_answer, running, turns))
    cpu_s = (cpu_seconds() - began_cpu_s) / len(running)
    ended = []
    for slot, turn, result, took_s in zip(running, turns, results, policy_s, strict=True):
        slot.trajectory.cost.cpu_s += cpu_s
        _record(slot, turn, result, took_s)
        if result.ended:
            _conclude(slot)
            ended.append(slot)
    if ended:
        running[:] = [slot for slot in running if slot not in ended]
        policy.forget([slot.trajectory.rollout_id for slot in ended])
    return ended


def _check(policy: Policy, turns: Sequence[Turn], n: int) -> None:
    """Refuse what is no turn: a policy that is broken is not a policy that fails its tasks."""
    if len(turns) != n:
        raise PolicyError(f"policy {policy.name!r} took {len(turns)} turns in {n} conversations")
    for turn in turns:
        if not isinstance(turn, Turn):
            raise PolicyError(f"policy {policy.name!r} returned a {type(turn).__name__}, not a Turn")
        if not isinstance(turn.text, str):
            raise PolicyError(f"policy {policy.name!r} acted with a {type(turn.text).__name__}; an action is a text")


def _hear(trajectory: Trajectory, turn: Turn) -> None:
    """Enter the tokens of a turn."""
    if turn.split:
        trajectory.open_row()
    trajectory.observe(turn.fed)
    trajectory.act(turn.ids, turn.logps, turn.version)
    cost = trajectory.cost
    cost.tokens_in += turn.tokens_in or len(turn.fed)
    cost.tokens_out += turn.tokens_out or len(turn.ids)
    unknown = cost.money_usd is None or turn.money_usd is None
    cost.money_usd = None if unknown else (cost.money_usd or 0.0) + (turn.money_usd or 0.0)


def _answer(slot: _Slot, turn: Turn) -> _Result:
    """Carry out a turn, unless it came too late or was cut off by the budget; runs in a thread of the rack.

    A budget that is used up after the turn ends the episode as well: what stands is judged, and the turn is answered by
    what the step and the end say together.
    """
    began_s = time.monotonic()
    if turn.error:  # what the environment holds is judged by nobody, and its next reset closes it
        info = slot.conversation.info | {"end_reason": "infrastructure", "error": turn.error}
        return _Result("", 0.0, True, info, False, 0.0)
    inner = slot.conversation.env
    reason = _spent(slot) if turn.finish == "length" or _late(slot) else ""
    if turn.finish == "length" and not (turn.ids or turn.tokens_out or turn.text or turn.calls):
        reason = reason or "tokens"  # the model's context is full: it can say nothing more
    reason = reason or ("gave_up" if turn.finish == "gave_up" else "")
    answer: _Answer = inner.finish(reason) if reason else slot.env.step(turn.action)
    slot.used_s += time.monotonic() - began_s
    observation, reward, terminated, truncated, info = answer
    total, valid = float(reward), not reason and bool(info["action_valid"])
    spent = "" if terminated or truncated else _spent(slot)
    if spent:
        _, rest, terminated, truncated, info = inner.finish(spent)
        total += rest
    return _Result(
        observation,
        total,
        terminated or truncated,
        info,
        valid,
        time.monotonic() - began_s,
    )


def _record(slot: _Slot, turn: Turn, result: _Result, policy_s: float) -> None:
    """Enter what was done and what the environment answered."""
    conversation, trajectory = slot.conversation, slot.trajectory
    text = _text(result.observation)
    stop = len(trajectory.ids)
    trajectory.steps.append(
        Step(
            action=turn.shown,
            observation=text,
            reward=result.reward,
            valid=result.valid,
            start=stop - len(turn.ids),
            stop=stop,
            finish=turn.finish,
            policy_s=policy_s,
            env_s=result.env_s,
        )
    )
    answer = message("tool", text)
    trajectory.messages += [turn.message, answer]
    conversation.unread = [answer]
    conversation.observation, conversation.info = text, result.info


def _conclude(slot: _Slot) -> None:
    """Enter how the episode ended."""
    trajectory, inner, info = slot.trajectory, slot.conversation.env, slot.conversation.info
    trajectory.cost.wall_s = slot.used_s
    trajectory.attempt = inner.attempt
    trajectory.verdict = inner.verdict or Verdict.invalid()
    trajectory.end_reason = info["end_reason"] or "infrastructure"
    trajectory.error = info["error"]
    if not info["end_reason"]:
        trajectory.error = "a wrapper cut the episode off before it was judged"


# ---- budgets


def _tokens_left(slot: _Slot, max_turn_tokens: int) -> int:
    if not slot.budget.tokens:
        return max_turn_tokens
    return max(1, min(max_turn_tokens, slot.budget.tokens - slot.trajectory.cost.tokens_out))


def _late(slot: _Slot) -> bool:
    return 0 < slot.budget.wall_s <= slot.used_s


def _spent(slot: _Slot) -> str:
    """The budget that is used up, "" for none."""
    if 0 < slot.budget.tokens <= slot.trajectory.cost.tokens_out:
        return "tokens"
    return "wall" if _late(slot) else ""


# ---- odds and ends


def _text(observation: Any) -> str:
    return str(observation if isinstance(observation, str) else observation["text"])


@cache
def _own_version() -> str:
    try:
        return version("workgym")
    except PackageNotFoundError:
        return ""
