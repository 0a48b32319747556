"""A course: what a recipe teaches, in which order, and what comes of it.

The recipes differ in model, tasks and numbers. That a model is examined, imitates, is examined, practices and is
examined again, how the plans of the stages follow from the settings, and what a run leaves, is the same in all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

import numpy as np

from workgym.agents.archive import Archive
from workgym.agents.policy import Policy
from workgym.agents.rack import EnvRack
from workgym.agents.surroundings import Surroundings, write_surroundings
from workgym.benchmarks.curve import draw_curve
from workgym.benchmarks.learning import LearningReport
from workgym.exam import EVALUATION_SEED, Exam
from workgym.lesson import Lesson, Pupil, make_env
from workgym.run_folder import RunFolder
from workgym.tasks.source import TaskSource
from workgym.tasks.task import Task
from workgym.training.curriculum import Scheduler
from workgym.training.metrics import read_metrics
from workgym.training.stages.rlvr import RlvrPlan
from workgym.training.stages.sft import SftPlan
from workgym.training.trainer import TrainerConfig

__all__ = [
    "Course", "CourseSettings", "archive_note", "falling_rate", "name_levels", "rl_plan", "sft_plan", "teach",
    "write_results",
]  # fmt: skip

_LR_FLOOR: Final = 0.05


class CourseSettings(Protocol):
    """The numbers that the settings of every recipe have."""

    @property
    def seed(self) -> int:
        """Decides demonstrations, tasks and noise."""
        ...

    @property
    def sft_steps(self) -> int:
        """Optimizer steps of imitation."""
        ...

    @property
    def sft_rows(self) -> int:
        """Demonstrations in each."""
        ...

    @property
    def sft_lr(self) -> float:
        """Peak learning rate of imitation."""
        ...

    @property
    def rl_steps(self) -> int:
        """Optimizer steps of reinforcement, at most."""
        ...

    @property
    def rl_tasks(self) -> int:
        """Tasks in each."""
        ...

    @property
    def rl_group(self) -> int:
        """Episodes of each task."""
        ...

    @property
    def clip_low(self) -> float:
        """How far below 1 the ratio of new to old probability is followed."""
        ...

    @property
    def clip_high(self) -> float:
        """How far above 1."""
        ...


@dataclass(frozen=True)
class Course:
    """What is taught.

    Attributes:
        surroundings: the environment, and the tokens that one action may have.
        seed: of demonstrations and of measured episodes.
        exam: is asked before, between and after the stages.
        first: name of the measurement before the stages.
        source: makes the tasks that are demonstrated.
        levels: of them.
        n_demonstrations: how many, over all levels.
        player: demonstrates.
        sft: how much is imitated.
        sft_how: and how the weights are moved.
        scheduler: draws the tasks that are practiced.
        rl: how much is practiced.
        rl_how: and how the weights are moved.
    """

    surroundings: Surroundings
    seed: int
    exam: Exam
    first: str
    source: TaskSource
    levels: Sequence[int]
    n_demonstrations: int
    player: Policy
    sft: SftPlan
    sft_how: TrainerConfig
    scheduler: Scheduler
    rl: RlvrPlan
    rl_how: TrainerConfig


def sft_plan(settings: CourseSettings) -> SftPlan:
    """How much is imitated."""
    return SftPlan(settings.sft_steps, settings.sft_rows, settings.seed)


def falling_rate(settings: CourseSettings, warmup_steps: int) -> TrainerConfig:
    """How the weights are moved in imitation: the rate rises for some steps, all but one at most, and then falls."""
    return TrainerConfig(
        lr=settings.sft_lr,
        schedule="cosine",
        warmup_steps=min(warmup_steps, settings.sft_steps - 1),
        total_steps=settings.sft_steps,
        lr_floor=_LR_FLOOR,
    )


def rl_plan(settings: CourseSettings, max_turn_tokens: int) -> RlvrPlan:
    """How much is practiced."""
    return RlvrPlan(
        n_steps=settings.rl_steps,
        n_tasks=settings.rl_tasks,
        group_size=settings.rl_group,
        seed=settings.seed,
        clip_low=settings.clip_low,
        clip_high=settings.clip_high,
        max_turn_tokens=max_turn_tokens,
    )


def name_levels(levels: Sequence[int]) -> str:
    """`level 1`, or `levels 1, 2`."""
    return f"levels {', '.join(map(str, levels))}" if len(levels) > 1 else f"level {levels[0]}"


def teach(course: Course, pupil: Pupil, run: RunFolder) -> None:
    """Examine, imitate, examine, practice, examine, and save the policy in the folder `model` of the run.

    Args:
        course: what is taught.
        pupil: what learns.
        run: the folder of the run; stages that it knows to be over are left out.

    Raises:
        SandboxError: this machine cannot isolate the code that the model writes.
        PolicyError: a number of a step is not finite, or a checkpoint cannot be written.
    """
    around = course.surroundings
    with EnvRack(partial(make_env, around), pupil.n_envs) as rack:
        seed = EVALUATION_SEED + course.seed
        lesson = Lesson(pupil, run, rack, max_turn_tokens=around.max_turn_tokens, seed=seed)
        _examine(lesson, course.exam, course.first)
        _examine_foreign(lesson, course.exam, course.first)
        if not run.is_over("sft"):
            tasks = _draw_tasks(course.source, course.levels, course.n_demonstrations, course.seed)
            lesson.imitate(lesson.demonstrations(course.player, tasks, course.seed), course.sft, course.sft_how)
        _examine(lesson, course.exam, "sft")
        if course.exam.foreign_between:
            _examine_foreign(lesson, course.exam, "sft")
        if not run.is_over("rl"):
            lesson.practice(course.scheduler, course.rl, course.rl_how)
        _examine(lesson, course.exam, "rl")
        _examine_foreign(lesson, course.exam, "rl")
    pupil.save(run.folder / "model")
    write_surroundings(around, run.folder / "model")


def archive_note(archive: Archive) -> str:
    """A line for the report of a run."""
    return f"{len(archive)} episodes are archived. CPU seconds include the sandboxes and leave out the measuring."


def write_results(run: RunFolder, report: LearningReport, *, picture: str, level: int) -> None:
    """Write a run's report and its picture, and say how to look further.

    Args:
        run: the folder of the run.
        report: is written there.
        picture: title of the learning curve.
        level: of the evaluation that is proposed.
    """
    folder = run.folder
    report.write(folder)
    draw_curve(read_metrics(folder / "metrics.jsonl"), report.stages, folder / "curve.png", title=picture)
    run.bars.say(
        f"\n{folder}/report.md and curve.png hold the result. To look further:\n"
        f"  workgym archive ls {folder}/archive --limit 5\n"
        f"  workgym archive show {folder}/archive eval-rl-test/00000-0\n"
        f"  workgym eval --agent checkpoint:{folder}/model --level {level} --n 64\n"
        f"  tensorboard --logdir {folder}/tensorboard"
    )


def _examine(lesson: Lesson, exam: Exam, stage: str) -> None:
    if not lesson.run.is_over(stage):
        lesson.measure(stage, exam.held_out, exam.known)


def _examine_foreign(lesson: Lesson, exam: Exam, stage: str) -> None:
    name = f"{exam.foreign_name}-{stage}"
    if exam.foreign and not lesson.run.is_over(name):
        lesson.measure(name, exam.foreign, (), exam.foreign_tokens)


def _draw_tasks(source: TaskSource, levels: Sequence[int], n: int, seed: int) -> list[Task]:
    """`n` tasks of the training split, as many of each level but for one."""
    tasks = []
    for i, level in enumerate(levels):
        rng = np.random.default_rng([seed, level])
        tasks += [source.sample(level, rng, "train") for _ in range(n // len(levels) + (i < n % len(levels)))]
    return tasks
