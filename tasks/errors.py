"""The errors of workgym, one for each boundary that can fail.

    WorkgymError
    ├── TaskError               a task, its id, its file or its generator
    ├── ActionError             what an agent sent: becomes an observation, never ends an episode
    ├── SandboxError            the machinery where untrusted code runs; never the code's own fault
    │   └── IsolationUnavailable    this machine cannot give a guarantee that was asked for
    ├── VerifierError           a verifier broke its contract (a NaN, a score outside [0, 1])
    ├── PolicyError             a model, an engine, a tokenizer or an agent
    └── ArchiveError            a file of trajectories

They live on the lowest floor so that every floor can raise them. A message holds the noun, the value and the way out.
"""

from __future__ import annotations

import traceback

__all__ = [
    "ActionError",
    "ArchiveError",
    "IsolationUnavailable",
    "PolicyError",
    "SandboxError",
    "TaskError",
    "VerifierError",
    "WorkgymError",
    "place_of",
]


class WorkgymError(Exception):
    """Anything that workgym itself raises on purpose."""


class TaskError(WorkgymError):
    """A task, its id, its file or its generator is not what it should be."""


class ActionError(WorkgymError):
    """An agent's action cannot be carried out; the message is shown to the agent."""


class SandboxError(WorkgymError):
    """The machinery where untrusted code runs failed. Never a wrong answer, never a reward of 0."""


class IsolationUnavailable(SandboxError):
    """A guarantee that was asked for cannot be given on this machine."""


class VerifierError(WorkgymError):
    """A verifier broke its contract, so that its verdict cannot be trusted."""


class PolicyError(WorkgymError):
    """A model, an engine, a tokenizer or an agent cannot act."""


class ArchiveError(WorkgymError):
    """A file of trajectories is damaged, of another version, or in use."""


def place_of(error: BaseException) -> str:
    """Where an error that was caught was raised, as an editor opens it: `file:line`."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}"
