"""What is the same in every session that holds nothing but its task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Self

from workgym.envs.verify import Attempt
from workgym.tasks.task import Task

__all__ = ["StatelessSession"]


class StatelessSession:
    """The half of a session that is the same where no action changes anything; `tools` and `observe` make the rest.

    What is submitted is all that is judged.

    Args:
        task: what is asked.
    """

    def __init__(self, task: Task) -> None:
        self.task: Final = task

    def attempt(self, submission: str | None) -> Attempt:
        """What will be judged: the text that was submitted, or nothing."""
        return Attempt(self.task.id, submission)

    def snapshot(self) -> object:
        """There is no state beside the task."""
        return self.task.id

    def restore(self, snapshot: Any) -> None:
        """Go back to a snapshot of the same task.

        Raises:
            ValueError: it is of another task.
        """
        if snapshot != self.task.id:
            raise ValueError(f"the snapshot is of task {snapshot!r}, this session of {self.task.id!r}")

    def fork(self, n: int) -> Sequence[Self]:
        """This session n times: where nothing changes, nothing has to be kept apart."""
        return [self] * n

    def close(self) -> None:
        """Nothing is held."""
