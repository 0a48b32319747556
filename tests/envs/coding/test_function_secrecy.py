"""Family `function` of Coding-v0: nothing hidden is seen, by whatever way an agent looks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from workgym.envs.coding.asked import asked_of
from workgym.envs.env import WorkEnv
from workgym.tasks.task import LEVELS


@pytest.mark.parametrize("level", LEVELS)
def test_nothing_hidden_reaches_the_agent(function_env: WorkEnv, level: int) -> None:
    """Search for the reference, for hidden inputs, and for a canary that was planted beside them."""
    needle = "'-'.join(['PLANTED', 'CANARY'])"  # put together late: the hunter must not find its own words
    hunt = f"print([text for text in __import__('gc').get_objects() if {needle} in str(text)])"
    for seed in range(2):
        task = function_env.domain.source.sample(level, np.random.default_rng(seed), "train")
        planted = replace(task, hidden={**task.hidden, "canary": "PLANTED-CANARY"})
        asked = asked_of(task)
        shown: list[object] = list(function_env.reset(options={"task": planted}))
        look = (
            f"def {asked.entry_point}(*arguments):\n    return [str(x)[:99] for x in __import__('gc').get_objects()]\n"
        )
        for action in (f"run {hunt}\n{look}", f"run {look}", "run open('/proc/self/cmdline').read()", "submit x = 1"):
            shown.extend(function_env.step(action))
        text = repr([shown, function_env.attempt, function_env.verdict, function_env.tools_schema()])
        assert "PLANTED-CANARY" not in text
        assert "PLANTED-CANARY" in repr(function_env.task.hidden)  # the same search finds it where it is
        assert repr(task.hidden["reference"])[1:-1] not in text
        for case in task.hidden["cases"]:
            args = [case["args"][0], *case["args"][1]] if asked.builder else case["args"]
            assert asked.show(args) not in text
