"""A language model as a policy: token in, token out."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from workgym.agents.chat import ChatRenderer, open_tokenizer, save_tokenizer
from workgym.agents.engines.engine import Engine, Request, SamplingParams
from workgym.agents.engines.local import LocalEngine
from workgym.agents.models import Llama, open_model, save_model
from workgym.agents.models.smollm2 import SMOLLM2, smollm2_directory
from workgym.agents.policy import Conversation, Turn
from workgym.agents.renderer import CharRenderer, Renderer
from workgym.agents.tokenizer import CHARACTERS_FILE, CharTokenizer
from workgym.agents.trajectory import Trajectory
from workgym.tasks.errors import PolicyError

__all__ = ["ModelPolicy", "open_policy", "save_policy"]


class ModelPolicy:
    """Plays with a model's samples.

    What the model sampled goes into the trajectory as it was sampled, and comes back to the engine from there: the text
    of an action is for the environment, no token is ever made from it.

    Two episodes with the same `seed` and `task_id` get the same noise, so the rollouts of a group need different seeds.

    Args:
        engine: samples.
        renderer: frames messages in the model's tokens.
        params: how tokens are chosen.
        name: in archives and reports.
        max_tokens: most tokens of one turn, beside the conversation's own limit; 0 for that alone.
    """

    def __init__(
        self,
        engine: Engine,
        renderer: Renderer,
        params: SamplingParams | None = None,
        name: str = "model",
        *,
        max_tokens: int = 0,
    ) -> None:
        self.engine: Final = engine
        self.renderer: Final = renderer
        self.params: Final = params or SamplingParams()
        self.max_tokens: Final = max_tokens
        self._name: Final = name

    @property
    def name(self) -> str:
        """Names the policy in archives and reports."""
        return self._name

    def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
        """Sample one turn in each conversation.

        A turn of no tokens and finish "length" says that the context is full: such an episode should be ended.

        Raises:
            PolicyError: the engine or the renderer cannot go on.
        """
        fed = [self._feed(conversation) for conversation in conversations]
        requests = [
            self._request(conversation, *feeding) for conversation, feeding in zip(conversations, fed, strict=True)
        ]
        completions = self.engine.sample(requests, self.params, self.renderer.stop_ids)
        return [
            Turn(
                text=self.renderer.parse(completion.ids),
                fed=ids,
                ids=completion.ids,
                logps=completion.logps,
                version=completion.version,
                finish=completion.finish,
                split=split,
            )
            for (ids, split), completion in zip(fed, completions, strict=True)
        ]

    def forget(self, rollout_ids: Sequence[str]) -> None:
        """Give back what the engine keeps for episodes that have ended."""
        self.engine.forget(rollout_ids)

    def _feed(self, conversation: Conversation) -> tuple[list[int], bool]:
        """Ids to feed before this turn, and whether they open a new row."""
        trajectory = conversation.trajectory
        if not trajectory.ids:
            return self.renderer.open(conversation.unread, conversation.tools), False
        ended = trajectory.action[-1] and trajectory.ids[-1] in self.renderer.stop_ids
        bridge = self.renderer.bridge(conversation.unread, ended=ended)
        if bridge is not None:
            return bridge, False
        return self.renderer.open(trajectory.messages, conversation.tools), True

    def _request(self, conversation: Conversation, fed: list[int], split: bool) -> Request:
        trajectory = conversation.trajectory
        before = [] if split else trajectory.ids[trajectory.row_starts[-1] :]
        limit = conversation.max_tokens
        return Request(
            rollout_id=trajectory.rollout_id,
            ids=before + fed,
            seed=_noise_seed(trajectory),
            turn=len(trajectory.steps),
            max_tokens=min(limit, self.max_tokens) if self.max_tokens else limit,
        )


def _noise_seed(trajectory: Trajectory) -> int:
    """Seed of an episode's noise: of its own seed and its task, so that one seed does not play all tasks alike."""
    text = f"{trajectory.seed}/{trajectory.task_id}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def save_policy(model: Llama, tokenizer: Any, directory: Path) -> None:
    """Write what `open_policy` needs: the model in Hugging Face's layout, and its tokenizer beside it.

    Args:
        model: of any device.
        tokenizer: a `CharTokenizer`, or a chat model's of transformers.
        directory: is made if need be.
    """
    save_model(model, directory)
    if isinstance(tokenizer, CharTokenizer):
        tokenizer.save(directory / CHARACTERS_FILE)
    else:
        save_tokenizer(tokenizer, directory)


def open_policy(
    ref: str | Path,
    params: SamplingParams | None = None,
    *,
    name: str = "",
    max_rows: int = 128,
    max_tokens: int = 0,
) -> ModelPolicy:
    """Open a policy that `save_policy` wrote, or a chat model in Hugging Face's layout, with an engine of its own.

    Args:
        ref: the directory of the model, or "smollm2".
        params: how tokens are chosen.
        name: in archives and reports; the directory's name by default.
        max_rows: episodes that the engine keeps at once.
        max_tokens: most tokens of one turn; 0 for the conversation's limit alone.

    Raises:
        PolicyError: there is no such model, or its vocabulary is not the tokenizer's.
    """
    path = smollm2_directory() if ref == SMOLLM2 else Path(ref)
    model = open_model(path)
    renderer: Renderer
    if (path / CHARACTERS_FILE).exists():
        tokenizer = CharTokenizer.load(path / CHARACTERS_FILE)
        renderer, n_ids = CharRenderer(tokenizer), tokenizer.n_ids
    else:
        renderer = ChatRenderer(open_tokenizer(path))
        n_ids = len(renderer.tokenizer)
    if n_ids > model.config.vocab:
        raise PolicyError(f"{path}: the tokenizer has {n_ids} ids, the model knows {model.config.vocab}")
    engine = LocalEngine(model, max_rows=max_rows)
    return ModelPolicy(engine, renderer, params, name or path.name, max_tokens=max_tokens)
