"""Reinforcement teaches what the rewards say, and nothing where they say nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
import torch

from workgym.agents.engines.engine import SamplingParams
from workgym.agents.engines.local import LocalEngine
from workgym.agents.evaluate import evaluate
from workgym.agents.message import message
from workgym.agents.models import Llama, LlamaConfig
from workgym.agents.outcomes import summarize
from workgym.agents.policies.model import ModelPolicy
from workgym.agents.rack import EnvRack
from workgym.agents.renderer import CharRenderer, demonstration
from workgym.agents.tokenizer import CharTokenizer
from workgym.agents.trajectory import Trajectory
from workgym.envs.domain import Domain, Observation
from workgym.envs.env import WorkEnv
from workgym.envs.tool import End, Tool, ToolTable
from workgym.envs.verify import Attempt, Check, Layer
from workgym.tasks.errors import PolicyError, SandboxError
from workgym.tasks.source import distinct_tasks, split_of
from workgym.tasks.task import Budget, Task
from workgym.training.batch import Batch
from workgym.training.curriculum import Uniform, arms_of
from workgym.training.losses.loss import TokenLoss
from workgym.training.stages.rlvr import RlvrPlan, rlvr
from workgym.training.stages.sft import SftPlan, sft
from workgym.training.trainer import Trainer, TrainerConfig

LETTERS = "abcd"


class FirstLetter:
    """Say the first of three letters. 64 words, a third of them held out; 1 in 4 is guessed."""

    version = "1"
    levels = (1,)

    def sample(self, level: int, rng: np.random.Generator, split: str = "train") -> Task:
        while True:
            word = "".join(LETTERS[i] for i in rng.integers(0, len(LETTERS), 3))
            if split_of(word) == split:
                return self.load(word)

    def load(self, task_id: str) -> Task:
        return Task(
            task_id,
            "letters",
            "first",
            1,
            split_of(task_id),
            task_id,
            structure=task_id,
            hidden={"letter": task_id[0]},
            budget=Budget(turns=1),
        )


class Saying:
    """One tool for each letter; it ends the episode. Where `fragile`, saying "d" loses the machine."""

    def __init__(self, task: Task, fragile: bool = False) -> None:
        self.task, self.fragile = task, fragile
        nothing = {"type": "object", "properties": {}}
        self.tools = ToolTable([Tool(letter, "Say it.", nothing, self.say(letter)) for letter in LETTERS])

    def say(self, letter: str) -> Any:
        def call() -> End:
            if self.fragile and letter == "d":
                raise SandboxError("the machine is gone")
            return End("submitted", letter)

        return call

    def observe(self) -> Observation:
        return Observation(self.task.prompt)

    def attempt(self, submission: str | None) -> Attempt:
        return Attempt(self.task.id, submission)

    def snapshot(self) -> object:
        return self.task.id

    def restore(self, snapshot: Any) -> None: ...

    def fork(self, n: int) -> Sequence[Saying]:
        return [Saying(self.task) for _ in range(n)]

    def close(self) -> None: ...


def said_it(findings: tuple[Attempt, Task]) -> Check:
    attempt, task = findings
    return Check("said", float(attempt.submission == task.hidden["letter"]))


def letters(fragile: bool = False) -> Domain:
    return Domain(
        "letters",
        "1",
        FirstLetter(),
        lambda task, pools: Saying(task, fragile),
        lambda attempt, task, pools: (attempt, task),
        (Layer(said_it, weight=1.0),),
    )


def imitate_guesses(model: Llama, renderer: CharRenderer) -> None:
    """Teach the form of an action, and nothing of which one is right."""
    rng = np.random.default_rng(0)
    words = [task.prompt for task in distinct_tasks(FirstLetter(), 1, 32, split="train")]
    rows = [
        demonstration(renderer, [message("user", words[i]), message("assistant", LETTERS[j])])
        for i, j in rng.integers(0, (len(words), len(LETTERS)), (512, 2))
    ]
    plan = SftPlan(n_steps=40, n_rows=64, seed=0)
    sft(Trainer(model, TrainerConfig(lr=3e-3)), rows, plan, after_step=lambda step, metrics: None)


class Learner:
    """A model of a few thousand parameters that has learned to say one letter at random, and what it needs to play."""

    def __init__(self, lr: float) -> None:
        torch.set_num_threads(1)
        tokenizer = CharTokenizer(LETTERS)
        shape = LlamaConfig(tokenizer.n_ids, d_model=32, n_layers=2, n_heads=2, d_ff=64, max_positions=32)
        self.model = Llama(shape, seed=3)
        imitate_guesses(self.model, CharRenderer(tokenizer))
        self.trainer = Trainer(self.model, TrainerConfig(lr=lr))
        self.policy = ModelPolicy(LocalEngine(self.model, max_rows=64), CharRenderer(tokenizer), SamplingParams())
        self.lines: list[dict[str, float]] = []
        self.episodes: list[Trajectory] = []

    def practice(self, rack: EnvRack, n_steps: int = 100, **plan: Any) -> None:
        settings = {"n_tasks": 16, "group_size": 4, "seed": 5, "max_turn_tokens": 2} | plan

        def after_step(step: int, metrics: Mapping[str, float]) -> None:
            self.lines.append({"step": float(step), **metrics})

        plan_ = RlvrPlan(n_steps=n_steps, **settings)
        rlvr(
            self.trainer,
            self.policy,
            rack,
            Uniform(arms_of("letters", FirstLetter(), (1,))),
            plan_,
            on_end=self.episodes.append,
            after_step=after_step,
        )

    def success(self, rack: EnvRack, split: str = "test") -> float:
        tasks = distinct_tasks(FirstLetter(), 1, 16, split=split)
        return summarize(evaluate(self.policy, rack, tasks, n_repeats=8, max_turn_tokens=2)).success


class WatchedTrainer(Trainer):
    """Remembers which episodes it was given."""

    def __init__(self, model: Llama, config: TrainerConfig) -> None:
        super().__init__(model, config)
        self.trained: set[str] = set()

    def step(self, batch: Batch, loss: TokenLoss) -> dict[str, float]:
        self.trained |= set(batch.rollout_ids)
        return super().step(batch, loss)


@pytest.fixture
def rack() -> Any:
    with EnvRack(lambda: WorkEnv(letters()), 64, n_threads=1) as rack:
        yield rack


def test_practice_raises_success_on_words_that_were_never_practiced(rack: EnvRack) -> None:
    learner = Learner(lr=3e-3)
    before = learner.success(rack)
    learner.practice(rack)
    assert before < 0.35
    assert learner.success(rack) > 0.6
    assert {episode.split for episode in learner.episodes} == {"train"}


def test_shuffled_rewards_teach_nothing(rack: EnvRack) -> None:
    learner = Learner(lr=3e-3)
    before, known = learner.success(rack), learner.success(rack, "train")
    learner.practice(rack, shuffle_rewards=True)
    assert any(line.get("grad_norm", 0) > 0 for line in learner.lines)  # the weights did move
    assert learner.success(rack) < before + 0.15
    assert learner.success(rack, "train") < known + 0.15


def test_a_learning_rate_of_0_teaches_nothing_and_moves_no_weight(rack: EnvRack) -> None:
    learner = Learner(lr=0.0)
    weights = {name: tensor.clone() for name, tensor in learner.model.state_dict().items()}
    before = learner.success(rack)
    learner.practice(rack, n_steps=8)
    assert learner.success(rack) == before
    assert all(torch.equal(tensor, weights[name]) for name, tensor in learner.model.state_dict().items())


def test_what_infrastructure_failed_is_counted_and_never_trained_on() -> None:
    learner = Learner(lr=3e-3)
    learner.trainer = watched = WatchedTrainer(learner.model, TrainerConfig(lr=3e-3))
    with EnvRack(lambda: WorkEnv(letters(fragile=True)), 64, n_threads=1) as rack:
        learner.practice(rack, n_steps=5)
    lost = {episode.rollout_id for episode in learner.episodes if not episode.valid}
    assert sum(line.get("invalid/infrastructure", 0) for line in learner.lines) == len(lost) > 0
    assert not lost & watched.trained
    groups = [{name.rpartition("-")[0] for name in names} for names in (lost, watched.trained)]
    assert groups[0] & groups[1]  # the rest of a group that lost a member is trained on


@pytest.mark.parametrize("params", [SamplingParams(temperature=0.7), SamplingParams(greedy=True)])
def test_a_policy_that_samples_otherwise_than_it_is_trained_is_refused(rack: EnvRack, params: SamplingParams) -> None:
    learner = Learner(lr=3e-3)
    learner.policy = ModelPolicy(learner.policy.engine, learner.policy.renderer, params)
    with pytest.raises(PolicyError, match="make them the same"):
        learner.practice(rack, n_steps=1)


def test_the_engine_plays_with_the_weights_that_the_last_step_left(rack: EnvRack) -> None:
    learner = Learner(lr=3e-3)
    learner.practice(rack, n_steps=5)
    assert max(line.get("mismatch/logp_abs_max", 0.0) for line in learner.lines) < 1e-4
    versions = [max(episode.version) for episode in learner.episodes if any(episode.action)]
    assert versions == sorted(versions)
    assert versions[-1] == learner.trainer.n_steps - (1 if "loss" in learner.lines[-1] else 0)
