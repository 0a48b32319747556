"""Whether a task of family `function` is sound: its reference passes, and who does nothing earns nothing."""

from __future__ import annotations

import json
from typing import Final

from workgym.envs.coding.asked import asked_of
from workgym.envs.coding.function_layers import FUNCTION_LAYERS, FunctionFindings
from workgym.envs.coding.function_session import FunctionSession
from workgym.envs.coding.trivial import trivial_solutions
from workgym.envs.sandbox.protocol import Pools
from workgym.envs.verify import Attempt, Verdict, judge
from workgym.tasks.task import Task

__all__ = ["unsound"]

_N_TIMES: Final = 5
_TIME_SHARE: Final = 1 / 3


def unsound(task: Task, pools: Pools) -> list[str]:
    """Say what is wrong with a task.

    Args:
        task: of family `function`, made and not imported.
        pools: where its reference and the trivial solutions run.

    Returns:
        A line for each fault; none where the reference passes five times out of five within a third of the limit, each
        trivial solution earns exactly 0, and no hidden input is shown.

    Raises:
        SandboxError: infrastructure failed.
    """
    faults = []
    for _ in range(_N_TIMES):
        verdict = _verdict(task, task.hidden["reference"], pools, _TIME_SHARE)
        if verdict.reward != 1.0 or not verdict.success:
            faults.append(f"the reference earns {verdict.reward}: {verdict.checks}")
            break
    for name, source in trivial_solutions(task).items():
        reward = _verdict(task, source, pools).reward
        if reward != 0:
            faults.append(f"the trivial solution {name!r} earns {reward}")
    return faults + _shown(task, pools)


def _verdict(task: Task, source: str, pools: Pools, time_share: float = 1.0) -> Verdict:
    return judge(FUNCTION_LAYERS, FunctionFindings(Attempt(task.id, source), task, pools, time_share))


def _shown(task: Task, pools: Pools) -> list[str]:
    """What is hidden and yet shown."""
    text = FunctionSession(task, pools.agent).observe().text
    asked = asked_of(task)
    faults = [] if task.hidden["reference"] not in text else ["the reference is shown"]
    public = {json.dumps(args) for args, _ in task.public["examples"]}
    for case in task.hidden["cases"]:
        args = [case["args"][0], *case["args"][1]] if asked.builder else case["args"]
        if json.dumps(args) in public or asked.show(args) in text:
            faults.append(f"the hidden input {args} is shown")
    return faults
