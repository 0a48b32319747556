"""The suites that come with workgym, played in the real environments with real code running."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from workgym.agents.archive import FRAMES, Archive
from workgym.agents.clock import cpu_seconds
from workgym.agents.evaluate import evaluate
from workgym.agents.frames import scan_frames
from workgym.agents.policies.scripted import named_policy
from workgym.agents.rack import EnvRack
from workgym.agents.records import fingerprint
from workgym.agents.regrade import regrade
from workgym.agents.trajectory import Trajectory
from workgym.benchmarks.evaluation import evaluate_suite
from workgym.benchmarks.suite import SUITES, Suite
from workgym.tasks.task import Task

SUITE = replace(SUITES["coding-expression"].sets[0], levels=(1, 3), n_tasks=4)
PLAYERS = ("oracle", "noop", "random", "always-equal", "sys-exit")
CANARY = "canary-51c0de"


@pytest.fixture(scope="module")
def rack(require_backend: Callable[[str], None]) -> Iterator[EnvRack]:
    require_backend("local")
    with EnvRack(SUITE.make_env, 4) as opened:
        yield opened


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return [replace(task, hidden={**task.hidden, "note": CANARY}) for task in SUITE.tasks()]


def played(rack: EnvRack, name: str, tasks: list[Task], archive: Archive | None = None) -> list[Trajectory]:
    return evaluate(named_policy(rack.env(0), name), rack, tasks, archive=archive)


def test_the_suite_holds_every_level_and_only_the_test_split() -> None:
    (tasks,) = SUITES["coding-expression"].draw()
    assert {task.level for task in tasks} == {1, 2, 3, 4, 5}
    assert {task.split for task in tasks} == {"test"}
    assert len({task.structure for task in tasks if task.level == 1}) == 64


def solved(suite: Suite, player: str) -> list[bool]:
    episodes = evaluate_suite(lambda rack: named_policy(rack.env(0), player), suite)
    assert all(one.valid for one in episodes)
    return [one.success for one in episodes]


def one_task_a_level(suite: Suite) -> Suite:
    return replace(suite, sets=tuple(replace(one, n_tasks=1) for one in suite.sets))


@pytest.mark.parametrize("name", sorted(SUITES))
def test_an_oracle_solves_every_level_of_a_suite_and_noop_none(
    name: str, require_backend: Callable[[str], None]
) -> None:
    require_backend("local")
    suite = one_task_a_level(SUITES[name])
    assert set(solved(suite, "oracle")) == {True}
    assert set(solved(suite, "noop")) == {False}


@pytest.mark.slow
@pytest.mark.xdist_group("alone")
def test_the_oracle_needs_less_than_a_minute_for_the_suite_core(require_backend: Callable[[str], None]) -> None:
    require_backend("local")
    began_s = time.monotonic()
    assert all(solved(SUITES["core"], "oracle"))
    assert time.monotonic() - began_s < 60


@pytest.mark.parametrize("name", PLAYERS)
def test_an_evaluation_is_the_same_again_but_for_the_clocks(rack: EnvRack, tasks: list[Task], name: str) -> None:
    assert list(map(fingerprint, played(rack, name, tasks))) == list(map(fingerprint, played(rack, name, tasks)))


@pytest.mark.parametrize("name", PLAYERS)
def test_only_the_oracle_is_paid(rack: EnvRack, tasks: list[Task], name: str) -> None:
    episodes = played(rack, name, tasks)
    assert all(one.valid for one in episodes)
    assert {one.success for one in episodes} == {name == "oracle"}


def test_the_cost_of_episodes_is_the_cpu_that_was_used_sandboxes_included(rack: EnvRack, tasks: list[Task]) -> None:
    before = cpu_seconds(), time.process_time()
    episodes = played(rack, "oracle", tasks * 3)
    used, own = cpu_seconds() - before[0], time.process_time() - before[1]
    assert sum(one.cost.cpu_s for one in episodes) == pytest.approx(used, rel=0.2, abs=0.05)
    assert used > own + 0.05  # most is used by the sandboxes


@pytest.mark.parametrize("name", PLAYERS)
def test_nothing_hidden_is_in_the_archive(rack: EnvRack, tasks: list[Task], name: str, tmp_path: Path) -> None:
    with Archive.open(tmp_path, "a") as archive:
        played(rack, name, tasks, archive)
    content = b"".join(frame.content for frame in scan_frames(tmp_path / FRAMES))
    assert content.count(b"\n") == len(tasks)
    assert CANARY.encode() not in content


def test_judging_again_gives_the_same_verdicts(rack: EnvRack, tmp_path: Path) -> None:
    with Archive.open(tmp_path, "a") as archive:
        for name in PLAYERS:
            evaluate(named_policy(rack.env(0), name), rack, SUITE.tasks(), prefix=name, archive=archive)
        result = regrade(archive)
    assert result.count("equal") == len(result.results) == 8 * len(PLAYERS)
