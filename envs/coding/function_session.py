"""One episode of the family `function`: run code on the public examples, then submit some."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from workgym.envs.coding.asked import asked_of
from workgym.envs.coding.calls import CallReport, Raised, call_function
from workgym.envs.coding.evaluate import same_value
from workgym.envs.coding.show import printable, show
from workgym.envs.domain import Observation
from workgym.envs.fences import fenced_blocks
from workgym.envs.sandbox.protocol import SandboxPool
from workgym.envs.sandbox.spec import PythonCode
from workgym.envs.stateless import StatelessSession
from workgym.envs.tool import End, Tool, ToolTable, one_text
from workgym.tasks.errors import ActionError
from workgym.tasks.task import Task

__all__ = ["FunctionSession", "is_right"]

_RUN_TIMEOUT_S: Final = 20.0
_MAX_CODE_CHARS: Final = 20_000
_MAX_PRINTED_CHARS: Final = 1000
_ADDRESS: Final = re.compile(r"0x[0-9a-f]{6,}")
_CODE: Final = one_text("code", "Python that defines the function")


class FunctionSession(StatelessSession):
    """Holds the examples; every run is a process of its own, so there is nothing else to hold.

    Args:
        task: of family `function`, made or read from HumanEval.
        pool: where the agent's code runs.
    """

    def __init__(self, task: Task, pool: SandboxPool) -> None:
        super().__init__(task)
        self._pool: Final = pool
        self._asked: Final = asked_of(task)
        self._examples: Final[list[tuple[list[Any], Any]]] = [
            (list(args), value) for args, value in task.public.get("examples", ())
        ]
        self.tools: Final = ToolTable(
            (
                Tool("run", "Run Python code on the examples and see what differs.", _CODE, self._run, short="r"),
                Tool("submit", "Hand in Python code and end the episode.", _CODE, self._submit, short="s"),
            ),
            fenced="submit",
        )

    def observe(self) -> Observation:
        """What to write, and examples of it."""
        if "prompt" in self.task.public:
            return Observation(f"Complete this Python function:\n\n{self.task.prompt}")
        shown = [f"{self._asked.show(args)} == {json.dumps(value)}" for args, value in self._examples]
        return Observation("\n".join([self.task.prompt, *shown]))

    def _run(self, code: str) -> str:
        source = _code_of(code)
        if not self._examples:
            return self._print(source)
        asked = self._asked
        calls = [asked.call(args, value)[0] for args, value in self._examples]
        report = call_function(
            self._pool, asked.complete(source), asked.called, calls, timeout_s=_RUN_TIMEOUT_S, prints=True
        )
        return self._report(report)

    def _submit(self, code: str) -> End:
        return End("submitted", _code_of(code))

    def _report(self, report: CallReport) -> str:
        """Say what was printed, and what each example gave, up to where the code ended."""
        lines = [f"printed: {line}" for line in _printed_lines(report.printed)]
        n_right = 0
        for (args, wanted), answer in zip(self._examples, report.answers, strict=False):
            right = is_right(answer, {"value": self._asked.call(args, wanted)[1]})
            n_right += right
            if not right:
                lines.append(f"{self._asked.show(args)} gives {self._shown(answer)}, not {json.dumps(wanted)}")
        if report.label:
            lines.append(f"error: {report.detail or report.label}")
        return "\n".join([*lines, f"{n_right} of {len(self._examples)} examples are right"])

    def _shown(self, answer: Any) -> str:
        """An answer as the agent reads it: of two functions the one answer that they gave."""
        if isinstance(answer, Raised):
            return answer.text
        only = self._asked.builder and type(answer) is list and len(answer) == 1
        return show(answer[0] if only else answer, 100)

    def _print(self, source: str) -> str:
        """Run a program by itself and say what it printed or raised."""
        with self._pool.lease() as box:
            result = box.exec(PythonCode(source), timeout_s=_RUN_TIMEOUT_S)
        lines = _printed_lines(result.stdout.decode(errors="replace"))
        if result.status == "ok" and result.exit_code == 0:
            return "\n".join([*lines, "the code ran without an error"])
        said = result.stderr.decode(errors="replace").strip().splitlines()
        last = _ADDRESS.sub("0x...", printable(said[-1])) if said else ""
        return "\n".join([*lines, f"error: {last or result.status}"])


def _printed_lines(printed: str) -> list[str]:
    """What code printed, as its agent reads it: the beginning, and no addresses, which no second run would have."""
    return [printable(line) for line in _ADDRESS.sub("0x...", printed)[:_MAX_PRINTED_CHARS].splitlines()]


def is_right(answer: Any, wanted: dict[str, Any]) -> bool:
    """Whether an answer is what a case wants.

    Args:
        answer: a builtin value, an `Opaque` or a `Raised`.
        wanted: holds `value`, or `raises`, the name of the class of an exception.
    """
    if "raises" in wanted:
        return isinstance(answer, Raised) and answer.name == wanted["raises"]
    return same_value(answer, wanted["value"])


def _code_of(text: str) -> str:
    """The code of an argument, which may stand between fences.

    Raises:
        ActionError: it is too long, or there are several blocks.
    """
    if len(text) > _MAX_CODE_CHARS:
        raise ActionError(f"code has at most {_MAX_CODE_CHARS} characters, not {len(text)}")
    blocks = fenced_blocks(text)
    if len(blocks) > 1:
        raise ActionError(f"there are {len(blocks)} blocks of code; give one that holds all of it")
    return blocks[0] if blocks else text
