"""The record of one episode, true to the token.

A trajectory alone owns what was fed to the model and what the model sampled: four parallel lists, changed by `act` and
`observe` and nothing else. Text is made from tokens for people and tools; tokens are never made from text again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from workgym.agents.message import Message
from workgym.envs.verify import Attempt, Verdict

__all__ = ["Cost", "Row", "Step", "Trajectory", "Versions"]


@dataclass(slots=True)
class Cost:
    """What an episode used.

    Attributes:
        tokens_in, tokens_out: tokens fed and sampled.
        wall_s: seconds by the clock that the episode took by itself, without waiting for those beside it.
        cpu_s: seconds of CPU.
        money_usd: US dollars; None where nobody knows the price.
    """

    tokens_in: int = 0
    tokens_out: int = 0
    wall_s: float = 0.0
    cpu_s: float = 0.0
    money_usd: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Versions:
    """Versions of what decided the episode: task generator, environment package, verifier."""

    task: str = ""
    env: str = ""
    verifier: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One turn.

    Attributes:
        action: the text that the environment was given; its native tool calls as JSON.
        observation: what it answered.
        reward: of this step.
        valid: the action could be carried out.
        start, stop: the turn's sampled tokens are `ids[start:stop]`; equal for a policy without tokens.
        finish: "stop" (the policy ended its turn), "length" (it was cut) or "" (no tokens).
        policy_s, env_s: seconds by the clock that the policy and the environment took for this step alone.
    """

    action: str
    observation: str
    reward: float
    valid: bool
    start: int = 0
    stop: int = 0
    finish: str = ""
    policy_s: float = 0.0
    env_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Row:
    """Tokens that one forward pass sees together; four sequences of one length `T`.

    Attributes:
        ids: token ids [T].
        action: true exactly where the policy sampled the token [T].
        logp: log-probability under the policy that sampled it, 0 elsewhere [T].
        version: version of the weights that sampled it, -1 elsewhere [T].
    """

    ids: tuple[int, ...]
    action: tuple[bool, ...]
    logp: tuple[float, ...]
    version: tuple[int, ...]


@dataclass(slots=True)
class Trajectory:
    """One episode, from the first observation to the verdict.

    Attributes:
        rollout_id: unique among all episodes of a run.
        task_id: what was asked; `task_hash` is the hash of the whole task, so that a re-grade refuses one that drifted.
        domain, family, level, split: of the task.
        env: id and keyword arguments that make the environment again.
        seed: of the policy's randomness.
        messages: the conversation.
        steps: the turns.
        attempt: what was judged, without anything hidden.
        verdict: what it was worth.
        end_reason: why it ended: submitted, solved, gave_up, turns, tokens, wall, infrastructure.
        error: what failed, where infrastructure did.
        policy: names who acted.
    """

    rollout_id: str
    task_id: str = ""
    task_hash: str = ""
    domain: str = ""
    family: str = ""
    level: int = 0
    split: str = ""
    env: str = ""
    seed: int = 0
    policy: str = ""
    messages: list[Message] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    attempt: Attempt | None = None
    verdict: Verdict | None = None
    end_reason: str = ""
    error: str = ""
    cost: Cost = field(default_factory=Cost)
    versions: Versions = field(default_factory=Versions)
    ids: list[int] = field(default_factory=list)
    action: list[bool] = field(default_factory=list)
    logp: list[float] = field(default_factory=list)
    version: list[int] = field(default_factory=list)
    row_starts: list[int] = field(default_factory=lambda: [0])

    def observe(self, ids: Sequence[int]) -> None:
        """Append tokens that the policy was fed: prompts, observations, and what a template puts around them."""
        self.ids.extend(ids)
        self.action.extend([False] * len(ids))
        self.logp.extend([0.0] * len(ids))
        self.version.extend([-1] * len(ids))

    def act(self, ids: Sequence[int], logps: Sequence[float], version: int) -> None:
        """Append tokens that the policy sampled, the end of its turn included where it sampled one.

        Args:
            ids: token ids [T].
            logps: log-probabilities under the policy that sampled them [T].
            version: version of its weights, >= 0.

        Raises:
            ValueError: the lengths differ or the version is negative.
        """
        if len(ids) != len(logps) or version < 0:
            raise ValueError(f"{len(ids)} tokens, {len(logps)} log-probabilities, version {version}")
        self.ids.extend(ids)
        self.action.extend([True] * len(ids))
        self.logp.extend(logps)
        self.version.extend([version] * len(ids))

    def open_row(self) -> None:
        """Open a new row: what follows was sampled from a context that is not the tokens so far."""
        if self.row_starts[-1] != len(self.ids):
            self.row_starts.append(len(self.ids))

    def rows(self) -> Iterator[Row]:
        """The rows to train on."""
        for start, stop in zip(self.row_starts, [*self.row_starts[1:], len(self.ids)], strict=True):
            if stop > start:
                yield Row(
                    tuple(self.ids[start:stop]),
                    tuple(self.action[start:stop]),
                    tuple(self.logp[start:stop]),
                    tuple(self.version[start:stop]),
                )

    @property
    def n_splits(self) -> int:
        """How often the context had to be cut."""
        return len(self.row_starts) - 1

    @property
    def reward(self) -> float:
        """The verdict's reward; 0 before there is one."""
        return self.verdict.reward if self.verdict else 0.0

    @property
    def success(self) -> bool:
        """The verdict's success; false before there is one."""
        return bool(self.verdict and self.verdict.success)

    @property
    def valid(self) -> bool:
        """There is a verdict and infrastructure did not fail: the reward may be learned from and counted."""
        return bool(self.verdict and self.verdict.valid)
