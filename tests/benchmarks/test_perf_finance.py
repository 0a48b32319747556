"""The benchmark of the finance domain measures what it says, and its peer judges as FinQA's evaluator does."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from workgym.benchmarks.perf import finance
from workgym.benchmarks.perf.finance_reading import Filings
from workgym.benchmarks.perf.finqa_logic import equal_programs, execute, tokens_of

KEYS = {"name", "ratio", "goal", "better", "load"}
TABLE = [["", "2020", "2019"], ["sales", "$ 1,000", "5 ( a )"], ["sales", "$ 2,000", "500 ( b )"], ["note", "x", "y"]]


def lines_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, object]]:
    finance.main(arguments)
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_each_measure_is_a_line_with_its_goal(capsys):
    pytest.importorskip("lxml")
    lines = lines_of(capsys, "--rounds", "1", "--pages", "20", "--only", "generate", "index", "query")

    assert lines[0]["name"] == "finance_generate"
    for line in lines:
        assert "skipped" in line or set(line) >= KEYS


def test_what_is_missing_is_skipped_with_the_reason(capsys, monkeypatch, tmp_path):
    pytest.importorskip("lxml")
    monkeypatch.setenv("WORKGYM_TEST_DATA", str(tmp_path))

    for line in lines_of(capsys, "--rounds", "1", "--only", "tables", "verdict"):
        assert "not installed" in str(line["skipped"]) or "WORKGYM_TEST_DATA" in str(line["skipped"])


def test_a_question_of_the_benchmark_is_answered_by_some_page():
    pytest.importorskip("lxml")
    filings = Filings(20)

    assert all(pages for _, pages in filings.questions)


@pytest.mark.parametrize(
    ("program", "wanted"),
    [
        ("subtract(1,482, 75)", 1407.0),
        ("subtract(482, 75), divide(#0, 75)", 5.42667),
        ("multiply(12.5%, const_100)", 12.5),
        ("add(const_m1, const_1000)", 999.0),
        ("exp(2, 10)", 1024.0),
        ("greater(2, 10)", "no"),
        ("table_sum(sales, none)", 2500.0),
        ("table_average(sales, none)", 1250.0),
        ("table_max(note, none)", None),
        ("table_max(#0, none)", None),
        ("divide(1, 0)", None),
        ("add(1, #3)", None),
        ("add(1, 2", None),
        ("exec(1, 2)", None),
        ("", None),
    ],
)
def test_a_program_is_worked_out(program, wanted):
    assert execute(tokens_of(program), TABLE) == wanted


def variants(tokens: list[str]) -> dict[str, list[str]]:
    """A gold program, and three that a grader meets instead."""
    last = f"#{len(tokens) // 4 - 1}"
    return {
        "gold": tokens,
        "swapped": [tokens[0], tokens[2], tokens[1], *tokens[3:]],
        "first step": tokens[:4],
        "nothing added": [*tokens, "add(", last, "const_0", ")"],
    }


def test_the_peer_judges_the_records_as_finqas_evaluator_does(test_data: Callable[[str], Path]):
    pytest.importorskip("sympy")
    by_result, by_program = Counter(), Counter()
    for record in json.loads((test_data("finqa") / "train_30.json").read_bytes()):
        gold = tokens_of(record["qa"]["program"])
        for name, tokens in variants(gold).items():
            by_result[name] += execute(tokens, record["table"]) == record["qa"]["exe_ans"]
            by_program[name] += equal_programs(gold, tokens)

    assert by_result == {"gold": 30, "swapped": 5, "first step": 20, "nothing added": 29}
    assert by_program == {"gold": 30, "swapped": 5, "first step": 20, "nothing added": 0}
