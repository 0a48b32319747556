"""The record of what is asked: one task, with a public and a hidden part."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from workgym.tasks.errors import TaskError

__all__ = ["LEVELS", "Budget", "Task", "content_hash"]

LEVELS: Final = (1, 2, 3, 4, 5)
"""Difficulty, from what a small model can learn to what a strong one fails at."""


def content_hash(value: object) -> str:
    """Hash a value of JSON types and bytes, the same in every process.

    Args:
        value: dicts with string keys, lists, tuples, strings, numbers, booleans, None and bytes, nested at will.

    Returns:
        32 hexadecimal digits.

    Raises:
        TaskError: the value holds something of another type.
    """

    def encode(other: object) -> object:
        if isinstance(other, bytes):
            return {"sha256": hashlib.sha256(other).hexdigest()}
        if isinstance(other, Mapping):
            return dict(other)
        raise TaskError(f"cannot hash a {type(other).__name__}: tasks and attempts hold JSON types and bytes only")

    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=encode)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Budget:
    """What an episode may use; 0 means no limit.

    Attributes:
        turns: actions the agent may take.
        tokens: tokens the agent may sample over all turns; whoever runs the policy counts them.
        wall_s: wall-clock seconds from reset; whoever runs the policy watches them.
    """

    turns: int = 0
    tokens: int = 0
    wall_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to do.

    Attributes:
        id: names the task for ever; the source that made it can load it again. It may encode the seed, so it is never
            shown to the agent.
        domain: "coding", "finance", ...
        family: the kind of task within the domain.
        level: difficulty, 1 to 5.
        split: "train", "validation" or "test".
        prompt: what the agent reads first.
        structure: hash of what makes the task the same as another; splits are disjoint by it.
        files: path -> content, the workspace at the start.
        public: what the agent may know beside the prompt; JSON types.
        hidden: tests, answers, truth; JSON types. Stays in the environment's process and the graders it starts.
        budget: turns, tokens and seconds.
        source: what made the task: a generator with its version, or a file.
    """

    id: str
    domain: str
    family: str
    level: int
    split: str
    prompt: str
    structure: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)
    public: Mapping[str, Any] = field(default_factory=dict)
    hidden: Mapping[str, Any] = field(default_factory=dict, repr=False)
    budget: Budget = field(default_factory=Budget)
    source: str = ""

    def content_hash(self) -> str:
        """Hash of all that decides the task, the hidden part included: a re-grade refuses a task that drifted."""
        return content_hash(
            {
                "id": self.id,
                "prompt": self.prompt,
                "structure": self.structure,
                "files": self.files,
                "public": self.public,
                "hidden": self.hidden,
            }
        )
