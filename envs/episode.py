"""One episode of one task: its session, its turns, and what was said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from workgym.envs.domain import Domain, Observation, Session
from workgym.envs.sandbox.protocol import Pools
from workgym.envs.tool import End, ToolTable
from workgym.envs.view import View
from workgym.tasks.errors import ActionError, SandboxError
from workgym.tasks.task import Task

__all__ = ["EnvSnapshot", "Episode", "EpisodeSnapshot"]


@dataclass(frozen=True, slots=True)
class EpisodeSnapshot:
    """An episode as it stood: enough to go on from there, here or in another environment of the same domain.

    Attributes:
        task: what is asked.
        transcript: (action, observation) of each turn; the first has no action.
        info: the info of the last turn.
        session: the session's own snapshot; None where it cannot copy its state.
    """

    task: Task
    transcript: tuple[tuple[Any, str], ...]
    info: Mapping[str, Any]
    session: object


@dataclass(frozen=True, slots=True)
class EnvSnapshot:
    """An environment as it stood: its episode, and its generator of tasks."""

    episode: EpisodeSnapshot
    generator: Mapping[str, Any]


class Episode:
    """The running state of one episode.

    Attributes:
        task: what is asked, its hidden part included.
        session: the living world.
        table: the tools.
        turn: actions taken.
        transcript: (action, observation) of each turn; the first has no action.
        info: of the last turn; the same keys and types from the first to the last.
        picture: the last one that was shown; None in a domain without pictures.
    """

    def __init__(self, domain: Domain, task: Task, pools: Pools | None, view: View) -> None:
        self.task: Final = task
        self.session: Final[Session] = domain.open_session(task, pools)
        self.table: Final[ToolTable] = self.session.tools
        self.turn = 0
        self.transcript: list[tuple[Any, str]] = []
        self.picture: Any = None
        self.info: dict[str, Any] = {
            "task_id": task.id,
            "domain": task.domain,
            "family": task.family,
            "level": task.level,
            "split": task.split,
            "turn": 0,
            "tools": self.table.names,
            "action_valid": True,
            "reward_breakdown": "{}",
            "reward_valid": False,
            "is_success": False,
            "end_reason": "",
            "error": "",
        }
        self._view: Final = view

    def begin(self) -> Any:
        """Say what the agent reads first."""
        shown = self._shown(self.session.observe())
        self._note("", shown)
        return shown

    def act(self, action: Any) -> tuple[Any, End | None]:
        """Carry out one action; a mistake of the agent is an observation.

        Args:
            action: a text, a tool call or a list of tool calls.

        Returns:
            What the agent sees, and the end, where the action ended the episode.
        """
        end = None
        info = self.info
        self.turn += 1
        info["turn"] = self.turn
        info["action_valid"] = True
        try:
            text = self.table.do(action)
        except ActionError as error:
            info["action_valid"] = False
            text = f"error: {error}"
        if not isinstance(text, str):
            end, text = text, text.text
        shown = self.show(text)
        self.transcript.append((action, shown if type(shown) is str else shown["text"]))
        return shown, end

    def show(self, text: str) -> Any:
        """A tool's text as the agent sees it; with pictures, beside the current one."""
        view = self._view
        if view.has_image:
            return self._shown(Observation(text, self.session.observe().image))
        return text if len(text) <= view.max_chars else view.show(Observation(text))

    def _shown(self, observation: Observation) -> Any:
        shown = self._view.show(observation)
        self.picture = shown["image"] if self._view.has_image else None
        return shown

    def as_text(self) -> str:
        """What was said so far: actions behind ">", and what was seen."""
        return "\n".join(f"> {action}\n{seen}" if action else seen for action, seen in self.transcript)

    def snapshot(self) -> EpisodeSnapshot:
        """The episode as it stands."""
        try:
            session = self.session.snapshot()
        except SandboxError:
            session = None  # `restore` replays the actions instead
        return EpisodeSnapshot(self.task, tuple(self.transcript), dict(self.info), session)

    def restore(self, snapshot: EpisodeSnapshot) -> None:
        """Bring a fresh episode of the same task to where the snapshot was taken.

        Raises:
            SandboxError: the session cannot copy its state, and replaying the actions gave other observations.
        """
        if snapshot.session is None:
            self._replay(snapshot)
        else:
            self.session.restore(snapshot.session)
        self.transcript = list(snapshot.transcript)
        self.turn = len(snapshot.transcript) - 1
        self.info = dict(snapshot.info)
        if self._view.has_image:
            self._shown(Observation("", self.session.observe().image))

    def _replay(self, snapshot: EpisodeSnapshot) -> None:
        self.begin()
        for action, seen in snapshot.transcript[1:]:
            _, end = self.act(action)
            if end is not None or self.transcript[-1][1] != seen:
                raise SandboxError(f"replaying {action!r} gave another observation: this state cannot be copied")

    def _note(self, action: Any, shown: Any) -> None:
        self.transcript.append((action, shown if type(shown) is str else shown["text"]))
