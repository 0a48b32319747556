"""HumanEval files become tasks; a broken one is refused with its file and row."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workgym.tasks.coding.load import load_tasks
from workgym.tasks.coding.load.humaneval import load_humaneval
from workgym.tasks.errors import TaskError

ROWS: list[dict[str, Any]] = [
    {
        "task_id": "Own/0",
        "prompt": 'def double(x: int) -> int:\n    """Twice x.\n    >>> double(2)\n    4\n    """\n',
        "entry_point": "double",
        "canonical_solution": "    return 2 * x\n",
        "test": "def check(candidate):\n    assert candidate(7) == 14\n",
    },
    {
        "task_id": "Own/1",
        "prompt": 'def last(items: list[int]) -> int:\n    """The last item."""\n',
        "entry_point": "last",
        "canonical_solution": "    return items[-1]\n",
        "test": "def check(candidate):\n    assert candidate([1, 2]) == 2\n",
    },
]


def written(folder: Path, rows: list[Any], name: str = "tasks.jsonl") -> Path:
    path = folder / name
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows) + "\n")
    return path


def test_a_file_becomes_one_task_a_row(tmp_path: Path) -> None:
    first, second = load_tasks(written(tmp_path, ROWS))
    assert (first.id, second.id) == ("coding-humaneval-Own/0", "coding-humaneval-Own/1")
    assert (first.domain, first.family, first.split) == ("coding", "function", "test")
    assert first.prompt == ROWS[0]["prompt"]
    assert first.public == {"entry_point": "double", "prompt": ROWS[0]["prompt"]}
    assert first.hidden == {"reference": ROWS[0]["prompt"] + "    return 2 * x\n", "test": ROWS[0]["test"]}
    assert first.structure != second.structure


def test_a_compressed_file_gives_the_same_tasks_whatever_its_name(tmp_path: Path) -> None:
    plain = written(tmp_path, ROWS)
    compressed = tmp_path / "no-such-ending"
    compressed.write_bytes(gzip.compress(plain.read_bytes()))
    assert load_tasks(compressed) == load_tasks(plain)


def test_blank_lines_are_skipped_and_still_counted(tmp_path: Path) -> None:
    path = written(tmp_path, [ROWS[0], "", {**ROWS[1], "test": 3}])
    with pytest.raises(TaskError, match=r"tasks\.jsonl row 3: test is a int"):
        load_humaneval(path)


def test_nothing_hidden_is_printed_with_a_task(tmp_path: Path) -> None:
    (task, _) = load_tasks(written(tmp_path, ROWS))
    assert "2 * x" not in repr(task)
    assert "14" not in repr(task)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[1]", "is a list, not an object"),
        ({**ROWS[1], "prompt": None}, "prompt is a NoneType; it must be a text"),
        ({key: ROWS[1][key] for key in ROWS[1] if key != "test"}, "test is missing"),
        ({**ROWS[1], "task_id": "Own/0"}, "'Own/0' was there before"),
        ({**ROWS[1], "entry_point": "first"}, r"entry_point 'first' is not defined; found \['last'\]"),
        ({**ROWS[1], "canonical_solution": "    return ("}, "the code does not parse"),
        ({**ROWS[1], "prompt": "\x00"}, "the code does not parse"),
        ({**ROWS[1], "test": "def test(candidate): pass"}, r"no function check\(candidate\)"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "row",
)
def test_a_broken_row_is_refused_with_file_and_row(tmp_path: Path, row: Any, words: str) -> None:
    with pytest.raises(TaskError, match=rf"tasks\.jsonl row 2.*{words}"):
        load_tasks(written(tmp_path, [ROWS[0], row]))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"hello", "holds no JSON object"),
        (b'{"text": "Write a function", "code": "def f(): pass"}', r"\['code', 'text'\]"),
        (b"\xff\xfe", "row 1 is not UTF-8 text"),
        (gzip.compress(b"{}" * 9999)[:30], "is damaged after row 0"),
        (b"\x1f\x8bnonsense", "cannot read"),
    ],
    ids=["empty", "blank", "words", "another format", "binary", "cut", "no gzip"],
)
def test_a_file_of_another_format_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "tasks"
    path.write_bytes(content)
    with pytest.raises(TaskError, match=words):
        load_tasks(path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"cannot read .*nothing: No such file"):
        load_tasks(tmp_path / "nothing")
    with pytest.raises(TaskError, match="is a folder"):
        load_tasks(tmp_path)


def test_the_real_file_has_164_tasks(test_data: Callable[[str], Path]) -> None:
    tasks = load_tasks(test_data("humaneval") / "HumanEval.jsonl.gz")
    assert len({task.id for task in tasks}) == 164
    assert len({task.structure for task in tasks}) == 164
