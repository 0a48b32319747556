"""Code between fences is an action where a tool takes it."""

from __future__ import annotations

import time

import pytest

from workgym.envs.fences import fenced_blocks
from workgym.envs.tool import End, Tool, ToolTable
from workgym.tasks.errors import ActionError

_CODE = {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}


@pytest.fixture
def table() -> ToolTable:
    return ToolTable(
        (
            Tool("run", "Run code.", _CODE, lambda code: f"ran {code!r}"),
            Tool("submit", "Hand in code.", _CODE, lambda code: End("submitted", code)),
        ),
        fenced="submit",
    )


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("no code", []),
        ("```python\nx = 1\n```", ["x = 1"]),
        ("Here it is:\n```\nx = 1\n\ny = 2\n```\nDone.", ["x = 1\n\ny = 2"]),
        ("```py\na\n```\nor\n```\nb\n```", ["a", "b"]),
        ("```python\nx = 1", []),
        ("``` python\n```", [""]),
        ("inline ```x``` is none", []),
        ("```x = 1```", []),
        ("1. So:\n\n   ```python\n   def f(x):\n\n       return x\n   ```", ["def f(x):\n\n    return x"]),
        ("```python3\nx = 1\n```\nRun it:\n```bash\npython x.py\n```", ["x = 1"]),
        ("````Python\nx = 1  # as in\n```\n````", ["x = 1  # as in\n```"]),
    ],
)
def test_blocks_stand_between_lines_of_three_backticks(text: str, blocks: list[str]) -> None:
    assert fenced_blocks(text) == blocks


def test_a_long_text_of_fences_is_read_in_linear_time() -> None:
    began = time.process_time()
    assert len(fenced_blocks("```\n" * 200_000)) == 100_000
    assert time.process_time() - began < 2.0


@pytest.mark.parametrize("text", ["```python\nx = 1\n```", "I think this works:\n\n```python\nx = 1\n```\nIt adds.\n"])
def test_one_block_is_taken_whatever_is_said_around_it(table: ToolTable, text: str) -> None:
    assert table.do(text) == End("submitted", "x = 1")


@pytest.mark.parametrize("label", ["bash", "sh", "text", "json", "JavaScript"])
def test_a_block_of_another_language_is_answered_with_its_label(table: ToolTable, label: str) -> None:
    with pytest.raises(ActionError, match=f"a block labelled '{label.lower()}' is no Python"):
        table.do(f"Like this:\n```{label}\nls\n```\n")


def test_several_blocks_are_answered_in_one_line(table: ToolTable) -> None:
    with pytest.raises(ActionError, match="2 blocks of code") as raised:
        table.do("```\na\n```\n```\nb\n```")
    assert "\n" not in str(raised.value)


def test_a_text_without_tool_and_block_is_told_both_ways(table: ToolTable) -> None:
    with pytest.raises(ActionError, match="names no tool and has no block of code: begin it with one of run, submit"):
        table.do("def f(x): return x")


def test_a_tool_that_is_named_is_called_with_the_text_as_it_stands(table: ToolTable) -> None:
    assert table.do("run\n```python\nx = 1\n```") == "ran '```python\\nx = 1\\n```'"
    assert table.do("run x = 1") == "ran 'x = 1'"


def test_a_table_that_takes_no_blocks_answers_with_its_tools() -> None:
    table = ToolTable((Tool("run", "Run code.", _CODE, lambda code: code),))
    with pytest.raises(ActionError, match="unknown tool"):
        table.do("```python\nx = 1\n```")
