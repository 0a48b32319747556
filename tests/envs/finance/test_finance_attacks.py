"""What an agent may try for a reward that it does not deserve; each attempt pays under a naive judge."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import gymnasium as gym
import pytest
from filings_at_hand import answered, find, hand_in, labels, right
from naive_judge import pays_citations, pays_derivation, pays_value

import workgym  # noqa: F401 - registers the ids
from workgym.envs.env import WorkEnv
from workgym.envs.finance.policies import call
from workgym.tasks.finance.case import case_of
from workgym.tasks.task import Task


@pytest.fixture(autouse=True)
def _needs(require_backend: Callable[[str], None], require_extra: Callable[[str], None]) -> None:
    require_backend("local")
    require_extra("finance")


@pytest.fixture(scope="module")
def env() -> Iterator[WorkEnv]:
    env = gym.make("Finance-v0")
    yield env.unwrapped  # type: ignore[misc]
    env.close()


@pytest.mark.parametrize("level", [1, 2])
def test_the_right_answer_with_its_evidence_earns_all(env: WorkEnv, level: int) -> None:
    for form in ("difference", "margin", "lookup"):
        reward, info = hand_in(env, find(level, form))
        assert (reward, info["is_success"]) == (1.0, True)


def test_the_first_of_two_submissions_counts_and_nothing_comes_after_the_end(env: WorkEnv) -> None:
    task = find(1, "difference")
    wrong = {"name": "submit", "arguments": {"value": "1"}}
    env.reset(options={"task": task})
    *_, info = env.step([wrong, {"name": "submit", "arguments": right(task)}])
    assert (env.verdict.reward, info["is_success"]) == (0.0, False)  # type: ignore[union-attr]
    with pytest.raises(gym.error.ResetNeeded):
        env.step(call("submit", **right(task)))


def test_a_right_value_without_evidence_earns_a_fifth(env: WorkEnv) -> None:
    reward, info = hand_in(env, find(1, "difference"), expression=None, citations=None)
    assert reward == pytest.approx(0.2)
    assert info["is_success"] is False
    assert pays_value(env.attempt, env.task)  # type: ignore[arg-type]


def test_a_count_without_evidence_earns_nothing(env: WorkEnv) -> None:
    task = next(task for task in answered(2) if task.public["answer"]["kind"] == "count")
    assert hand_in(env, task)[0] == 1.0
    reward, _ = hand_in(env, task, expression=None, citations=None)
    assert reward == 0.0
    assert pays_value(env.attempt, env.task)  # type: ignore[arg-type]


def test_who_cites_every_cell_is_not_paid_for_citing(env: WorkEnv) -> None:
    task = find(1, "difference")
    fields = right(task)
    cells = case_of(task).reported.cells
    ledger = case_of(task).reported.ledger
    others = [{"cell": address, "quote": cell.text(ledger)} for address, cell in cells.items()]
    reward, info = hand_in(env, task, citations=fields["citations"] + others)
    assert reward == pytest.approx(0.7)
    assert info["is_success"] is False
    assert labels(env)["citations_hold"] == "over_budget"
    assert pays_citations(env.attempt, env.task)  # type: ignore[arg-type]


@pytest.mark.parametrize("attack", ["never opened", "altered quote", "another row"])
def test_a_cell_that_was_not_read_does_not_count(env: WorkEnv, attack: str) -> None:
    task = find(1, "difference")
    cited = right(task)["citations"]
    if attack == "altered quote":
        cited[0]["quote"] += "0"
    if attack == "another row":  # the digits are right, the cell is another
        table, _, place = cited[0]["cell"].partition("!")
        row, column = place[1:].split("c")
        cited[0]["cell"] = f"{table}!r{int(row) + 1}c{column}"
    reward, _ = hand_in(env, task, look=attack != "never opened", citations=cited)
    assert reward == pytest.approx(0.2)
    assert labels(env)["derivation_holds"] == "not_read"
    if attack != "another row":
        assert pays_citations(env.attempt, env.task)  # type: ignore[arg-type]


def test_another_cell_that_shows_the_same_fact_earns_all(env: WorkEnv) -> None:
    for task in answered(2):
        case = case_of(task)
        used = {one["cell"] for one in right(task)["citations"]}
        swaps = {
            one: other
            for one in used
            for other, cell in case.reported.cells.items()
            if other not in used
            and (cell.fact, cell.sign) == (case.reported.cells[one].fact, case.reported.cells[one].sign)
        }
        if swaps:
            break
    one, other = next(iter(swaps.items()))
    quote = case.reported.cells[other].text(case.reported.ledger)
    cited = [{"cell": other, "quote": quote} if c["cell"] == one else c for c in right(task)["citations"]]
    env.reset(options={"task": task})
    for table in dict.fromkeys(c["cell"].partition("!")[0] for c in cited):
        env.step(call("get_table", doc="d1", table=table))
    _, reward, *_ = env.step(call("submit", **{**right(task), "citations": cited}))
    assert reward == 1.0


@pytest.mark.parametrize("form", ["difference", "margin"])
def test_an_expression_that_hits_the_value_by_itself_earns_nothing(env: WorkEnv, form: str) -> None:
    task = find(1, form)
    case = case_of(task)
    base = case.gold.value * case.question.scale  # type: ignore[union-attr, operator]
    number = f"{base.numerator}/{base.denominator}"
    forged = [f"c1*0 + {number}", f"c1/c1*{number}", f"min(max(c1, {number}), {number})", f"c1 - c1 + c2*0 + {number}"]
    for expression in forged:
        reward, _ = hand_in(env, task, expression=expression)
        assert reward == pytest.approx(0.2), expression
        assert pays_derivation(env.attempt, env.task), expression  # type: ignore[arg-type]


def test_a_constant_is_refused_and_the_agent_may_submit_again(env: WorkEnv) -> None:
    task = find(1, "difference")
    _, info = hand_in(env, task, expression="1234")
    assert (info["action_valid"], info["end_reason"]) == (False, "")
    assert env.step(call("submit", **right(task)))[1] == 1.0


def test_operands_that_hit_by_chance_earn_nothing_for_it(env: WorkEnv) -> None:
    """Two other cells add up to the answer, here and in no redrawn books; where an identity makes them, it is right."""
    n_chance = 0
    for task in answered(2):
        pair = _pair_that_hits(task)
        if pair is None:
            continue
        cited = [{"cell": address, "quote": text} for address, text in pair]
        env.reset(options={"task": task})
        for table in dict.fromkeys(address.partition("!")[0] for address, _ in pair):
            env.step(call("get_table", doc="d1", table=table))
        _, reward, *_ = env.step(call("submit", **{**right(task), "expression": "c1 - c2", "citations": cited}))
        pays = pays_derivation(env.attempt, env.task)  # type: ignore[arg-type]
        label = labels(env)["derivation_holds"]
        assert pays
        assert label in ("other_program", "")
        n_chance += label == "other_program"
        assert reward == (
            pytest.approx(1.0)
            if label == ""
            else 0.0
            if task.public["answer"]["kind"] == "count"
            else pytest.approx(0.2)
        )
    assert n_chance >= 3


def _pair_that_hits(task: Task) -> list[tuple[str, str]] | None:
    """Two cells, neither of them an operand, whose difference is the gold of a question of one cell; and texts."""
    case = case_of(task)
    if case.question.program != "c1":  # type: ignore[union-attr]
        return None
    want = case.gold.value * case.question.scale  # type: ignore[union-attr, operator]
    ledger, question = case.reported.ledger, case.question
    shown = {cell.value(ledger): cell for cell in case.reported.cells.values() if cell.fact not in question.operands}  # type: ignore[union-attr]
    for value, cell in shown.items():
        other = shown.get(value - want)
        if other is not None and value and value != want and value - want:
            return [(one.address, one.text(ledger)) for one in (cell, other)]
    return None


@pytest.mark.parametrize(
    "expression",
    [
        "9**9**9",
        "c1+" * 4000 + "c1",
        "(" * 200 + "c1" + ")" * 200,
        "c1.real",
        "c1.__class__.__mro__",
        "gold",
        "__import__('os')",
        "c1 if c1 else c2",
        "[c1]",
        "lambda: c1",
        "c999",
        "c1**4**4",
        "c1" + "\u0660",
    ],
)
def test_what_is_no_expression_is_refused_at_once(env: WorkEnv, expression: str) -> None:
    task = find(1, "difference")
    env.reset(options={"task": task})
    start = time.process_time()
    observation, reward, terminated, _, info = env.step(call("submit", **{**right(task), "expression": expression}))
    assert time.process_time() - start < 0.05, "refused in milliseconds, whatever it is"
    assert (reward, terminated, info["action_valid"]) == (0.0, False, False)
    assert observation.startswith("error: ")


def test_a_division_by_zero_holds_nothing(env: WorkEnv) -> None:
    reward, _ = hand_in(env, find(1, "difference"), expression="c1 / (c2 - c2)")
    assert reward == pytest.approx(0.2)


@pytest.mark.parametrize("label", ["wrong_period", "wrong_base", "sign", "scale_10^3", "scale_10^-3", "scale_10^2"])
@pytest.mark.parametrize("level", [1, 2])
def test_a_mistake_earns_nothing_and_has_its_name(env: WorkEnv, level: int, label: str) -> None:
    n_found = 0
    for task in answered(level):
        wrong = next((value for name, value in case_of(task).gold.distractors if name == label), None)  # type: ignore[union-attr]
        if wrong is None or n_found == 3:
            continue
        reward, _ = hand_in(env, task, value=f"{wrong.numerator / wrong.denominator:.6f}")  # type: ignore[union-attr]
        assert reward == 0.0
        assert labels(env)["value_matches"] == label
        if label.startswith("scale") or label == "sign":
            pays = pays_value(env.attempt, env.task)  # type: ignore[arg-type]
            assert pays
        n_found += 1
    assert n_found
