"""Suites and reports."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import toy_domain
from episodes import make_trajectory

from workgym.agents.archive import Archive
from workgym.agents.evaluate import evaluate
from workgym.agents.policies.scripted import named_policy
from workgym.agents.rack import EnvRack
from workgym.agents.regrade import regrade
from workgym.benchmarks.report import COLUMNS, make_report, write_report
from workgym.benchmarks.spending import COST_COLUMNS, in_dollars
from workgym.benchmarks.suite import SUITES, TaskSet, find_suite
from workgym.envs.verify import Verdict
from workgym.tasks.errors import TaskError

TOY = TaskSet("Toy-v0", {"turns": 3}, levels=(1, 2), n_tasks=3)
EPISODES = [make_trajectory(number) for number in range(12)]

assert toy_domain.make, "importing it registers Toy-v0"


def test_a_suite_draws_the_same_distinct_tasks_of_its_split_every_time() -> None:
    tasks = TOY.tasks()
    assert [task.level for task in tasks] == [1, 1, 1, 2, 2, 2]
    assert {task.split for task in tasks} == {"test"}
    assert len({task.structure for task in tasks}) == 6
    assert [task.id for task in tasks] == [task.id for task in TOY.tasks()]
    assert [task.id for task in replace(TOY, seed=1).tasks()] != [task.id for task in tasks]


def test_the_arguments_of_a_suite_reach_the_environment() -> None:
    assert {task.budget.turns for task in TOY.tasks()} == {3}


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"levels": (1, 7)}, TaskError, "unknown level 7"),
        ({"n_tasks": 50}, TaskError, "Ask for fewer"),
        ({"kwargs": {"turn": 3}}, ValueError, "does not take the arguments"),
        ({"split": "tset"}, ValueError, "Did you mean 'test'"),
    ],
)
def test_a_suite_that_cannot_be_is_refused(change: dict[str, object], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        replace(TOY, **change).tasks()  # type: ignore[arg-type]


def test_a_misspelled_suite_names_the_nearest() -> None:
    assert find_suite("coding-expression") is SUITES["coding-expression"]
    with pytest.raises(TaskError, match="Did you mean 'coding-expression'"):
        find_suite("coding-expresion")


def test_the_report_has_a_row_for_each_group_and_one_for_all() -> None:
    rows = make_report(EPISODES, title="t").rows()
    assert [row[:3] for row in rows[:-1]] == [list(map(str, key)) for key in sorted({_group(n) for n in range(12)})]
    assert rows[-1][0] == "all"
    assert {len(row) for row in rows} == {len(COLUMNS)}
    assert sum(int(row[3]) for row in rows[:-1]) == int(rows[-1][3]) == 12


def test_the_markdown_table_has_every_cell() -> None:
    report = make_report(EPISODES, title="Toys", settings={"seed": 3})
    table = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in report.markdown().splitlines()
        if line.startswith("|")
    ]
    first, second = table[: len(table) // 2], table[len(table) // 2 :]
    assert (first[0], first[2:]) == (list(COLUMNS), report.rows())
    assert (second[0], second[2:]) == (list(COST_COLUMNS), report.cost_rows())
    assert '"seed": 3' in report.markdown()


def test_the_json_holds_the_numbers_of_the_table() -> None:
    report = make_report(EPISODES, title="Toys")
    content = json.loads(report.json())
    assert content["total"]["n_valid"] == 12
    assert content["total"]["success"] == 0.5
    assert (content["total"]["low"], content["total"]["high"]) == (report.total.low, report.total.high)
    assert content["end_reasons"] == {"turns": 6, "submitted": 6}
    assert content["labels"] == {"tests: tests": 12}
    assert content["policy"] == "scripted"


def test_invalid_episodes_are_counted_and_shown() -> None:
    lost = [replace(one, verdict=Verdict.invalid()) for one in EPISODES[:3]]
    report = make_report([*EPISODES[3:], *lost], title="t")
    assert (report.total.n_valid, report.total.n_invalid) == (9, 3)
    assert "3 episodes failed with the infrastructure" in report.markdown()
    assert report.labels == {"tests: tests": 9}


def test_the_count_of_the_table_is_named_for_episodes_which_may_be_several_a_task() -> None:
    report = make_report(
        [*EPISODES, *(replace(one, rollout_id=f"{one.rollout_id}-again") for one in EPISODES)], title="t"
    )
    total = dict(zip(report.columns, report.rows()[-1], strict=True))
    assert (total["episodes"], report.total.n_tasks) == ("24", 12)


def test_a_report_of_nothing_valid_has_no_numbers_and_is_still_json() -> None:
    report = make_report([replace(EPISODES[0], verdict=None)], title="t")
    assert json.loads(report.json())["total"]["success"] is None
    assert report.rows()[0][4] == "-"


def test_tokens_of_an_agent_that_does_not_say_are_unknown_and_not_0() -> None:
    mute = [replace(one, cost=replace(one.cost, tokens_in=0, tokens_out=0, money_usd=None)) for one in EPISODES]
    report = make_report([mute[0], *EPISODES[1:]], title="t")
    (all_,) = (row for row in report.rows() if row[0] == "all")
    assert (all_[COLUMNS.index("tokens in")], all_[COLUMNS.index("tokens out")]) == ("-", "-")
    assert json.loads(report.json())["spent"]["tokens_in"] is None
    assert "1 of 12 episodes lack a usage" in report.markdown()
    assert "tokens not reported, no price" in report.markdown()


def test_an_agent_that_uses_no_tokens_is_known_to_use_none() -> None:
    scripted = [replace(one, cost=replace(one.cost, tokens_in=0, tokens_out=0, money_usd=0.0)) for one in EPISODES]
    report = make_report(scripted, title="t")
    assert (report.total.tokens_in, report.spent.tokens_out, report.n_unsaid) == (0, 0, 0)


def test_money_that_is_unknown_for_want_of_tokens_is_told_as_that() -> None:
    partly = [replace(one, cost=replace(one.cost, money_usd=None)) for one in EPISODES]
    priced = make_report(partly, title="t", settings={"price": {"input": 1, "output": 1}})
    assert {row[COST_COLUMNS.index("USD an episode")] for row in priced.cost_rows()} == {"no usage"}
    assert "and so is money" in priced.markdown()
    assert "no price" not in priced.markdown()
    assert make_report(partly, title="t").n_unsaid == 0


@pytest.mark.parametrize(
    ("money_usd", "words"),
    [(0.0, "0.0000"), (0.0123, "0.0123"), (4.2e-5, "4.2e-05"), (1.25e-9, "1.3e-09"), (9e9, None)],
)
def test_money_that_is_not_0_is_never_shown_as_0(money_usd: float, words: str | None) -> None:
    assert in_dollars(money_usd, 4) == (words or "9000000000.0000")


def test_judging_an_archive_again_reproduces_its_report(tmp_path: Path) -> None:
    with EnvRack(TOY.make_env, 2) as rack, Archive.open(tmp_path / "archive", "a") as archive:
        episodes = evaluate(named_policy(rack.env(0), "random"), rack, TOY.tasks(), archive=archive)
        kept = list(archive)
    write_report(make_report(episodes, title="t"), tmp_path / "then")
    judged = [replace(one, verdict=again.now) for one, again in zip(kept, regrade(kept).results, strict=True)]
    write_report(make_report(judged, title="t"), tmp_path / "now")
    for name in ("report.md", "report.json"):
        assert (tmp_path / "now" / name).read_bytes() == (tmp_path / "then" / name).read_bytes()


def _group(number: int) -> tuple[str, str, int]:
    one = make_trajectory(number)
    return one.domain, one.family, one.level
