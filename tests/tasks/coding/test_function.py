"""The tasks of family `function`: seeded, split by what the function does, and worth nothing to who does nothing."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest

from workgym.tasks.coding.function.answer import large_case
from workgym.tasks.coding.function.cases import CONSTANTS
from workgym.tasks.coding.function.inputs import draw_input
from workgym.tasks.coding.function.make import Exercise, draw_exercise
from workgym.tasks.coding.function.make_pair import draw_pair
from workgym.tasks.coding.function.of_pairs import QUERIES
from workgym.tasks.coding.function.operation import Operation, Step
from workgym.tasks.coding.function.program import Program, draw_steps
from workgym.tasks.coding.function.sequence import OPERATIONS, is_plain, key_of, may_follow
from workgym.tasks.coding.source import CodingTasks
from workgym.tasks.errors import TaskError
from workgym.tasks.source import SPLITS, distinct_tasks, split_of
from workgym.tasks.task import LEVELS, Task, content_hash

BY_NAME = {operation.name: operation for operation in OPERATIONS}


def draw(level: int, n: int, split: str = "train", seed: int = 0) -> list[Task]:
    rng = np.random.default_rng(seed)
    source = CodingTasks("function")
    return [source.sample(level, rng, split) for _ in range(n)]


def exercises(level: int, n: int, split: str, seed: int = 0) -> list[Exercise]:
    rng = np.random.default_rng(seed)
    return [draw_pair(rng, split) if level == 5 else draw_exercise(level, rng, split) for _ in range(n)]


def key(exercise: Exercise) -> str:
    """The operations of a function, without parameters, rules and names."""
    steps = exercise.identity[0][0] if exercise.builder else exercise.identity[0]
    names = [name for name, _, _ in steps]
    return f"{'>'.join(names[:-1])}|{exercise.identity[1]}" if exercise.builder else ">".join(names)


def answers(task: Task, args: list[Any]) -> list[Any]:
    """What the reference gives, or the name of what it raises; of two functions one answer a question."""
    namespace: dict[str, Any] = {}
    exec(task.hidden["reference"], namespace)
    function = namespace[task.public["entry_point"]]
    try:
        if "builder" in task.public:
            data = namespace[task.public["builder"]](args[0])
            questions = args[1] if isinstance(args[1], list) else [args[1]]
            return [function(data, question) for question in questions]
        return [function(*args)]
    except (ValueError, TypeError, LookupError) as error:
        return [type(error).__name__]


@pytest.mark.parametrize("level", LEVELS)
def test_the_reference_has_the_values_that_are_shown_and_hidden(level: int) -> None:
    for task in draw(level, 40):
        for args, value in task.public["examples"]:
            assert answers(task, args) == [value], task.id
        for case in task.hidden["cases"]:
            wanted = case["raises"] if "raises" in case else case["value"]
            assert answers(task, case["args"]) == (wanted if "builder" in task.public else [wanted]), task.id


@pytest.mark.parametrize("level", LEVELS)
def test_no_hidden_input_is_shown(level: int) -> None:
    for task in draw(level, 40):
        shown = [args for args, _ in task.public["examples"]]
        for case in task.hidden["cases"]:
            args = [case["args"][0], *case["args"][1]] if "builder" in task.public else case["args"]
            assert args not in shown


@pytest.mark.parametrize("level", LEVELS)
def test_no_trivial_value_is_paid_and_no_paid_value_is_another(level: int) -> None:
    for task in draw(level, 40):
        paid = [case for case in task.hidden["cases"] if case["paid"]]
        pair = "builder" in task.public
        values = [json.dumps(case["value"][0] if pair else case["value"]) for case in paid]
        free = {json.dumps(value) for value in (*CONSTANTS, *(value for _, value in task.public["examples"]))}
        assert 5 <= len(values) == len(set(values)) <= 8
        assert not free & set(values)
        for case, value in zip(paid, values, strict=True):
            assert value not in {json.dumps(given) for given in (case["args"][0], *case["args"][1:2])}


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_asks_for_what_it_says(level: int) -> None:
    for exercise in exercises(level, 30, "train"):
        names = [name for name, _, _ in (exercise.identity[0] if level < 5 else exercise.identity[0][0])]
        rule = exercise.identity[1]
        raising = [case for case in exercise.hidden if "raises" in case.as_json()]
        assert len(names) in {1: (1,), 2: (2,), 3: (3,), 4: (4, 5), 5: (4,)}[level]
        if level in (2, 3):
            assert rule or any(BY_NAME[name].edge for name in names)
        if level in (3, 4):
            assert any(BY_NAME[name].role == "state" for name in names)
        assert bool(raising) == (level == 4)
        assert bool(exercise.large) == (level >= 4)
        assert bool(exercise.builder) == (level == 5)


def sharing(n: int) -> list[tuple[int, str, str]]:
    """Structures and keys that two splits share, over n samples."""
    owners: dict[str, str] = {}
    shared = []
    for level in LEVELS:
        for split in SPLITS:
            for exercise in exercises(level, n // 15, split):
                for mark in (key(exercise), content_hash(exercise.identity)):
                    if owners.setdefault(mark, split) != split:
                        shared.append((level, split, mark))
    return shared


def test_the_splits_share_no_function_and_no_sequence() -> None:
    assert sharing(900) == []


@pytest.mark.slow
def test_the_splits_share_no_function_and_no_sequence_over_10000_samples() -> None:
    assert sharing(10_000) == []


def test_a_task_has_the_structure_of_its_function_alone() -> None:
    program = Program((Step(BY_NAME["add"], (("k", 3),)),))
    assert program.identity() == Program((Step(BY_NAME["add"], (("k", 3),)),)).identity()
    assert program.identity() != Program((Step(BY_NAME["add"], (("k", 4),)),)).identity()
    tasks = distinct_tasks(CodingTasks("function"), 1, 128)
    assert len({task.structure for task in tasks}) == 128


@pytest.mark.parametrize("level", LEVELS)
def test_every_split_of_a_level_holds_128_functions(level: int) -> None:
    n = 128 if level < 4 else 32  # of the higher levels no two samples were ever equal
    for split in ("train", "test"):
        assert len(distinct_tasks(CodingTasks("function"), level, n, split=split)) == n


def test_every_operation_is_practiced_in_train_beyond_level_1() -> None:
    practiced: Counter[str] = Counter()
    for after in OPERATIONS:
        for step in OPERATIONS:
            if may_follow(step, after) and split_of(key_of((after, step))) == "train":
                practiced.update((after.name, step.name))
    assert [operation.name for operation in OPERATIONS if practiced[operation.name] < 3] == []


def test_the_last_text_of_an_operation_is_kept_for_the_test_split() -> None:
    kept = [Step(operation, ()).operation.texts[-1].split("{")[0].strip() for operation in OPERATIONS]
    others = " ".join(text for operation in OPERATIONS for text in operation.texts[:-1])
    kept = [text for text in kept if len(text) > 20 and text.lower() not in others.lower()]
    assert len(kept) > 60

    def count(split: str) -> int:
        return sum(any(text.lower() in task.prompt.lower() for text in kept) for task in draw(1, 150, split))

    assert count("train") == count("validation") == 0
    assert count("test") > 10


def probes(rng: np.random.Generator) -> dict[str, list[Any]]:
    """Inputs of each kind, of every generator."""
    found: dict[str, list[Any]] = defaultdict(list)
    for kind, inputs in {(operation.takes, operation.inputs): operation for operation in OPERATIONS}.items():
        found[kind[0]] += [draw_input(inputs, rng) for _ in range(30)]
    return found


def values_of(exercise: Exercise, inputs: dict[str, list[Any]]) -> str:
    """What a function gives everywhere, without its edge rule; "" where that is next to nothing."""
    steps = tuple(Step(BY_NAME[name], tuple(params), total) for name, total, params in exercise.identity[0])
    values = []
    for value in inputs[steps[0].operation.takes]:
        try:
            values.append(repr(Program(steps).run(value)))
        except (ValueError, IndexError):
            values.append("!")
    return f"{steps[0].operation.takes} {values}" if len(set(values)) > 3 else ""


def test_next_to_no_function_of_the_test_split_does_what_a_trained_one_does() -> None:
    """Compared by their values at many inputs: what the normal form of sequences leaves are rare coincidences."""
    inputs = probes(np.random.default_rng(0))
    seen = {
        split: {values_of(exercise, inputs) for level in (1, 2, 3) for exercise in exercises(level, 500, split)} - {""}
        for split in ("train", "test")
    }
    n_doubles, n_test = len(seen["test"] & seen["train"]), len(seen["test"])
    assert n_test > 800
    assert n_doubles / n_test < 0.01


@pytest.mark.parametrize("name", [operation.name for operation in OPERATIONS if operation.slow])
def test_the_slow_form_of_an_operation_does_the_same(name: str) -> None:
    rng = np.random.default_rng(0)
    operation = BY_NAME[name]
    fast = draw_steps((operation,), rng, total=False)[0]
    slow = Step(Operation(name, "", operation.takes, operation.gives, operation.slow, ()), fast.params)
    for _ in range(30):
        value = draw_input(operation, rng)
        assert slow.run(value) == fast.run(value)


def test_every_question_is_asked_in_train() -> None:
    asked = {exercise.identity[1] for exercise in exercises(5, 400, "train")}
    assert {query.name for query in QUERIES} - asked == set()


def test_texts_say_one_thing_in_the_singular_and_name_numbers_instead_of_terms() -> None:
    for operation in OPERATIONS:
        for choices in zip(*operation.params.values(), strict=False):
            step = Step(operation, tuple(zip(operation.params, choices, strict=True)))
            texts = " | ".join(step.text(variant) for variant in range(3))
            assert re.search(r"\b1 (numbers|words|characters|letters)\b|\d \* \d|\.\.\.|[{}]", texts) is None, texts
    assert Step(BY_NAME["drop-words"], (("k", 1),)).text(0) == "drop the first word"
    assert Step(BY_NAME["every"], (("k", 3),)).text(1) == "take the numbers at positions 0, 3, 6 and so on"


def test_each_step_and_each_question_can_be_said_in_three_ways() -> None:
    assert [thing.name for thing in (*OPERATIONS, *QUERIES) if len(set(thing.texts)) != 3] == []


@pytest.mark.parametrize("level", [4, 5])
def test_a_large_input_is_made_again_the_same_and_its_answer_is_quick(level: int) -> None:
    for task in draw(level, 3):
        first, cpu_s = large_case(task)
        assert len(first["args"][0] if isinstance(first["args"][0], list) else first["args"][0].split()) == 100_000
        assert first == large_case(task)[0]
        assert cpu_s < 2 / 3  # three times this is below the floor of the limit, so that the floor decides


@pytest.mark.parametrize("level", [4, 5])
def test_a_large_case_is_paid_and_hardly_ever_has_a_value_that_is_shown(level: int) -> None:
    n_known = 0
    for task in draw(level, 12, "test", seed=3):
        case, _ = large_case(task)
        shown = [value for _, value in task.public["examples"]]
        assert case["paid"]
        n_known += case["value"] in (*CONSTANTS, *shown)
    assert n_known == 0


@pytest.mark.parametrize("level", [2, 3, 4])
def test_each_step_changes_something_that_is_shown_and_something_that_is_paid(level: int) -> None:
    for exercise in exercises(level, 40, "train"):
        steps = tuple(Step(BY_NAME[name], tuple(params), total) for name, total, params in exercise.identity[0])
        paid = [case for case in exercise.hidden if case.paid]
        for number, step in enumerate(steps):
            if step.operation.takes != step.operation.gives:
                continue
            for cases in (exercise.shown, paid):
                assert any(without(steps, number, case.args[0]) != case.value for case in cases), exercise.prompt


def without(steps: tuple[Step, ...], number: int, value: Any) -> Any:
    """What a function gives without one of its steps."""
    try:
        return Program(steps).run(value, skip=number)
    except (ValueError, IndexError):
        return None


@pytest.mark.parametrize(
    "names",
    [
        "without records",
        "above records",
        "join-neighbors lengths",
        "join-neighbors letter-in-each",
        "shorten longer-than-all",
        "letter-positions kinds",
        "sorted-values cancel-pairs descending",
        "sorted-values window-sum smallest",
        "multiply running-sum count-above",
    ],
)
def test_a_sequence_that_another_one_equals_is_not_drawn(names: str) -> None:
    steps = [BY_NAME[name] for name in names.split()]
    pairs = itertools.pairwise(steps)
    assert not (all(may_follow(step, after) for after, step in pairs) and is_plain(steps))


@pytest.mark.parametrize("level", LEVELS)
def test_an_id_loads_the_same_task(level: int) -> None:
    for split in SPLITS:
        for task in draw(level, 2, split):
            assert CodingTasks("function").load(task.id) == task


def test_a_task_of_the_other_family_is_not_loaded() -> None:
    with pytest.raises(TaskError, match="no task of family 'function'"):
        CodingTasks("function").load("coding-expression-1-test-2a")


@pytest.mark.parametrize("level", LEVELS)
def test_a_prompt_is_short_and_does_not_hold_the_reference(level: int) -> None:
    tasks = draw(level, 60)
    examples = [sum(len(json.dumps(example)) for example in task.public["examples"]) for task in tasks]
    assert all(task.hidden["reference"] not in task.prompt for task in tasks)
    assert np.mean([len(task.prompt) for task in tasks]) < {1: 170, 2: 250, 3: 330, 4: 480, 5: 560}[level]
    assert max(examples) < 400


GOLDEN = {
    1: "7aa5546638d0c0a26e50efdee95d362f",
    2: "e344232a3d6b0993291dbe7078104992",
    3: "2ceb37bd3e2892380d9b10cd972649e4",
    4: "48f81bc6cba1af4ceda18056865d2d5b",
    5: "ff0aa95a258723d0ab74baf9ad50cc8b",
}


def test_tasks_are_the_same_in_a_fresh_process_with_another_hash_seed() -> None:
    code = (
        "from workgym.tasks.coding.source import CodingTasks\n"
        "source = CodingTasks('function')\n"
        "for level in range(1, 6): print(source.load(f'coding-function-{level}-test-2a').content_hash())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "77"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == list(GOLDEN.values())


@pytest.mark.slow
@pytest.mark.xdist_group("alone")
@pytest.mark.parametrize("level", LEVELS)
def test_200_tasks_are_sampled_in_a_cpu_second(level: int) -> None:
    draw(level, 50)
    began = time.process_time()
    draw(level, 200, seed=1)
    assert time.process_time() - began < 1.5  # with some room: a busy machine counts more CPU time for the same work
