"""Evaluating a policy, archiving it, and judging the archive again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import gymnasium as gym
import pytest
import toy_domain

from workgym.agents.archive import FRAMES, Archive
from workgym.agents.evaluate import evaluate, seats_for
from workgym.agents.frames import scan_frames
from workgym.agents.policies.scripted import named_policy
from workgym.agents.rack import EnvRack
from workgym.agents.records import fingerprint
from workgym.agents.regrade import Regraded, regrade
from workgym.agents.trajectory import Trajectory
from workgym.envs.verify import Attempt, Check, Verdict
from workgym.tasks.errors import ArchiveError
from workgym.tasks.source import distinct_tasks

TASKS = distinct_tasks(toy_domain.ToyTasks(), 2, 6)


@pytest.fixture
def rack() -> Iterator[EnvRack]:
    with EnvRack(lambda: gym.make("Toy-v0", level=2), 4) as opened:
        yield opened


def played(rack: EnvRack, name: str = "oracle", **options: int) -> list[Trajectory]:
    return evaluate(named_policy(rack.env(0), name), rack, TASKS, **options)


def test_every_task_is_played_as_often_as_asked(rack: EnvRack) -> None:
    episodes = played(rack, n_repeats=2)
    assert [one.task_id for one in episodes] == [task.id for task in TASKS for _ in range(2)]
    assert [one.rollout_id for one in episodes[:3]] == ["eval/00000-0", "eval/00000-1", "eval/00001-0"]


def test_the_seed_decides_every_seat() -> None:
    seeds = [seat.seed for seat in seats_for(TASKS, seed=1, n_repeats=3)]
    assert seeds == [seat.seed for seat in seats_for(TASKS, seed=1, n_repeats=3)]
    assert len({*seeds, *(seat.seed for seat in seats_for(TASKS, seed=2, n_repeats=3))}) == 36


def test_an_evaluation_can_be_repeated_exactly(rack: EnvRack) -> None:
    assert list(map(fingerprint, played(rack))) == list(map(fingerprint, played(rack)))


def test_nothing_to_evaluate_is_refused() -> None:
    with pytest.raises(ValueError, match="0 tasks"):
        seats_for([])
    with pytest.raises(ValueError, match="0 repeats"):
        seats_for(TASKS, n_repeats=0)


def test_every_episode_is_archived_before_it_is_told(rack: EnvRack, tmp_path: Path) -> None:
    told: list[int] = []
    with Archive.open(tmp_path, "a") as archive:
        policy = named_policy(rack.env(0), "oracle")
        episodes = evaluate(policy, rack, TASKS, archive=archive, on_end=lambda _: told.append(len(archive)))
        assert list(archive) == episodes
    assert told == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("name", ["oracle", "noop", "random", "looker"])
def test_nothing_hidden_is_in_the_archive(rack: EnvRack, tmp_path: Path, name: str) -> None:
    with Archive.open(tmp_path, "a") as archive:
        evaluate(named_policy(rack.env(0), name), rack, TASKS, archive=archive)
    assert toy_domain.CANARY.encode() not in b"".join(frame.content for frame in scan_frames(tmp_path / FRAMES))
    assert all(task.hidden["note"] == toy_domain.CANARY for task in TASKS)


def test_a_leak_into_the_archive_would_be_seen(rack: EnvRack, tmp_path: Path) -> None:
    episode = played(rack)[0]
    with Archive.open(tmp_path, "a") as archive:
        archive.append(replace(episode, attempt=Attempt(episode.task_id, TASKS[0].hidden["note"])))
    assert toy_domain.CANARY.encode() in b"".join(frame.content for frame in scan_frames(tmp_path / FRAMES))


# ---- judging again


@pytest.mark.parametrize("name", ["oracle", "noop", "random", "looker"])
def test_an_archived_attempt_gets_the_same_verdict_again(rack: EnvRack, tmp_path: Path, name: str) -> None:
    with Archive.open(tmp_path, "a") as archive:
        evaluate(named_policy(rack.env(0), name), rack, TASKS, archive=archive)
        result = regrade(archive)
    assert [one.status for one in result.results] == ["equal"] * 6
    assert result.reproduced


@pytest.mark.parametrize(
    "verdict",
    [
        Verdict(0.5, False, (Check("right", 0.5, "compared with the double", "wrong"),)),
        Verdict(1.0, True, (Check("right", 1.0, "compared with a double"),)),
        Verdict(1.0, True, (Check("right", 1.0, "compared with the double"),), integrity=False),
        Verdict(1 - 2**-53, True, (Check("right", 1.0, "compared with the double"),)),
    ],
)
def test_a_verdict_that_differs_in_anything_is_seen(rack: EnvRack, verdict: Verdict) -> None:
    result = regrade([replace(played(rack)[0], verdict=verdict)])
    assert result.results[0].status == "different"
    assert result.results[0].now == Verdict(1.0, True, (Check("right", 1.0, "compared with the double"),))
    assert not result.reproduced


def test_a_task_that_has_drifted_is_refused_unless_it_may_be_left_out(rack: EnvRack) -> None:
    sound, *_ = played(rack)
    drifted = replace(sound, rollout_id="d", task_hash="0" * 32)
    gone = replace(sound, rollout_id="g", task_id="toy/x/y")
    for bad in (drifted, gone):
        with pytest.raises(ArchiveError, match=f"rollout '{bad.rollout_id}'.*skip_drifted"):
            regrade([sound, bad])
    told: list[Regraded] = []
    result = regrade([sound, drifted, gone], skip_drifted=True, on_result=told.append)
    assert [one.status for one in result.results] == ["equal", "drifted", "drifted"]
    assert told == list(result.results)
    assert not result.reproduced


def test_an_episode_whose_infrastructure_failed_has_nothing_to_compare_with(rack: EnvRack) -> None:
    result = regrade(played(rack, "breaker"))
    assert [one.status for one in result.results] == ["nothing"] * 6


@pytest.mark.parametrize(
    "recipe",
    ["", "[]", '{"id": "Toy-v0"}', '{"id": "Toi-v0", "kwargs": {}}', '{"id": "Toy-v0", "kwargs": {"levle": 1}}'],
)
def test_a_record_whose_environment_cannot_be_made_is_refused(rack: EnvRack, recipe: str) -> None:
    with pytest.raises(ArchiveError, match="environment"):
        regrade([replace(played(rack)[0], env=recipe)])
