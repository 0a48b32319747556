"""The scheduler: a floor for every level, most for the one where success and failure mix, nothing from faults."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from workgym.agents.trajectory import Trajectory
from workgym.envs.verify import Verdict
from workgym.tasks.coding.source import CodingTasks
from workgym.tasks.errors import PolicyError, TaskError
from workgym.tasks.task import Task
from workgym.training.curriculum import Arm, Curriculum, Scheduler, Uniform, arms_of, make_scheduler

GROUP = 8
ARMS = arms_of("coding", CodingTasks(), (1, 2, 3))


def episode(task: Task, success: bool, valid: bool = True) -> Trajectory:
    played = Trajectory("r", task.id, domain=task.domain, level=task.level)
    played.verdict = Verdict(float(success), success, (), valid=valid)
    return played


def practice(scheduler: Scheduler, chances: Mapping[int, float], n_steps: int, start: int = 0) -> list[list[str]]:
    """Steps of a policy that solves each level with its chance; the ids of the tasks of each."""
    drawn = []
    for step in range(start, start + n_steps):
        rng = np.random.default_rng([7, step])
        tasks = scheduler.draw(rng, 16)
        luck = np.random.default_rng([8, step])
        scheduler.learn([[episode(task, luck.random() < chances[task.level]) for _ in range(GROUP)] for task in tasks])
        drawn.append([task.id for task in tasks])
    return drawn


def share(scheduler: Scheduler, level: int) -> float:
    return scheduler.weights()[f"coding/{level}"]


def test_a_level_that_is_always_or_never_solved_falls_to_a_small_share() -> None:
    curriculum = Curriculum(ARMS)
    practice(curriculum, {1: 1.0, 2: 0.5, 3: 0.0}, 40)
    assert 0.05 <= share(curriculum, 1) < 0.08
    assert 0.05 <= share(curriculum, 3) < 0.08
    assert share(curriculum, 2) > 0.84


def test_a_level_that_is_never_solved_keeps_a_small_share_beside_one_that_is_nearly_always_solved() -> None:
    curriculum = Curriculum(ARMS)
    curriculum.load_state_dict({"learnability": {"coding/1": 0.98 * 0.02, "coding/2": 0.0, "coding/3": 0.0}})
    assert share(curriculum, 1) > 0.8
    assert 0.05 < share(curriculum, 2) == share(curriculum, 3) < 0.09


def test_a_level_that_is_nearly_always_solved_takes_most_from_one_that_is_never_solved_by_its_outcomes_too() -> None:
    curriculum = Curriculum(ARMS[1:])
    tasks = {arm.level: arm.source.sample(arm.level, np.random.default_rng(5)) for arm in ARMS[1:]}
    solved = [episode(tasks[2], i != 0) for i in range(50)]  # p = 0.98
    never = [episode(tasks[3], False) for _ in range(50)]
    for _ in range(100):
        curriculum.learn([solved, never])
    assert 0.05 < share(curriculum, 3) < 0.1


def test_a_level_of_tasks_that_are_each_always_or_never_solved_has_nothing_to_teach() -> None:
    curriculum = Curriculum(ARMS)
    luck = np.random.default_rng(9)
    for step in range(40):
        groups = []
        for i, task in enumerate(curriculum.draw(np.random.default_rng(step), 16)):
            chance = {1: float(i % 2), 2: 0.2, 3: 0.0}[task.level]
            groups.append([episode(task, luck.random() < chance) for _ in range(GROUP)])
        curriculum.learn(groups)
    assert share(curriculum, 1) < 0.1
    assert share(curriculum, 2) > 0.8


def test_every_level_is_drawn_now_and_then_whatever_its_outcomes() -> None:
    curriculum, chances = Curriculum(ARMS), {1: 1.0, 2: 0.5, 3: 0.0}
    practice(curriculum, chances, 40)
    levels = [task_id.split("-")[2] for step in practice(curriculum, chances, 40, 40) for task_id in step]
    for level in "13":
        assert 0.04 * len(levels) < levels.count(level) < 0.09 * len(levels)


def test_a_level_that_comes_within_reach_gains_share_again() -> None:
    curriculum = Curriculum(ARMS)
    practice(curriculum, {1: 0.5, 2: 0.0, 3: 0.0}, 30)
    assert share(curriculum, 2) < 0.08
    practice(curriculum, {1: 1.0, 2: 0.4, 3: 0.0}, 30, 30)
    assert share(curriculum, 2) > 0.7
    assert share(curriculum, 1) < 0.15


def test_nothing_is_written_off_before_it_was_tried() -> None:
    assert list(Curriculum(ARMS).weights().values()) == pytest.approx([1 / 3] * 3)


def test_where_nothing_can_be_learned_anywhere_the_shares_become_equal() -> None:
    curriculum = Curriculum(ARMS)
    practice(curriculum, {1: 0.5, 2: 0.0, 3: 0.0}, 10)
    practice(curriculum, {1: 1.0, 2: 1.0, 3: 0.0}, 150, 10)
    assert all(share(curriculum, level) == pytest.approx(1 / 3, abs=0.02) for level in (1, 2, 3))


def test_shares_sum_to_one() -> None:
    curriculum = Curriculum(ARMS, floor=0.1)
    practice(curriculum, {1: 0.9, 2: 0.3, 3: 0.01}, 20)
    assert sum(curriculum.weights().values()) == pytest.approx(1)
    assert min(curriculum.weights().values()) >= 0.1


def test_faults_of_the_machinery_teach_nothing() -> None:
    curriculum = Curriculum(ARMS)
    tasks = curriculum.draw(np.random.default_rng(0), 16)
    before = curriculum.state_dict()
    curriculum.learn([[episode(task, False, valid=False) for _ in range(GROUP)] for task in tasks])
    curriculum.learn([[episode(task, False), episode(task, False, valid=False)] for task in tasks])
    assert curriculum.state_dict() == before


def test_a_fault_in_a_group_changes_nothing_of_what_the_others_say() -> None:
    one, other = Curriculum(ARMS), Curriculum(ARMS)
    task = one.draw(np.random.default_rng(0), 1)[0]
    whole = [episode(task, success) for success in (True, False, False)]
    one.learn([whole])
    other.learn([[*whole, episode(task, False, valid=False)]])
    assert one.state_dict() == other.state_dict()


@pytest.mark.parametrize("chance", [0.1, 0.5, 0.9])
def test_the_estimate_is_right_in_the_mean_for_small_groups_too(chance: float) -> None:
    rng = np.random.default_rng(1)
    task = CodingTasks().sample(1, rng)
    curriculum = Curriculum(ARMS[:1], n_remembered=0)
    curriculum.learn([[episode(task, rng.random() < chance) for _ in range(3)] for _ in range(4000)])
    assert curriculum.learnability()["coding/1"] == pytest.approx(chance * (1 - chance), abs=0.01)


def test_six_steps_are_three_and_a_state_written_and_read_and_three_more() -> None:
    chances = {1: 0.8, 2: 0.3, 3: 0.02}
    whole = Curriculum(ARMS)
    straight = practice(whole, chances, 6)
    first, second = Curriculum(ARMS), Curriculum(ARMS)
    drawn = practice(first, chances, 3)
    second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    drawn += practice(second, chances, 3, 3)
    assert drawn == straight
    assert second.state_dict() == whole.state_dict()


def test_a_lost_state_would_change_what_is_drawn() -> None:
    chances = {1: 1.0, 2: 0.3, 3: 0.0}
    whole, forgetful = Curriculum(ARMS), Curriculum(ARMS)
    straight = practice(whole, chances, 6)
    assert practice(forgetful, chances, 3, 3) != straight[3:]


def test_a_state_handed_out_stays_as_it_was() -> None:
    curriculum = Curriculum(ARMS)
    state = curriculum.state_dict()
    before = json.dumps(state)
    practice(curriculum, {1: 0.5, 2: 0.5, 3: 0.5}, 1)
    assert json.dumps(state) == before != json.dumps(curriculum.state_dict())


@pytest.mark.parametrize("kind", [Uniform, Curriculum])
def test_tasks_are_of_the_training_split_and_as_many_as_asked_for(kind: type[Uniform] | type[Curriculum]) -> None:
    tasks = kind(ARMS).draw(np.random.default_rng(3), 50)
    assert len(tasks) == 50
    assert {task.split for task in tasks} == {"train"}


def test_uniform_gives_every_level_the_same_number_but_for_one() -> None:
    uniform = Uniform(ARMS)
    practice(uniform, {1: 1.0, 2: 0.5, 3: 0.0}, 10)
    for seed in range(20):
        levels = [task.level for task in uniform.draw(np.random.default_rng(seed), 16)]
        assert sorted(levels.count(level) for level in (1, 2, 3)) == [5, 5, 6]
    assert uniform.state_dict() == {}


@pytest.mark.parametrize("kind", [Uniform, Curriculum])
def test_one_level_alone_costs_no_randomness(kind: type[Uniform] | type[Curriculum]) -> None:
    rng, same = np.random.default_rng(4), np.random.default_rng(4)
    drawn = [task.id for task in kind(ARMS[1:2]).draw(rng, 5)]
    assert drawn == [CodingTasks().sample(2, same, "train").id for _ in range(5)]
    assert rng.random() == same.random()


def test_levels_of_several_domains_are_chosen_among() -> None:
    class Other(CodingTasks):
        def sample(self, level: int, rng: np.random.Generator, split: str = "train") -> Task:
            made = super().sample(level, rng, split)
            return Task(made.id, "other", made.family, level, split, made.prompt, structure=made.structure)

    arms = [*arms_of("coding", CodingTasks(), (1, 2)), *arms_of("other", Other(), (1,))]
    curriculum = Curriculum(arms)
    for step in range(30):
        luck = np.random.default_rng(step)
        tasks = curriculum.draw(luck, 16)
        curriculum.learn(
            [[episode(task, task.domain == "other" and luck.random() < 0.5) for _ in range(4)] for task in tasks]
        )
    assert list(curriculum.weights()) == ["coding/1", "coding/2", "other/1"]
    assert curriculum.weights()["other/1"] > 0.8


@pytest.mark.parametrize(
    ("arms", "words"),
    [
        ([], "at least one level"),
        ([*ARMS, ARMS[0]], "same level of a domain twice: coding/1, coding/2, coding/3, coding/1"),
    ],
)
def test_arms_that_make_no_sense_are_refused(arms: Sequence[Arm], words: str) -> None:
    for kind in (Uniform, Curriculum):
        with pytest.raises(TaskError, match=words):
            kind(arms)


def test_a_level_that_the_source_lacks_is_refused_by_name() -> None:
    with pytest.raises(TaskError, match="unknown level 9"):
        arms_of("coding", CodingTasks(), (1, 9))


def test_a_source_that_makes_tasks_of_another_domain_is_found_out() -> None:
    with pytest.raises(TaskError, match="asked for letters/1 of split 'train', the source made 'coding-"):
        Uniform(arms_of("letters", CodingTasks(), (1,))).draw(np.random.default_rng(0), 1)


def test_an_outcome_of_a_level_that_was_not_asked_for_is_refused() -> None:
    task = CodingTasks().sample(5, np.random.default_rng(0))
    with pytest.raises(TaskError, match="unknown domain and level 'coding/5'"):
        Curriculum(ARMS).learn([[episode(task, True), episode(task, False)]])


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ({"floor": 0.4}, r"floor must be in \[0, 1/3\] for 3 arms, not 0.4"),
        ({"floor": -0.1}, "floor"),
        ({"n_remembered": -1.0}, "n_remembered"),
        ({"n_remembered": float("nan")}, "n_remembered"),
    ],
)
def test_numbers_out_of_range_are_refused(numbers: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Curriculum(ARMS, **numbers)


def test_the_state_of_another_scheduler_is_refused() -> None:
    state = Curriculum(ARMS[:2]).state_dict()
    with pytest.raises(PolicyError, match="cannot continue from a state of"):
        Curriculum(ARMS).load_state_dict(state)
    with pytest.raises(PolicyError, match="cannot continue from a state of"):
        Curriculum(ARMS).load_state_dict(Uniform(ARMS).state_dict())
    with pytest.raises(PolicyError, match="uniform scheduler cannot continue"):
        Uniform(ARMS).load_state_dict(state)


def test_a_scheduler_is_made_by_name_and_an_unknown_name_is_told_the_nearest() -> None:
    assert isinstance(make_scheduler("outcome", ARMS), Curriculum)
    assert isinstance(make_scheduler("uniform", ARMS), Uniform)
    with pytest.raises(ValueError, match="Did you mean 'uniform'"):
        make_scheduler("unifrom", ARMS)
