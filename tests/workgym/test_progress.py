"""Progress in words: nothing that failed is left out."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from workgym.envs.calculator.env import make
from workgym.envs.env import WorkEnv
from workgym.progress import Bars
from workgym.tasks.calculator.source import CalculatorTasks
from workgym.tasks.source import distinct_tasks


def fail(*_: Any) -> None:
    raise RuntimeError("the judge is broken")


def broken() -> WorkEnv:
    """An environment whose infrastructure fails at the end of every episode."""
    return WorkEnv(replace(make(style="short").domain, examine=fail))


def test_a_line_now_and_then_shows_the_note_where_nobody_watches() -> None:
    shown = io.StringIO()
    with Bars(Console(file=shown)) as bars, bars.bar("playing", 10) as advance:
        for i in range(10):
            advance(f"{i} invalid")
    assert shown.getvalue().splitlines() == [f"playing {2 * i}/10 {2 * i - 1} invalid" for i in range(1, 6)]


def test_a_measurement_and_a_step_of_practice_show_how_many_episodes_failed_with_the_infrastructure(
    tmp_path: Path, require_extra: Callable[[str], None], capfd: pytest.CaptureFixture[str]
) -> None:
    require_extra("train")
    from workgym.agents.models import Llama, LlamaConfig
    from workgym.agents.rack import EnvRack
    from workgym.agents.renderer import CharRenderer
    from workgym.agents.tokenizer import CharTokenizer
    from workgym.lesson import Lesson, Pupil
    from workgym.run_folder import RunFolder
    from workgym.training.curriculum import Uniform, arms_of
    from workgym.training.stages.rlvr import RlvrPlan
    from workgym.training.trainer import TrainerConfig

    tokenizer = CharTokenizer()
    model = Llama(LlamaConfig(tokenizer.n_ids, d_model=32, n_layers=1, n_heads=2, d_ff=48, max_positions=128))
    source = CalculatorTasks("short")
    tasks = distinct_tasks(source, 1, 2)
    with RunFolder(tmp_path, 10, {}) as run, EnvRack(broken, 2) as rack:
        lesson = Lesson(Pupil(model, tokenizer, CharRenderer(tokenizer), 2), run, rack, max_turn_tokens=4, seed=0)
        lesson.measure("before", tasks, ())
        lesson.practice(
            Uniform(arms_of("calculator", source, [1])), RlvrPlan(1, 1, 2, seed=0, max_turn_tokens=4), TrainerConfig()
        )
    said = capfd.readouterr().err
    assert "measuring before 4/4 4 invalid" in said
    assert "practicing 1/1 2 invalid" in said
