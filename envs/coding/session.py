"""One episode of the family `expression`: try expressions on the public examples, then submit one."""

from __future__ import annotations

from typing import Final

from workgym.envs.coding.evaluate import Evaluation, Failure, evaluate_expression, same_value
from workgym.envs.coding.show import show
from workgym.envs.domain import Observation
from workgym.envs.sandbox.protocol import SandboxPool
from workgym.envs.stateless import StatelessSession
from workgym.envs.tool import End, Tool, ToolTable, one_text
from workgym.tasks.errors import ActionError
from workgym.tasks.task import Task

__all__ = ["RUN_TIMEOUT_S", "ExpressionSession"]

RUN_TIMEOUT_S: Final = 10.0
"""Wall-clock bound of one run; the limit that decides is the sandbox's CPU limit."""

_MAX_EXPRESSION_CHARS: Final = 4000
_EXPRESSION: Final = one_text("expression", "a Python expression in x")


class ExpressionSession(StatelessSession):
    """Holds the examples and what was tried; every run is a child of its own, so there is nothing else to hold.

    Args:
        task: of family `expression`.
        pool: where the agent's expressions run.
        brief: say only what is new, in as few characters as possible.
    """

    def __init__(self, task: Task, pool: SandboxPool, *, brief: bool = False) -> None:
        super().__init__(task)
        self._pool: Final = pool
        self._brief: Final = brief
        self._examples: Final = [(int(x), value) for x, value in task.public["examples"]]
        self.tools: Final = ToolTable(
            (
                Tool("run", "Evaluate a Python expression in x at the examples' x.", _EXPRESSION, self._run, short="r"),
                Tool(
                    "submit",
                    "Hand in a Python expression in x and end the episode.",
                    _EXPRESSION,
                    self._submit,
                    short="s",
                ),
            )
        )

    def observe(self) -> Observation:
        """The instructions and the examples."""
        if self._brief:
            return Observation(" ".join(f"{x}:{value}" for x, value in self._examples))
        lines = [self.task.prompt, *(f"x = {x}: {value}" for x, value in self._examples)]
        return Observation("\n".join(line for line in lines if line))

    def _run(self, expression: str) -> str:
        text = _readable(expression)
        inputs = [x for x, _ in self._examples]
        return self._report(evaluate_expression(self._pool, text, inputs, timeout_s=RUN_TIMEOUT_S))

    def _submit(self, expression: str) -> End:
        return End("submitted", _readable(expression))

    def _report(self, evaluation: Evaluation) -> str:
        if evaluation.status != "ok":
            return f"error: {evaluation.detail or evaluation.status}"
        shown = [_shown(value) for value in evaluation.values]
        right = [
            same_value(value, wanted) for value, (_, wanted) in zip(evaluation.values, self._examples, strict=True)
        ]
        if self._brief:
            return " ".join(shown) + (" ok" if all(right) else " no")
        lines = [
            f"x = {x}: {value}" + ("" if same else f" (wanted {wanted})")
            for (x, wanted), value, same in zip(self._examples, shown, right, strict=True)
        ]
        return "\n".join([*lines, f"{sum(right)} of {len(right)} examples have the value wanted"])


def _readable(expression: str) -> str:
    if len(expression) > _MAX_EXPRESSION_CHARS:
        raise ActionError(f"an expression has at most {_MAX_EXPRESSION_CHARS} characters, not {len(expression)}")
    return expression.strip()


def _shown(value: object) -> str:
    """A value as the agent reads it: one line, whatever the value."""
    if isinstance(value, Failure):
        return value.text
    return show(value)
