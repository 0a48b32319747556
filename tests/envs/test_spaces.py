"""Spaces for words."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from typing import Any

import pytest
from gymnasium.vector.utils import (
    batch_space,
    create_shared_memory,
    read_from_shared_memory,
    write_to_shared_memory,
)

from workgym.envs.spaces import ActionSpace, TextSpace


@pytest.mark.parametrize("text", ["", " ", "a b\n", "é漢🙂", "\x00\x1b", "\ud800", "x" * 50])
def test_text_survives_shared_memory_whatever_it_holds(text: str) -> None:
    space = TextSpace(50)
    memory = create_shared_memory(space, n=3, ctx=multiprocessing)
    for index, value in enumerate((text, "middle", text)):
        write_to_shared_memory(space, index, value, memory)
    assert read_from_shared_memory(space, memory, n=3) == (text, "middle", text)


def test_a_shorter_text_replaces_a_longer_one_whole() -> None:
    space = TextSpace(50)
    memory = create_shared_memory(space, n=1, ctx=multiprocessing)
    write_to_shared_memory(space, 0, "a long text", memory)
    write_to_shared_memory(space, 0, "short", memory)
    assert read_from_shared_memory(space, memory, n=1) == ("short",)


def test_what_was_read_follows_the_memory_and_its_copy_does_not() -> None:
    space = TextSpace(50)
    memory = create_shared_memory(space, n=2, ctx=multiprocessing)
    view = read_from_shared_memory(space, memory, n=2)
    write_to_shared_memory(space, 0, "first", memory)
    before = copy.deepcopy(view)
    write_to_shared_memory(space, 0, "second", memory)
    assert (before, view[0], view[-2], view[:1], len(view)) == (("first", ""), "second", "second", ("second",), 2)
    with pytest.raises(IndexError):
        view[2]


def test_a_text_space_checks_type_and_length() -> None:
    assert "x" * 50 in TextSpace(50)
    assert "x" * 51 not in TextSpace(50)
    assert b"x" not in TextSpace(50)


@pytest.mark.parametrize("action", ["run x", {"name": "run", "arguments": {}}, [{"name": "run"}], []])
def test_an_action_has_one_of_three_forms(action: Any) -> None:
    assert action in ActionSpace(100)


@pytest.mark.parametrize("action", [None, 3, b"x", {"tool": "run"}, [3], ["run"], {"name": 1}])
def test_an_action_of_another_form_is_not_in_the_space(action: Any) -> None:
    assert action not in ActionSpace(100)


def test_samples_are_in_the_space_and_follow_the_seed() -> None:
    one, other = ActionSpace(100, seed=4), ActionSpace(100, seed=4)
    samples = [one.sample() for _ in range(50)]
    assert samples == [other.sample() for _ in range(50)]
    assert all(sample in one for sample in samples)


def test_spaces_of_the_same_length_and_kind_are_equal() -> None:
    assert TextSpace(5) == TextSpace(5) != TextSpace(6)
    assert TextSpace(5) != ActionSpace(5)
    assert pickle.loads(pickle.dumps(ActionSpace(5))) == ActionSpace(5)
    assert len(batch_space(TextSpace(5), 3)) == 3


def test_a_space_of_no_length_is_refused() -> None:
    with pytest.raises(ValueError, match="max_chars must be > 0, not 0"):
        TextSpace(0)
