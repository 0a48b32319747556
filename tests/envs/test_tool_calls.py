"""Calls of tools that no agent should make are answered in words."""

from __future__ import annotations

import pytest

from workgym.envs.tool import Tool, ToolTable
from workgym.tasks.errors import ActionError

_SCHEMA = {"type": "object", "properties": {"page": {"type": "integer"}, "doc": {"type": "string"}}, "required": []}


@pytest.fixture
def table() -> ToolTable:
    return ToolTable((Tool("open", "Open a page.", _SCHEMA, lambda page=1, doc="": f"page {page}"),))


def test_a_number_too_long_to_be_written_is_refused(table: ToolTable) -> None:
    with pytest.raises(ActionError, match="page is a number of more than 1024 bits"):
        table.do({"name": "open", "arguments": {"page": -(10**5000)}})


@pytest.mark.parametrize("name", [10**5000, [10**5000], 1.5, {"name": "open"}], ids=["int", "list", "float", "dict"])
def test_a_name_that_is_no_text_is_refused(table: ToolTable, name: object) -> None:
    with pytest.raises(ActionError, match="the name of a tool is a text, not (int|list|float|dict)"):
        table.do({"name": name})


@pytest.mark.parametrize(
    "action",
    [
        'open {"page": 1, "page": 2}',
        '{"name": "open", "arguments": {"page": 1, "page": 2}}',
        {"name": "open", "arguments": '{"page": 1, "page": 2}'},
    ],
)
def test_a_name_that_stands_twice_in_an_object_is_refused(table: ToolTable, action: object) -> None:
    with pytest.raises(ActionError, match="'page' stands more than once"):
        table.do(action)
