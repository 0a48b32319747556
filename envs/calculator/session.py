"""One episode: a calculator that does one operation at a time, and a place to write the answer."""

from __future__ import annotations

from typing import Final

from workgym.envs.domain import Observation
from workgym.envs.stateless import StatelessSession
from workgym.envs.tool import End, Tool, ToolTable, one_text
from workgym.tasks.calculator.arithmetic import MOST_DIGITS, read_operation
from workgym.tasks.errors import ActionError
from workgym.tasks.task import Task

__all__ = ["CalculatorSession"]

_SHOWN_CHARS: Final = 40


class CalculatorSession(StatelessSession):
    """Holds nothing but the task: each operation is carried out where it is asked for.

    Args:
        task: what is asked; its hidden part is not looked at.
        brief: answer in as few characters as possible.
    """

    def __init__(self, task: Task, *, brief: bool = False) -> None:
        super().__init__(task)
        self._brief: Final = brief
        self.tools: Final = ToolTable(
            (
                Tool(
                    "calculate",
                    "Do one operation (+, - or *) on two whole numbers.",
                    one_text("operation", 'such as "12+34"'),
                    self._calculate,
                    short="c",
                ),
                Tool(
                    "submit",
                    "Hand in the value of the sum and end the episode.",
                    one_text("answer", "one whole number, in digits"),
                    self._submit,
                    short="s",
                ),
            )
        )

    def observe(self) -> Observation:
        """The instructions, where there are any, and the sum."""
        return Observation("\n".join(line for line in (self.task.prompt, self.task.public["sum"]) if line))

    def _calculate(self, operation: str) -> str:
        asked = read_operation(operation)
        if asked is None:
            shown = operation if len(operation) <= _SHOWN_CHARS else operation[:_SHOWN_CHARS] + "..."
            raise ActionError(
                f"calculate does one operation on two whole numbers of at most {MOST_DIGITS} digits, such as 12+34, "
                f"not {shown!r}"
            )
        return str(asked.value) if self._brief else f"{asked.text} = {asked.value}"

    def _submit(self, answer: str) -> End:
        return End("submitted", answer.strip())
