"""The one environment of the suite: any domain, as a `gymnasium.Env`.

It owns turns, the cap on observations, faults and info; the session owns the world, and `verify.judge` owns the reward.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import gymnasium as gym
import numpy as np

from workgym.envs.domain import Domain, Observation, Session
from workgym.envs.sandbox.protocol import Pools
from workgym.envs.spaces import ActionSpace, TextSpace
from workgym.envs.tool import End, ToolTable
from workgym.envs.verify import Attempt, Verdict, check_layers, judge
from workgym.tasks.errors import ActionError, SandboxError, TaskError
from workgym.tasks.naming import unknown_name
from workgym.tasks.source import SPLITS
from workgym.tasks.task import Task

__all__ = ["END_REASONS", "EnvSnapshot", "WorkEnv"]

END_REASONS: Final = ("submitted", "solved", "gave_up", "turns", "tokens", "wall", "infrastructure")

_log = logging.getLogger(__name__)
_OPTIONS: Final = ("task_id", "task", "level", "split")
_CHARS_PER_TOKEN: Final = 4
_MAX_ACTION_CHARS: Final = 1_000_000
_MAX_CALLS: Final = 16
_IMAGE_SHAPE: Final = (720, 1280, 3)


@dataclass(frozen=True, slots=True)
class EnvSnapshot:
    """An episode as it stood: enough to go on from there, in this environment or another of the same domain."""

    task: Task
    split: str
    transcript: tuple[tuple[Any, str], ...]
    action_valid: bool
    session: object
    generator: Mapping[str, Any]


class WorkEnv(gym.Env[Any, Any]):
    """An environment in which an agent works on tasks of one domain.

    Observation: text, only what is new; `Dict(text, image)` in a domain with pictures. Action: the model's text, a tool call
    `{"name", "arguments"}`, or a list of them. A malformed action is answered, never raised. The reward comes with the last
    step, lies in [0, 1] and equals `verdict.reward`.

    Args:
        domain: what is asked, where it is done and who judges it.
        level: difficulty of the tasks drawn.
        split: "train", "validation" or "test".
        strict: let infrastructure faults through `step` as exceptions.
        max_observation_tokens: cap of one observation, counted as 4 characters a token; the domain's default if 0.
        render_mode: None or "ansi".

    Raises:
        ValueError: the level, the split or the render mode does not exist.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 4}  # noqa: RUF012 - Gymnasium's own name and type

    def __init__(
        self,
        domain: Domain,
        *,
        level: int = 1,
        split: str = "train",
        strict: bool = False,
        max_observation_tokens: int = 0,
        render_mode: str | None = None,
    ) -> None:
        check_layers(domain.layers)
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(unknown_name("render mode", render_mode, self.metadata["render_modes"]))
        if max_observation_tokens < 0:
            raise ValueError(f"max_observation_tokens must be >= 0, not {max_observation_tokens}")
        self.domain: Final = domain
        self.level = _known_level(domain, level)
        self.split = _known_split(split)
        self.strict = strict
        self.render_mode = render_mode
        self.max_chars: Final = _CHARS_PER_TOKEN * (max_observation_tokens or domain.max_observation_tokens)
        self.action_space = ActionSpace(_MAX_ACTION_CHARS)
        self.observation_space = _observation_space(self.max_chars, domain.has_image)
        self._pools: Pools | None = None
        self._session: Session | None = None
        self._table: ToolTable | None = None
        self._task: Task | None = None
        self._running = False
        self._turn = 0
        self._turn_limit = 0
        self._transcript: list[tuple[Any, str]] = []
        self._info: dict[str, Any] = {}
        self._verdict: Verdict | None = None
        self._attempt: Attempt | None = None

    # ---------------------------------------------------------------- Gymnasium

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode.

        Args:
            seed: decides the task and every generated file.
            options: `task` (a Task), or `task_id`, or `level` and `split` to draw from.

        Returns:
            The first observation and the info.

        Raises:
            ValueError: an option is unknown.
            TaskError: there is no such task.
            SandboxError: isolation, a browser or a package is missing; the message says how to get it.
        """
        super().reset(seed=seed)
        task = self._choose_task(dict(options or {}))
        self._open_episode(task)
        assert self._session is not None
        first = self._cap(self._session.observe())
        self._transcript = [("", first.text)]
        return self._shown(first), self._info.copy()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Carry out one action.

        Args:
            action: a text, a tool call or a list of tool calls.

        Returns:
            Observation, reward, terminated, truncated and info.

        Raises:
            gymnasium.error.ResetNeeded: no episode is running.
            SandboxError: infrastructure failed, and the environment is strict.
        """
        if not self._running:
            raise gym.error.ResetNeeded("no episode is running: call reset() first")
        table = self._table
        assert table is not None
        self._turn += 1
        valid = True
        try:
            if type(action) is str:
                result = table.do_text(action) if len(action) <= _MAX_ACTION_CHARS else _refuse_length(action)
            else:
                result = _do_calls(table, action)
        except ActionError as error:
            valid, result = False, f"error: {error}"
        except Exception as error:
            return self._fail(action, error)
        end = None
        if type(result) is not str:
            end, result = _split_end(result)
        shown = self._shown_text(result)
        self._transcript.append((action, shown if type(shown) is str else shown["text"]))
        info = self._info
        info["turn"] = self._turn
        info["action_valid"] = valid
        if end is not None:
            return self._finish(shown, end.reason, end.submission)
        if self._turn == self._turn_limit:
            return self._finish(shown, "turns", None)
        return shown, 0.0, False, False, info.copy()

    def finish(self, reason: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """End the episode for a budget that the environment cannot see, and judge what stands.

        Args:
            reason: "tokens" or "wall" ("turns" for a limit of the caller's own).

        Returns:
            The same five values as `step`.

        Raises:
            ValueError: the reason is another.
            gymnasium.error.ResetNeeded: no episode is running.
        """
        if reason not in ("tokens", "wall", "turns"):
            raise ValueError(unknown_name("reason", reason, ("tokens", "wall", "turns")))
        if not self._running:
            raise gym.error.ResetNeeded("no episode is running: call reset() first")
        return self._finish(self._shown_text(""), reason, None)

    def render(self) -> Any:
        """With `render_mode="ansi"`: the conversation so far, as text."""
        if self.render_mode is None:
            return None
        turns = [f"> {action}\n{observation}" if action else observation for action, observation in self._transcript]
        return "\n".join(turns)

    def close(self) -> None:
        """End the episode and give back the pools. Idempotent."""
        self._close_session()
        if self._pools is not None:
            self._pools.close()
            self._pools = None

    # ------------------------------------------------------------------- extras

    @property
    def task(self) -> Task:
        """The whole task, its hidden part included; never leaves this process.

        Raises:
            gymnasium.error.ResetNeeded: there is none yet.
        """
        if self._task is None:
            raise gym.error.ResetNeeded("there is no task yet: call reset() first")
        return self._task

    @property
    def verdict(self) -> Verdict | None:
        """What the last episode was worth; None while it runs."""
        return self._verdict

    @property
    def attempt(self) -> Attempt | None:
        """What was judged; None while the episode runs and where infrastructure failed before."""
        return self._attempt

    @property
    def table(self) -> ToolTable:
        """The tools of the episode.

        Raises:
            gymnasium.error.ResetNeeded: there is none yet.
        """
        if self._table is None:
            raise gym.error.ResetNeeded("there are no tools yet: call reset() first")
        return self._table

    def tools_schema(self) -> list[dict[str, Any]]:
        """The tools as chat templates and OpenAI-compatible endpoints take them."""
        return self.table.schema()

    def oracle_action(self) -> str:
        """What the domain's oracle would do now.

        Raises:
            TaskError: the domain has no oracle.
        """
        oracle = self.domain.players.get("oracle")
        if oracle is None:
            raise TaskError(f"domain {self.domain.name!r} has no oracle")
        return oracle(self._transcript[-1][1], self._info.copy(), self)

    def grade(self, attempt: Attempt) -> Verdict:
        """Judge an attempt, this episode's or an archived one, in graders of its own.

        Raises:
            TaskError: the attempt's task cannot be loaded.
            SandboxError: infrastructure failed.
            VerifierError: a verifier broke its contract.
        """
        task = self._task
        if task is None or task.id != attempt.task_id:
            task = self.domain.source.load(attempt.task_id)
        return judge(self.domain.layers, self.domain.examine(attempt, task, self._open_pools()))

    def snapshot(self) -> EnvSnapshot:
        """The episode as it stands.

        Raises:
            gymnasium.error.ResetNeeded: no episode is running.
        """
        if not self._running or self._session is None:
            raise gym.error.ResetNeeded("no episode is running: call reset() first")
        try:
            session = self._session.snapshot()
        except SandboxError:
            session = None  # `restore` replays the actions instead
        valid = bool(self._info["action_valid"])
        generator = self.np_random.bit_generator.state
        return EnvSnapshot(self.task, self.split, tuple(self._transcript), valid, session, generator)

    def restore(self, snapshot: EnvSnapshot) -> None:
        """Go back to where the snapshot was taken.

        Raises:
            SandboxError: the domain cannot copy its state, and replaying the actions gave other observations.
        """
        self._open_episode(snapshot.task)
        assert self._session is not None
        if snapshot.session is None:
            self._replay(snapshot)
        else:
            self._session.restore(snapshot.session)
            self._transcript = list(snapshot.transcript)
        self._turn = len(snapshot.transcript) - 1
        self._info["turn"] = self._turn
        self._info["action_valid"] = snapshot.action_valid
        self.np_random.bit_generator.state = dict(snapshot.generator)

    def fork(self, n: int) -> list[WorkEnv]:
        """Make n environments that stand where this one stands, and are independent from then on.

        Raises:
            SandboxError: as `restore`.
        """
        snapshot = self.snapshot()
        copies = []
        for _ in range(n):
            copy = WorkEnv(
                self.domain,
                level=self.level,
                split=self.split,
                strict=self.strict,
                max_observation_tokens=self.max_chars // _CHARS_PER_TOKEN,
                render_mode=self.render_mode,
            )
            copy.spec = self.spec
            copy.restore(snapshot)
            copies.append(copy)
        return copies

    # ----------------------------------------------------------------- the inside

    def _choose_task(self, options: dict[str, Any]) -> Task:
        for name in options:
            if name not in _OPTIONS:
                raise ValueError(unknown_name("reset option", name, _OPTIONS))
        if "task" in options:
            task = options["task"]
            if not isinstance(task, Task):
                raise ValueError(f"the reset option 'task' must be a Task, not {type(task).__name__}")
            return task
        if "task_id" in options:
            return self.domain.source.load(options["task_id"])
        level = _known_level(self.domain, options.get("level", self.level))
        split = _known_split(options.get("split", self.split))
        return self.domain.source.sample(level, self.np_random, split)

    def _open_pools(self) -> Pools | None:
        if self._pools is None and self.domain.open_pools is not None:
            pools = self.domain.open_pools()
            try:
                pools.check()
            except BaseException:
                pools.close()
                raise
            self._pools = pools
        return self._pools

    def _open_episode(self, task: Task) -> None:
        self._close_session()
        self._verdict = self._attempt = None
        self._session = self.domain.open_session(task, self._open_pools())
        self._table = self._session.tools
        self._task = task
        self._turn = 0
        self._turn_limit = task.budget.turns
        self._running = True
        self._info = {
            "task_id": task.id,
            "domain": task.domain,
            "family": task.family,
            "level": task.level,
            "split": task.split,
            "turn": 0,
            "tools": self._table.names,
            "action_valid": True,
            "reward_breakdown": "{}",
            "reward_valid": False,
            "is_success": False,
            "end_reason": "",
            "error": "",
        }

    def _close_session(self) -> None:
        self._running = False
        if self._session is not None:
            session, self._session = self._session, None
            session.close()

    def _replay(self, snapshot: EnvSnapshot) -> None:
        assert self._session is not None
        self._transcript = [("", self._cap(self._session.observe()).text)]
        for action, seen in snapshot.transcript[1:]:
            observation, _, terminated, truncated, _ = self.step(action)
            text = observation if isinstance(observation, str) else observation["text"]
            if text != seen or terminated or truncated:
                raise SandboxError(f"replaying {action!r} gave another observation: the state cannot be copied")

    def _finish(self, shown: Any, reason: str, submission: str | None) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert self._session is not None
        assert self._task is not None
        try:
            self._attempt = self._session.attempt(submission)
            verdict = judge(self.domain.layers, self.domain.examine(self._attempt, self._task, self._pools))
        except Exception as error:
            return self._fail(None, error)
        self._verdict = verdict
        self._close_session()
        info = self._info
        info["reward_breakdown"] = json.dumps({check.name: check.score for check in verdict.checks})
        info["reward_valid"] = verdict.valid
        info["is_success"] = verdict.success
        info["end_reason"] = reason
        terminated = reason in ("submitted", "solved", "gave_up")
        return shown, verdict.reward, terminated, not terminated, info.copy()

    def _fail(self, action: Any, error: Exception) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """End the episode where infrastructure failed: nothing of it is judged."""
        if self.strict:
            raise error
        _log.warning("infrastructure failed in task %s: %s: %s", self.task.id, type(error).__name__, error)
        self._verdict = Verdict.invalid()
        self._running = False
        try:
            self._close_session()
        except Exception as closing:
            _log.warning("closing the session failed too: %s", closing)
        shown = self._shown_text("the episode ended: infrastructure failed")
        if action is not None:
            self._transcript.append((action, shown if type(shown) is str else shown["text"]))
        info = self._info
        info["turn"] = self._turn
        info["end_reason"] = "infrastructure"
        info["error"] = f"{type(error).__name__}: {error}"
        return shown, 0.0, False, True, info.copy()

    def _cap(self, observation: Observation) -> Observation:
        if len(observation.text) <= self.max_chars:
            return observation
        return Observation(_clip(observation.text, self.max_chars), observation.image)

    def _shown_text(self, text: str) -> Any:
        """What the agent sees of a tool's text; with pictures, the session adds the current one."""
        if len(text) > self.max_chars:
            text = _clip(text, self.max_chars)
        if not self.domain.has_image:
            return text
        image = self._session.observe().image if self._session is not None else None
        return self._shown(Observation(text, image))

    def _shown(self, observation: Observation) -> Any:
        if not self.domain.has_image:
            return observation.text
        image = observation.image if observation.image is not None else np.zeros(_IMAGE_SHAPE, np.uint8)
        return {"text": observation.text, "image": image}


def _do_calls(table: ToolTable, action: Any) -> str | End:
    """Carry out a tool call or a list of them; a list stops at the first that fails or ends the episode."""
    if isinstance(action, Mapping):
        return table.do_call(action)
    if not isinstance(action, Sequence) or isinstance(action, (bytes, str)):
        raise ActionError(f"an action is a text, a tool call or a list of tool calls, not {type(action).__name__}")
    if not 0 < len(action) <= _MAX_CALLS:
        raise ActionError(f"a list of tool calls holds 1 to {_MAX_CALLS}, not {len(action)}")
    texts = []
    for call in action:
        if not isinstance(call, Mapping):
            raise ActionError(f"a tool call is an object with name and arguments, not {type(call).__name__}")
        try:
            result = table.do_call(call)
        except ActionError as error:
            raise ActionError("\n".join([*texts, str(error)])) from error
        if not isinstance(result, str):
            return End(result.reason, result.submission, "\n".join([*texts, result.text]))
        texts.append(result)
    return "\n".join(texts)


def _refuse_length(action: str) -> str:
    raise ActionError(f"the action has {len(action)} characters; at most {_MAX_ACTION_CHARS} are read")


def _split_end(result: str | End) -> tuple[End | None, str]:
    return (result, result.text) if isinstance(result, End) else (None, str(result))


def _clip(text: str, max_chars: int) -> str:
    """Leave out the middle, and say how much of it."""
    note = f"\n[... {len(text) - max_chars} and more characters left out ...]\n"
    if len(note) >= max_chars:
        return text[:max_chars]
    head = (max_chars - len(note)) // 2
    return text[:head] + note + text[len(text) - (max_chars - len(note) - head) :]


def _observation_space(max_chars: int, has_image: bool) -> gym.Space[Any]:
    text = TextSpace(max_chars)
    if not has_image:
        return text
    return gym.spaces.Dict({"text": text, "image": gym.spaces.Box(0, 255, _IMAGE_SHAPE, np.uint8)})


def _known_level(domain: Domain, level: object) -> int:
    if isinstance(level, (int, np.integer)) and not isinstance(level, bool) and int(level) in domain.source.levels:
        return int(level)
    raise ValueError(unknown_name("level", level, map(str, domain.source.levels)))


def _known_split(split: object) -> str:
    if split not in SPLITS:
        raise ValueError(unknown_name("split", split, SPLITS))
    return str(split)
