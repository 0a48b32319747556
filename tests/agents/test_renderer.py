"""Characters, marks, and how a conversation is framed in them."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workgym.agents.message import Image, Message, Text, message
from workgym.agents.renderer import CharRenderer, demonstration
from workgym.agents.tokenizer import CharTokenizer
from workgym.tasks.errors import PolicyError

TOKENIZER = CharTokenizer()
RENDERER = CharRenderer(TOKENIZER)
TALK = [
    message("system", "Be brief."),
    message("user", "0:5"),
    message("assistant", "t 2"),
    message("tool", "no"),
    message("assistant", "s 5"),
]


@given(st.text(alphabet="\n" + "".join(map(chr, range(32, 127)))))
def test_printable_text_survives(text):
    assert TOKENIZER.decode(TOKENIZER.encode(text)) == text


@given(st.text())
def test_any_text_can_be_shown_to_a_model(text):
    ids = TOKENIZER.encode(text)

    assert len(ids) == len(text)
    assert all(TOKENIZER.unk <= i < TOKENIZER.n_ids for i in ids)


@given(st.text(alphabet="0123456789,. a"))
def test_text_survives_groups_of_digits(text):
    grouping = CharTokenizer(digits=3)
    assert grouping.decode(grouping.encode(text)) == text


def test_groups_of_digits_are_cut_from_the_end_of_a_number():
    grouping = CharTokenizer(digits=3)
    assert [grouping.decode([one]) for one in grouping.encode("x1234567 45")] == ["x", "1", "234", "567", " ", "45"]
    assert set(grouping.encode("1,234,567")) > set(grouping.encode("1234567"))
    with pytest.raises(PolicyError, match="1 to 3 digits, not 4"):
        CharTokenizer(digits=4)


def test_text_never_becomes_a_mark():
    assert min(TOKENIZER.encode("<end><act><bos>")) > TOKENIZER.unk


def test_marks_are_visible_in_what_a_model_said():
    said = [*TOKENIZER.encode("a"), TOKENIZER.act, *TOKENIZER.encode("b")]

    assert TOKENIZER.decode(said) == "a\ufffdb"
    assert TOKENIZER.show(said) == "a<act>b"


def test_ids_of_another_tokenizer_are_refused():
    with pytest.raises(PolicyError, match="another tokenizer"):
        TOKENIZER.decode([TOKENIZER.n_ids])


def test_a_saved_tokenizer_comes_back(tmp_path):
    CharTokenizer(string.ascii_lowercase).save(tmp_path / "t.json")

    assert CharTokenizer.load(tmp_path / "t.json").encode("az!") == [5, 30, 4]


@pytest.mark.parametrize("text", ["", "[]", '{"format": "other"}'])
def test_a_file_that_is_no_tokenizer_is_refused(tmp_path, text):
    (tmp_path / "t.json").write_text(text)

    with pytest.raises(PolicyError, match=r"t\.json"):
        CharTokenizer.load(tmp_path / "t.json")


def test_a_character_may_not_come_twice():
    with pytest.raises(PolicyError, match="distinct"):
        CharTokenizer("aba")


def test_a_conversation_opens_and_goes_on():
    opened = RENDERER.open(TALK[:2])
    bridge = RENDERER.bridge([message("tool", "no")])

    assert TOKENIZER.show(opened) == "<bos>0:5<act>"
    assert TOKENIZER.show(bridge) == "no<act>"


def test_a_bridge_adds_the_end_that_a_cut_turn_lacks():
    assert TOKENIZER.show(RENDERER.bridge([message("tool", "no")], ended=False)) == "<end>no<act>"


def test_a_conversation_opened_late_is_framed_as_one_that_went_on():
    step_by_step = [
        *RENDERER.open(TALK[:2]),
        *RENDERER.action("t 2"),
        *RENDERER.bridge(TALK[3:4]),
    ]

    assert RENDERER.open(TALK[:4]) == step_by_step


def test_the_action_is_what_stands_before_the_end():
    assert RENDERER.parse(RENDERER.action("s 5")) == "s 5"
    assert RENDERER.parse(TOKENIZER.encode("cut")) == "cut"
    assert RENDERER.parse([]) == ""


def test_pictures_are_refused():
    with pytest.raises(PolicyError, match="no pictures"):
        RENDERER.open([Message("user", (Text("look"), Image("ab" * 32)))])


def test_a_demonstration_trains_actions_and_their_ends_alone():
    row = demonstration(RENDERER, TALK)
    trained = [i for i, is_action in zip(row.ids, row.action, strict=True) if is_action]

    assert TOKENIZER.show(row.ids) == "<bos>0:5<act>t 2<end>no<act>s 5<end>"
    assert TOKENIZER.show(trained) == "t 2<end>s 5<end>"
    assert set(row.version) == {-1}


def test_a_conversation_without_an_action_is_no_demonstration():
    with pytest.raises(PolicyError, match="no action"):
        demonstration(RENDERER, TALK[:2])
