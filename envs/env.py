"""The one environment of the suite: any domain, as a `gymnasium.Env`.

It owns budgets, faults and the verdict; the episode owns turns and what was said, the session owns the world.
"""

from __future__ import annotations

import contextlib
import json
import logging
from typing import Any, Final

import gymnasium as gym

from workgym.envs.choice import choose_task, known_level, known_split
from workgym.envs.domain import Domain, Observation, verdict_on
from workgym.envs.episode import EnvSnapshot, Episode
from workgym.envs.sandbox.protocol import Pools
from workgym.envs.spaces import ActionSpace
from workgym.envs.tool import ToolTable
from workgym.envs.verify import Attempt, HasAttempt, Verdict, check_layers
from workgym.envs.view import CHARS_PER_TOKEN, View
from workgym.tasks.errors import IsolationUnavailable, TaskError
from workgym.tasks.naming import unknown_name
from workgym.tasks.task import Task

__all__ = ["WorkEnv"]

_log = logging.getLogger(__name__)
_OUTSIDE_BUDGETS: Final = ("turns", "tokens", "wall")
_OUTSIDE_ENDS: Final = (*_OUTSIDE_BUDGETS, "gave_up")
_MAX_ACTION_CHARS: Final = 1_000_000


class WorkEnv(gym.Env[Any, Any]):
    """An environment in which an agent works on tasks of one domain.

    Observation: text, only what is new; `Dict(text, image)` in a domain with pictures. Action: the model's text, a tool
    call `{"name", "arguments"}`, or a list of them. A malformed action is answered, never raised. The reward comes with
    the last step, lies in [0, 1] and equals `verdict.reward`.

    Args:
        domain: what is asked, where it is done and who judges it.
        level: difficulty of the tasks drawn.
        split: "train", "validation" or "test".
        strict: let infrastructure faults through `step` as exceptions.
        max_observation_tokens: cap of one observation, counted as 4 characters a token; the domain's default if 0.
        render_mode: None or "ansi"; in a domain with pictures also "rgb_array".

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
        if domain.has_image:
            self.metadata = {**self.metadata, "render_modes": ["ansi", "rgb_array"]}
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(unknown_name("render mode", render_mode, self.metadata["render_modes"]))
        if max_observation_tokens < 0:
            raise ValueError(f"max_observation_tokens must be >= 0, not {max_observation_tokens}")
        self.domain: Final = domain
        self.level: Final = known_level(domain.source, level)
        self.split: Final = known_split(split)
        self.strict: Final = strict
        self.render_mode = render_mode
        max_chars = CHARS_PER_TOKEN * (max_observation_tokens or domain.max_observation_tokens)
        self.view: Final = View(max_chars, domain.image_shape)
        self.action_space = ActionSpace(_MAX_ACTION_CHARS)
        self.observation_space = self.view.space()
        self._pools: Pools | None = None
        self._episode: Episode | None = None
        self._running = False
        self._turn_limit = 0
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
        episode = self._open(choose_task(self.domain.source, options or {}, self.level, self.split, self.np_random))
        return episode.begin(), episode.info.copy()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Carry out one action.

        Args:
            action: a text, a tool call or a list of tool calls.

        Returns:
            Observation, reward, terminated, truncated and info.

        Raises:
            gymnasium.error.ResetNeeded: no episode is running.
            SandboxError: infrastructure failed, and the environment is strict or isolation is gone for good.
        """
        episode = self._running_episode()
        try:
            shown, end = episode.act(action)
            if end is not None:
                return self._judge(episode, shown, end.reason, end.submission)
            if episode.turn == self._turn_limit:
                return self._judge(episode, shown, "turns", None)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is no mistake of the agent's
            return self._fail(episode, error)
        return shown, 0.0, False, False, episode.info.copy()

    def finish(self, reason: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """End the episode for a reason that the environment cannot see, and judge what stands.

        Args:
            reason: "tokens" or "wall", "turns" for a limit of the caller's own, or "gave_up".

        Returns:
            The same five values as `step`.

        Raises:
            ValueError: the reason is another.
            gymnasium.error.ResetNeeded: no episode is running.
            SandboxError: infrastructure failed, and the environment is strict or isolation is gone for good.
        """
        if reason not in _OUTSIDE_ENDS:
            raise ValueError(unknown_name("reason", reason, _OUTSIDE_ENDS))
        episode = self._running_episode()
        try:
            return self._judge(episode, episode.show(""), reason, None)
        except Exception as error:  # noqa: BLE001 - as in step
            return self._fail(episode, error)

    def render(self) -> Any:
        """With `render_mode="ansi"`: the conversation so far, as text; with "rgb_array": the last picture."""
        if self.render_mode is None or self._episode is None:
            return None
        return self._episode.picture if self.render_mode == "rgb_array" else self._episode.as_text()

    def close(self) -> None:
        """End the episode and give back the pools. Idempotent."""
        self._stop()
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
        return self._latest_episode().task

    @property
    def table(self) -> ToolTable:
        """The tools of the episode.

        Raises:
            gymnasium.error.ResetNeeded: there is none yet.
        """
        return self._latest_episode().table

    @property
    def verdict(self) -> Verdict | None:
        """What the last episode was worth; None while it runs."""
        return self._verdict

    @property
    def attempt(self) -> Attempt | None:
        """What was judged; None while the episode runs and where infrastructure failed before."""
        return self._attempt

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
        episode = self._latest_episode()
        return oracle(episode.transcript[-1][1], episode.info.copy(), self)

    def grade(self, attempted: Attempt | HasAttempt) -> Verdict:
        """Judge an attempt, this episode's or an archived one.

        Args:
            attempted: an attempt, or a trajectory that holds one.

        Raises:
            ValueError: the trajectory holds none: its infrastructure failed.
            TaskError: the attempt's task cannot be loaded.
            SandboxError: infrastructure failed.
            VerifierError: a verifier broke its contract.
        """
        attempt = attempted if isinstance(attempted, Attempt) else attempted.attempt
        if attempt is None:
            raise ValueError("the trajectory holds no attempt: infrastructure failed before there was one")
        task = self._episode.task if self._episode is not None else None
        if task is None or task.id != attempt.task_id:
            task = self.domain.source.load(attempt.task_id)
        return verdict_on(self.domain, attempt, task, self._open_pools())

    def snapshot(self) -> EnvSnapshot:
        """The environment as it stands.

        Raises:
            gymnasium.error.ResetNeeded: no episode is running.
        """
        return EnvSnapshot(self._running_episode().snapshot(), self.np_random.bit_generator.state)

    def restore(self, snapshot: EnvSnapshot) -> None:
        """Go back to where the snapshot was taken.

        Raises:
            SandboxError: the domain cannot copy its state, and replaying the actions gave other observations.
        """
        episode = self._open(snapshot.episode.task)
        try:
            episode.restore(snapshot.episode)
        except BaseException:  # a world that is half restored is nobody's
            self._stop()
            raise
        self.np_random.bit_generator.state = dict(snapshot.generator)

    def fork(self, n: int) -> list[WorkEnv]:
        """Make n environments that stand where this one stands, and are independent from then on.

        Raises:
            gymnasium.error.ResetNeeded: no episode is running.
            SandboxError: as `restore`.
        """
        snapshot = self.snapshot()
        with contextlib.ExitStack() as stack:
            copies: list[WorkEnv] = []
            for _ in range(n):
                copy = WorkEnv(
                    self.domain,
                    level=self.level,
                    split=self.split,
                    strict=self.strict,
                    max_observation_tokens=self.view.max_chars // CHARS_PER_TOKEN,
                    render_mode=self.render_mode,
                )
                stack.callback(copy.close)
                copy.spec = self.spec
                copy.restore(snapshot)
                copies.append(copy)
            stack.pop_all()  # all of them stand: none is closed
        return copies

    # ----------------------------------------------------------------- the inside

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

    def _open(self, task: Task) -> Episode:
        if task.domain != self.domain.name:
            raise TaskError(f"task {task.id!r} is of domain {task.domain!r}; this is domain {self.domain.name!r}")
        self._stop()
        self._episode = None
        self._verdict = self._attempt = None
        self._episode = Episode(self.domain, task, self._open_pools(), self.view)
        self._turn_limit = task.budget.turns
        self._running = True
        return self._episode

    def _stop(self) -> None:
        if self._running and self._episode is not None:
            self._running = False
            self._episode.session.close()

    def _running_episode(self) -> Episode:
        if not self._running or self._episode is None:
            raise gym.error.ResetNeeded("no episode is running: call reset() first")
        return self._episode

    def _latest_episode(self) -> Episode:
        if self._episode is None:
            raise gym.error.ResetNeeded("there is no episode yet: call reset() first")
        return self._episode

    def _judge(
        self, episode: Episode, shown: Any, reason: str, submission: str | None
    ) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._attempt = episode.session.attempt(submission)
        self._stop()  # what the agent left is gone before anything of it is judged
        verdict = verdict_on(self.domain, self._attempt, episode.task, self._pools)
        self._verdict = verdict
        terminated = reason not in _OUTSIDE_BUDGETS
        episode.info |= {
            "reward_breakdown": json.dumps({check.name: check.score for check in verdict.checks}),
            "reward_valid": verdict.valid,
            "is_success": verdict.success,
            "end_reason": reason,
        }
        return shown, verdict.reward, terminated, not terminated, episode.info.copy()

    def _fail(self, episode: Episode, error: Exception) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """End the episode where infrastructure failed: nothing of it is judged."""
        try:
            self._stop()
        except Exception as closing:  # noqa: BLE001 - the first failure is the one to report
            _log.warning("closing the session of task %s failed too: %s", episode.task.id, closing)
        if self.strict or isinstance(error, IsolationUnavailable):
            raise error  # without isolation no later episode can run either: the run stops
        _log.warning("infrastructure failed in task %s: %s: %s", episode.task.id, type(error).__name__, error)
        self._verdict = Verdict.invalid()
        episode.info |= {"end_reason": "infrastructure", "error": f"{type(error).__name__}: {error}"}
        shown = self.view.show(Observation("the episode ended: infrastructure failed"))
        return shown, 0.0, False, True, episode.info.copy()
