"""The corpus is what it was, our reader passes all of it, and a grader that is wrong fails."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from workgym.envs.finance.conformance import load_grader, main, our_grader, read_corpus, score
from workgym.envs.finance.corpus import corpus_rows, to_lines
from workgym.envs.finance.corpus_tables import JSON_ROWS, REFUSED, RIGHT, WRONG
from workgym.tasks.errors import TaskError
from workgym.tasks.finance.answer import LABELS, is_label

CORPUS = Path(__file__).parent / "corpus.jsonl"
ROWS = corpus_rows()


def test_the_file_is_what_the_package_writes():
    assert CORPUS.read_text(encoding="ascii") == to_lines(ROWS)  # else: python -m workgym.envs.finance.corpus > FILE


def test_the_corpus_has_every_row_of_the_tables_and_four_hundred_of_other_values():
    kinds = Counter(row["id"].partition("/")[0] for row in ROWS)
    forms = sum(len(row[2].split("·")) for row in (*RIGHT, *WRONG, *REFUSED))

    assert kinds["table"] == forms + len(JSON_ROWS)
    assert kinds["rendered"] >= 400
    assert len({row["id"] for row in ROWS}) == len(ROWS)


def test_every_label_stands_in_the_corpus():
    labels = {row["label"] for row in ROWS if row["outcome"] == "wrong"}

    assert all(is_label(label) for label in labels)
    assert labels >= set(LABELS)
    assert {"scale_10^3", "scale_10^-2"} <= labels


def test_no_two_rows_ask_the_same_for_another_outcome():
    asked = [
        (json.dumps([row["spec"], row["gold"], row["submission"]], sort_keys=True), row["outcome"], row["label"])
        for row in ROWS
    ]

    assert len({question for question, _, _ in asked}) == len(set(asked))


@pytest.mark.parametrize("outcome", ["accept", "wrong", "refuse"])
def test_our_reader_passes_every_row(outcome):
    rows = [row for row in ROWS if row["outcome"] == outcome]

    assert [(one.row["id"], one.fault) for one in score(our_grader, rows) if one.fault] == []


def test_the_command_scores_our_reader_where_there_is_no_checkout(tmp_path):
    command = [sys.executable, "-m", "workgym.envs.finance.conformance"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)

    assert done.stderr == ""
    assert done.returncode == 0
    assert f"{len(ROWS)} of {len(ROWS)} rows pass" in done.stdout


def test_the_command_takes_a_corpus_and_shows_what_fails(capsys, tmp_path, monkeypatch):
    (tmp_path / "my_grader.py").write_text("def grade(submission, spec, gold):\n    return True\n")
    monkeypatch.syspath_prepend(tmp_path)

    status = main(["--grader", "my_grader:grade", "--corpus", str(CORPUS), "--show", "2"])

    printed = capsys.readouterr().out
    n_right = sum(row["outcome"] == "accept" for row in ROWS)
    assert status == 1
    assert f"{n_right} of {len(ROWS)} rows pass" in printed
    assert f"... and {len(ROWS) - n_right - 2} more" in printed
    assert "accept instead of wrong" in printed


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--grader", "json"], "is no MODULE:CALLABLE"),
        (["--grader", "json:nothing"], "cannot be loaded"),
        (["--grader", "no_such_module:f"], "cannot be loaded"),
        (["--grader", "sys:path"], "cannot be called: it is a list"),
        (["--corpus", "no/such/file"], "cannot be read"),
    ],
)
def test_the_command_says_what_it_cannot_score(capsys, arguments, words):
    assert main(arguments) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("", "has no rows"),
        ("{", "cannot be read"),
        ("[1]", "lacks some of its fields"),
        (json.dumps(ROWS[0] | {"outcome": "acept"}), "Did you mean 'accept'"),
        (json.dumps(ROWS[0] | {"spec": {"kind": "number", "unit": "ounces"}}), "unknown unit"),
        (json.dumps(ROWS[0] | {"gold": {"value": "much"}}), "is no number"),
        (json.dumps(ROWS[0] | {"gold": {}}), "has no value"),
    ],
)
def test_a_file_that_is_no_corpus_is_refused_by_its_line(tmp_path, lines, words):
    path = tmp_path / "corpus.jsonl"
    path.write_text(lines)

    with pytest.raises(TaskError, match=words):
        read_corpus(path)


def test_a_grader_is_found_by_its_name():
    assert load_grader("workgym.envs.finance.conformance:our_grader") is our_grader


def _first_number(submission, spec, gold):
    """What many graders do: take the first number out of the text and allow 1%."""
    found = re.search(r"-?\d[\d,]*\.?\d*", str(submission))
    given = float(found[0].replace(",", "")) if found else 0.0
    return abs(given - float(gold["value"])) <= abs(float(gold["value"])) / 100


def test_a_grader_that_takes_the_first_number_fails():
    rows = [row for row in ROWS if row["spec"]["kind"] == "number" and isinstance(row["gold"]["value"], str)]

    scored = score(_first_number, rows)

    assert sum(one.said == "accept" and one.row["outcome"] == "wrong" for one in scored) > 20
    assert sum(one.said == "accept" and one.row["outcome"] == "refuse" for one in scored) > 20
    assert sum(one.said == "not accepted" and one.row["outcome"] == "accept" for one in scored) > 20


def _telling(submission, spec, gold):
    outcome, label, text = our_grader(submission, spec, gold)
    return outcome, label, f"{text} (the gold is {gold['value']})"


def _mislabelling(submission, spec, gold):
    outcome, label, _ = our_grader(submission, spec, gold)
    return outcome, "rounding" if label == "sign" else label


def _raising(submission, spec, gold):
    return float(submission["value"]) == float(gold["value"])


def _mute(submission, spec, gold):
    return None


@pytest.mark.parametrize(
    ("grader", "outcome", "fault"),
    [
        (_telling, "refuse", "refused otherwise under another gold"),
        (_mislabelling, "wrong", "labelled rounding instead of sign"),
        (_raising, "refuse", "raised ValueError"),
        (_mute, "accept", "the grader returned"),
        (lambda *_: "wrong", "refuse", "wrong instead of refuse"),
    ],
    ids=["tells the gold", "mislabels", "raises", "says nothing", "reads what is unreadable"],
)
def test_a_grader_that_is_wrong_in_one_way_fails_with_its_reason(grader, outcome, fault):
    faults = {one.fault for one in score(grader, ROWS) if one.row["outcome"] == outcome}

    assert any(fault in found for found in faults)
