"""Price tables and usage."""

from __future__ import annotations

from pathlib import Path

import pytest

from workgym.agents.prices import Price, Usage, read_prices, read_usage
from workgym.tasks.errors import PolicyError


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "prices.toml"
    path.write_text(text)
    return path


def test_a_table_lists_models_with_prices_for_a_million_tokens(tmp_path: Path) -> None:
    text = '["gpt-x/1.5"]\ninput = 2\noutput = 8.5\n[other]\ninput = 0\noutput = 0\ncached_input = 0.1\n'
    assert read_prices(write(tmp_path, text)) == {"gpt-x/1.5": Price(2, 8.5), "other": Price(0, 0, 0.1)}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[m", "are no TOML"),
        ("[m]\ninput = 1\n", "output is missing"),
        ("[m]\nimput = 1\noutput = 1\n", "Did you mean 'input'"),
        ("[m]\ninput = -1\noutput = 1\n", "not -1"),
        ("[m]\ninput = '1'\noutput = 1\n", "not '1'"),
        ("[m]\ninput = true\noutput = 1\n", "not True"),
        ("[m]\ninput = nan\noutput = 1\n", "not nan"),
        ("m = 3\n", "must be a table"),
    ],
)
def test_a_table_that_makes_no_sense_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(PolicyError) as failed:
        read_prices(write(tmp_path, text))
    assert words in str(failed.value)


def test_a_table_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"cannot read the prices .*nowhere.toml"):
        read_prices(tmp_path / "nowhere.toml")


def test_cached_tokens_cost_what_fresh_ones_cost_unless_said_otherwise() -> None:
    usage = Usage(1_000_000, 500_000, cached_in=400_000)
    assert Price(2.0, 10.0).of(usage) == pytest.approx(7.0)
    assert Price(2.0, 10.0, 1.0).of(usage) == pytest.approx(6.6)


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        ({"prompt_tokens": 5, "completion_tokens": 2}, Usage(5, 2)),
        ({"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": None}, Usage(5, 2)),
        ({"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 9}}, Usage(5, 2, 5)),
        ({"prompt_tokens": 5}, None),
        ({"prompt_tokens": -5, "completion_tokens": 2}, None),
        ({"prompt_tokens": "5", "completion_tokens": 2}, None),
        (None, None),
        ("much", None),
    ],
)
def test_usage_is_read_or_unknown(usage: object, read: Usage | None) -> None:
    assert read_usage(usage) == read
