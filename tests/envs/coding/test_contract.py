"""Coding-v0 keeps the contract of the suite, with real execution."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env

import workgym
from workgym.envs.coding.policies import erring_oracle
from workgym.envs.env import WorkEnv
from workgym.tasks.errors import TaskError
from workgym.tasks.source import distinct_tasks
from workgym.tasks.task import Task


@pytest.fixture(autouse=True)
def _local_sandbox(require_backend: Callable[[str], None]) -> None:
    require_backend("local")


KINDS = [{"family": "expression"}, {"family": "expression", "style": "short"}, {"family": "function"}]
KINDS += [{"family": "function", "style": "short", "level": 5}]


@pytest.fixture
def env() -> Iterator[WorkEnv]:
    env = gym.make("Coding-v0")
    yield env.unwrapped  # type: ignore[misc]
    env.close()


def play(env: WorkEnv, player: Any, **options: Any) -> tuple[float, dict[str, Any]]:
    observation, info = env.reset(options=options)
    while True:
        observation, reward, terminated, truncated, info = env.step(player(observation, info, env))
        if terminated or truncated:
            return float(reward), info


def test_the_id_is_known_once_workgym_is_imported() -> None:
    assert workgym.__version__
    assert "Coding-v0" in gym.registry


def test_the_module_form_needs_no_import() -> None:
    code = (
        "import gymnasium as gym; env = gym.make('workgym:Coding-v0', level=2); env.reset(seed=1);"
        "print(env.step('run 1')[4]['level']); env.close()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "2"


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_check_env_passes_without_a_warning(kind: dict[str, Any]) -> None:
    env = gym.make("Coding-v0", render_mode="ansi", **kind)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)
    env.close()


@pytest.mark.parametrize("family", ["expression", "function"])
def test_the_spec_survives_json_and_makes_the_same_environment(family: str) -> None:
    env = gym.make("Coding-v0", level=3, style="short", family=family)
    assert env.spec is not None
    spec = EnvSpec.from_json(env.spec.to_json())
    again = gym.make(spec)
    assert env.reset(seed=7) == again.reset(seed=7)
    env.close()
    again.close()


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_vectors_of_environments_work(mode: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        envs = gym.make_vec("Coding-v0", num_envs=3, vectorization_mode=mode, style="short")
        try:
            observations, infos = envs.reset(seed=3)
            assert len(set(observations)) == 3
            assert list(infos["turn"]) == [0, 0, 0]
            observations, rewards, terminated, _, infos = envs.step(("run 1*x", "submit x", "nonsense"))
            assert observations[0].endswith((" no", " ok"))
            assert list(terminated) == [False, True, False]
            assert list(rewards) == [0.0, 0.0, 0.0]
            assert list(infos["action_valid"]) == [True, True, False]
        finally:
            envs.close()


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_vectors_of_environments_that_ask_for_functions_work(mode: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        envs = gym.make_vec("Coding-v0", num_envs=3, vectorization_mode=mode, family="function", level=2)
        try:
            observations, infos = envs.reset(seed=3)
            assert len(set(observations)) == 3
            assert list(infos["family"]) == ["function"] * 3
            actions = ("run x = 1", "```python\nx = 1\n```", "nonsense")
            observations, rewards, terminated, _, infos = envs.step(actions)
            assert "0 of 3 examples are right" in observations[0]
            assert list(terminated) == [False, True, False]
            assert list(rewards) == [0.0, 0.0, 0.0]
            assert list(infos["action_valid"]) == [True, True, False]
        finally:
            envs.close()


def test_a_run_shows_the_values_and_what_was_wanted(env: WorkEnv) -> None:
    first, _ = env.reset(options={"task_id": "coding-expression-1-test-2a"})
    assert first.splitlines()[1:] == ["x = 0: 7", "x = 1: 16", "x = 10: 97"]
    observation = env.step("run 9*x+8")[0]
    assert observation.splitlines() == [
        "x = 0: 8 (wanted 7)",
        "x = 1: 17 (wanted 16)",
        "x = 10: 98 (wanted 97)",
        "0 of 3 examples have the value wanted",
    ]
    _, reward, _, _, info = env.step("submit 9*x+7")
    assert (reward, info["reward_valid"], info["is_success"]) == (1.0, True, True)


@pytest.mark.parametrize(
    "expression",
    [
        "[[0] * 9000] * 9",
        "type('a\\nx = 1: 30\\x1b', (), {})()",
        "__import__('os').write(3, b'{\"syntax\": \"a\\\\nx = 1: 30\\\\u001b\"}\\n') and __import__('os')._exit(0)",
    ],
    ids=["large", "name of a type", "answer on the channel"],
)
def test_a_run_cannot_forge_lines_of_its_observation(env: WorkEnv, expression: str) -> None:
    env.reset(options={"task_id": "coding-expression-1-test-2a"})
    honest = env.step("run x")[0].splitlines()
    observation, _, terminated, truncated, _ = env.step(f"run {expression}")
    assert len(observation.splitlines()) in (1, len(honest))
    assert all(line.isprintable() for line in observation.splitlines())
    assert (terminated, truncated) == (False, False)


def test_short_style_says_the_same_in_a_few_characters() -> None:
    env = gym.make("Coding-v0", style="short")
    assert env.reset(options={"task_id": "coding-expression-1-test-2a"})[0] == "0:7 1:16 10:97"
    assert env.step("r 9*x+8")[0] == "8 17 98 no"
    assert env.step("r 9*x+7")[0] == "7 16 97 ok"
    assert env.step("s 9*x+7")[1] == 1.0
    env.close()


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("9*x+", "SyntaxError"),
        ("y", "NameError"),
        ("1/0", "ZeroDivisionError"),
        ("__import__('sys').exit(0)", "SystemExit"),
        ("", "SyntaxError"),
        ("(" * 500, "SyntaxError"),
        ("\x00", "SyntaxError"),
    ],
)
def test_an_expression_that_fails_is_shown_its_error(env: WorkEnv, expression: str, words: str) -> None:
    env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step(
        {"name": "run", "arguments": {"expression": expression}}
    )
    assert words in observation
    assert (reward, terminated, truncated, info["action_valid"]) == (0.0, False, False, True)


@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_the_oracle_scores_1_noop_and_random_score_0_and_half_right_lies_between(env: WorkEnv, level: int) -> None:
    players = env.domain.players
    tasks = distinct_tasks(env.domain.source, level, 12)
    rewards = {
        name: float(np.mean([play(env, players[name], task=task)[0] for task in tasks]))
        for name in ("oracle", "noop", "random", "half-right")
    }
    assert rewards["oracle"] == 1.0
    assert rewards["noop"] == 0.0
    assert rewards["random"] <= 0.02
    assert 0 < rewards["half-right"] < 1


def test_an_oracle_that_errs_more_succeeds_less(env: WorkEnv) -> None:
    tasks = distinct_tasks(env.domain.source, 2, 24)
    ladder = [
        float(np.mean([play(env, erring_oracle(rate), task=task)[0] for task in tasks]))
        for rate in (0.0, 0.3, 0.6, 1.0)
    ]
    assert ladder == sorted(ladder, reverse=True)
    assert ladder[0] == 1.0
    assert ladder[-1] < 0.2


def test_corrupting_one_hidden_answer_makes_the_oracle_fail(env: WorkEnv) -> None:
    env.reset(options={"task_id": "coding-expression-1-test-2a"})
    env.task.hidden["cases"][3][1] += 1
    env.step(env.oracle_action())
    _, reward, _, _, info = env.step(env.oracle_action())
    assert reward == 7 / 8
    assert info["is_success"] is False


def test_an_answer_is_judged_by_value_not_by_type_or_text(env: WorkEnv) -> None:
    for text, reward in (("9.0*x+7", 1.0), ("7+x*9", 1.0), ("str(9*x+7)", 0.0), ("[9*x+7]", 0.0)):
        env.reset(options={"task_id": "coding-expression-1-test-2a"})
        assert env.step(f"submit {text}")[1] == reward


def test_nothing_hidden_reaches_the_agent(env: WorkEnv) -> None:
    """Search for the reference, for the first cases, and for a canary that was planted beside them."""
    hunt = "[text for text in __import__('gc').get_objects() if type(text) is str and 'PLANTED-' 'CANARY' in text]"
    for seed in range(5):
        task = env.domain.source.sample(1, np.random.default_rng(seed))
        planted = replace(task, hidden={**task.hidden, "canary": "PLANTED-CANARY"})
        shown: list[object] = list(env.reset(options={"task": planted}))
        for action in (
            f"run {hunt}",
            "run __import__('gc').get_objects()",
            "run open('/proc/self/cmdline').read()",
            "submit x",
        ):
            shown.extend(env.step(action))
        text = repr([shown, env.attempt, env.verdict, env.tools_schema()])
        assert "PLANTED-CANARY" not in text
        assert "PLANTED-CANARY" in repr(env.task.hidden)  # the same search finds it where it is
        assert env.task.hidden["reference"] not in text
        assert not re.search(r"\b" + r"\D+".join(str(value) for _, value in env.task.hidden["cases"][:2]), text)


def test_a_second_judgment_is_the_same_to_the_bit(env: WorkEnv) -> None:
    env.reset(options={"task_id": "coding-expression-5-test-2a"})
    env.step("submit 6*x+7")
    assert env.attempt is not None
    verdicts = {env.grade(env.attempt) for _ in range(3)}
    assert verdicts == {env.verdict}
    assert 0 < env.verdict.reward < 1


def test_the_same_seed_and_actions_give_the_same_observations(env: WorkEnv) -> None:
    def run() -> list[Any]:
        return [env.reset(seed=11), *(env.step(action) for action in ("run 3*x", "run 1/0", "run id", "submit x"))]

    first, second = run(), run()
    assert json.dumps(first, default=str) == json.dumps(second, default=str)


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"family": "expresion"}, "Did you mean 'expression'"),
        ({"level": 9}, "unknown level 9"),
        ({"sandbox": "locale"}, "Did you mean 'local'"),
        ({"style": "shorts"}, "Did you mean 'short'"),
        ({"split": "eval"}, "unknown split"),
    ],
)
def test_a_name_that_does_not_exist_answers_with_the_nearest(keywords: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        gym.make("Coding-v0", **keywords)


def test_a_task_of_another_family_is_refused(env: WorkEnv) -> None:
    with pytest.raises(TaskError, match="of family 'function'; this environment plays 'expression'"):
        env.reset(options={"task": Task("x", "coding", "function", 1, "test", "")})


@pytest.mark.parametrize("expression", ["10**5000", "[10**5000]", "(x+9)**6000", "{1: (10**5000,)}"])
def test_a_number_too_large_to_write_out_is_shown_as_such_and_the_episode_goes_on(
    env: WorkEnv, expression: str
) -> None:
    env.reset(options={"task_id": "coding-expression-1-test-2a"})
    observation, _, terminated, truncated, info = env.step(f"run {expression}")
    assert "too large to show" in observation
    assert (terminated, truncated, info["action_valid"]) == (False, False, True)
    assert env.step("submit 9*x+7")[1] == 1.0
