"""Two evaluations on the same tasks: the statistics, the pairing, and `workgym compare`."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import toy_domain
from episodes import make_trajectory
from eval_runs import run
from hypothesis import given
from hypothesis import strategies as st

from workgym.agents.archive import Archive
from workgym.agents.outcomes import wilson_interval
from workgym.agents.trajectory import Trajectory
from workgym.benchmarks.compare import COMPARE_COLUMNS, compare
from workgym.benchmarks.paired import paired_difference, paired_interval, sign_flip_p
from workgym.envs.verify import Verdict
from workgym.tasks.errors import TaskError

assert toy_domain.make, "importing it registers Toy-v0"

# ---- the test


@pytest.mark.parametrize(
    ("better", "worse", "p"),
    [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 2 / 32), (6, 0, 2 / 64), (8, 2, 112 / 1024), (10, 10, 1.0)],
)
def test_with_one_episode_a_task_it_is_mcnemars_exact_test(better: int, worse: int, p: float) -> None:
    flips = [Fraction(1)] * better + [Fraction(-1)] * worse + [Fraction(0)] * 7
    assert sign_flip_p(flips) == pytest.approx(p)
    n = better + worse
    tail = sum(math.comb(n, k) for k in range(max(better, worse), n + 1)) / 2**n
    assert sign_flip_p(flips) == pytest.approx(min(1, 2 * tail))


@given(st.lists(st.fractions(-1, 1, max_denominator=4), max_size=8))
def test_the_test_counts_every_choice_of_signs(flips: list[Fraction]) -> None:
    seen = abs(sum(flips, Fraction(0)))
    choices = list(itertools.product((1, -1), repeat=len(flips)))
    hits = sum(
        abs(sum((sign * one for sign, one in zip(signs, flips, strict=True)), Fraction(0))) >= seen for signs in choices
    )
    assert sign_flip_p(flips) == pytest.approx(hits / len(choices))


def test_differences_without_a_common_step_are_tested_by_drawing() -> None:
    odd = [Fraction(1, prime) for prime in (101, 103, 107, 109, 113, 127, 131)]
    assert sign_flip_p(odd) == pytest.approx(2 / 2**7, rel=0.15)
    assert sign_flip_p(odd) == sign_flip_p(odd)


# ---- the interval


def test_the_interval_has_the_value_of_its_source() -> None:
    """Method 10 of Newcombe 1998, written out for 20 pairs of successes, 18 of failures, 12 and 0 that differ."""
    a, b = [1.0] * 20 + [0.0] * 30, [1.0] * 20 + [1.0] * 12 + [0.0] * 18
    (la, ua), (lb, ub) = wilson_interval(20, 50), wilson_interval(32, 50)
    phi = (20 * 18 - 50 / 2) / math.sqrt(32 * 18 * 20 * 30)
    low = 0.24 - math.sqrt((0.64 - lb) ** 2 - 2 * phi * (0.64 - lb) * (ua - 0.4) + (ua - 0.4) ** 2)
    high = 0.24 + math.sqrt((ub - 0.64) ** 2 - 2 * phi * (ub - 0.64) * (0.4 - la) + (0.4 - la) ** 2)
    assert paired_interval(a, b, 50, 50) == pytest.approx((low, high))


def test_the_interval_leaves_room_where_nothing_differs() -> None:
    for share in (0.0, 1.0):
        low, high = paired_interval([share] * 10, [share] * 10, 10, 10)
        assert low < -0.2
        assert high > 0.2


@pytest.mark.parametrize(("n_tasks", "n_repeats"), [(16, 1), (40, 4)])
def test_interval_and_verdict_are_right_as_often_as_they_say(n_tasks: int, n_repeats: int) -> None:
    rng, n = np.random.default_rng(1), 150
    held = false_alarms = 0
    for _ in range(n):
        chance = rng.beta(1, 1, (n_tasks, 1))
        a, b = (rng.random((n_tasks, n_repeats)) < chance for _ in range(2))
        difference = paired_difference(a.tolist(), b.tolist())
        held += difference.low <= 0 <= difference.high
        false_alarms += difference.is_more_than_noise
    assert held / n > 0.92
    assert false_alarms / n < 0.06


def test_a_real_difference_is_found() -> None:
    rng = np.random.default_rng(2)
    chance = rng.beta(2, 2, (100, 1))
    a, b = rng.random((100, 2)) < chance, rng.random((100, 2)) < np.minimum(1, chance + 0.25)
    difference = paired_difference(a.tolist(), b.tolist())
    assert difference.is_more_than_noise
    assert difference.words().startswith("B is better by 0.2")
    turned = paired_difference(b.tolist(), a.tolist())
    assert turned.words() == difference.words().replace("B is", "A is")


def test_a_difference_on_too_few_tasks_says_why_it_is_not_believed() -> None:
    difference = paired_difference([[True]] * 4 + [[True]] * 8, [[False]] * 4 + [[True]] * 8)
    assert (difference.p, difference.high < 0) == (0.125, True)
    assert difference.words().endswith("0 is outside the interval, but 4 tasks that differ are too few")


def test_pairs_show_what_runs_taken_apart_would_hide() -> None:
    """Most of the scatter is between tasks, which both runs share."""
    a = [[number < 45] for number in range(100)]
    b = [[number < 53] for number in range(100)]
    assert paired_difference(a, b).is_more_than_noise
    apart = wilson_interval(45, 100)[1], wilson_interval(53, 100)[0]
    assert apart[0] > apart[1]


def test_nothing_to_compare_is_refused() -> None:
    with pytest.raises(ValueError, match="0 tasks and 0 tasks"):
        paired_difference([], [])
    with pytest.raises(ValueError, match="1 tasks and 2 tasks"):
        paired_difference([[True]], [[True], [False]])
    with pytest.raises(ValueError, match="without a valid episode"):
        paired_difference([[]], [[True]])


# ---- the pairing


def episode(task: int, success: bool, *, level: int = 1, task_hash: str = "h", valid: bool = True) -> Trajectory:
    return replace(
        make_trajectory(2, rollout_id=f"eval/{task}"),
        task_id=f"t{task}",
        task_hash=task_hash,
        level=level,
        verdict=Verdict(float(success), success) if valid else Verdict.invalid(),
    )


def test_tasks_are_paired_by_id_and_hash_and_the_rest_is_counted() -> None:
    a = [episode(0, True), episode(1, False), episode(2, True), episode(3, True), episode(5, True)]
    b = [
        episode(1, True),
        episode(0, True),
        episode(2, True, task_hash="other"),
        episode(4, True),
        episode(5, False, valid=False),
    ]
    comparison = compare(a, b)
    assert (comparison.total.n_tasks, comparison.total.n_better, comparison.total.n_worse) == (2, 1, 0)
    assert comparison.unpaired.words == (
        "Tasks left out: 1 only in A, 1 only in B, 1 changed between the runs, "
        "1 without a valid episode in one of them."
    )


def test_every_group_has_a_row_of_its_own_pairs() -> None:
    a = [episode(task, task % 2 == 0, level=1 + task % 2) for task in range(8)]
    b = [episode(task, True, level=1 + task % 2) for task in range(8)]
    comparison = compare(a, b)
    rows = comparison.rows()
    assert {len(row) for row in rows} == {len(COMPARE_COLUMNS)}
    assert [row[:7] for row in rows] == [
        ["toy", "odd", "1", "4", "1.000", "1.000", "+0.000"],
        ["toy", "odd", "2", "4", "0.000", "1.000", "+1.000"],
        ["all", "", "", "8", "0.500", "1.000", "+0.500"],
    ]
    assert json.loads(comparison.json())["total"]["p"] == 2 / 2**4
    assert comparison.verdict.startswith("no difference beyond noise: B - A = +0.50 [")


def test_other_versions_of_a_verifier_are_told() -> None:
    a, b = episode(0, True), episode(0, False)
    assert compare([a], [b]).notes == []
    b = replace(b, versions=replace(b.versions, verifier="9"))
    assert compare([a], [b]).notes == ["Domain 'toy' was judged by version 2 in A and 9 in B."]


def test_runs_without_a_task_in_common_are_refused() -> None:
    with pytest.raises(TaskError, match="no task in common.*1 only in A, 1 only in B"):
        compare([episode(0, True)], [episode(1, True)])


# ---- the command


@pytest.fixture
def runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    for name, options in {"a": "noop --level 2", "b": "oracle --level 2", "c": "oracle --level 3 --turns 3"}.items():
        assert run(capsys, f"eval --agent {options} --env Toy-v0 --n 12 --out {tmp_path / name}")[0] == 0
    return tmp_path


def test_compare_says_which_is_better_and_writes_it_down(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, f"compare {runs / 'a'} {runs / 'b'} --out {runs / 'new/ab.md'}")
    assert code == 0, err
    assert "B is better by 1.00 [" in out
    assert "more than noise (12 tasks, p = 4.9e-04)" in out
    page = (runs / "new/ab.md").read_text()
    assert "**B is better by 1.00 [" in page
    assert "| toy | double | 2 | 12 | 0.000 | 1.000 | +1.000 |" in page
    run(capsys, f"compare {runs / 'a'} {runs / 'b'} --out {runs / 'ab.json'}")
    content = json.loads((runs / "ab.json").read_text())
    assert (content["more_than_noise"], content["total"]["n_better"]) == (True, 12)


def test_a_run_does_not_differ_from_itself(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, f"compare {runs / 'a'} {runs / 'a'}")
    assert (code, "no difference beyond noise: B - A = +0.00" in out) == (0, True)


def test_compare_tells_other_settings_and_unfinished_runs(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, f"eval --agent oracle --env Toy-v0 --level 2 --n 6 --turns 9 --out {runs / 'd'}")[0] == 0
    (runs / "d" / "report.json").unlink()
    _, out, _ = run(capsys, f"compare {runs / 'a'} {runs / 'd'}")
    assert "B is not finished: to go on with it: workgym eval --resume" in out
    assert "They differ in budgets: turns own, tokens own, seconds own and turns 9, tokens own, seconds own." in out
    assert "Tasks left out: 6 only in A." in out


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("a c", "no task in common"),
        ("a nowhere", "holds no evaluation"),
        ("a .", "holds no evaluation"),
        ("a b --out ab.txt", "ends with .md or .json"),
    ],
)
def test_compare_answers_bad_input_in_a_line(
    runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, line: str, words: str
) -> None:
    monkeypatch.chdir(runs)
    code, _, err = run(capsys, f"compare {line}")
    assert (code, words in err, "Traceback" in err) == (2, True, False)


def test_an_evaluation_without_episodes_is_told(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Archive.open(runs / "b/archive") as archive:
        assert len(archive) == 12
    (runs / "b/archive/trajectories.jsonl.zst").unlink()
    code, _, err = run(capsys, f"compare {runs / 'a'} {runs / 'b'}")
    assert (code, "no archive in" in err) == (2, True)
