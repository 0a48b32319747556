"""Configuration: defaults, then a file, then overrides; nothing unknown passes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from workgym.training.config import check_levels, check_ranges, config_text, make_config, read_config


@dataclass(frozen=True)
class Small:
    seed: int = 0
    rate: float = 0.5
    name: str = "a"
    quiet: bool = False
    levels: tuple[int, ...] = ()


def test_a_file_overrides_defaults_and_a_text_overrides_the_file(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text("seed = 3\nrate = 1\nlevels = [2]\n")
    made = make_config(Small, file=file, overrides=["seed=4", "name=b c", "quiet=true"])
    assert made == Small(4, 1.0, "b c", True, (2,))
    assert make_config(Small, file=file, overrides=["levels=[1, 2]"]).levels == (1, 2)


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("sed=1", "unknown setting 'sed'. Did you mean 'seed'"),
        ("seed", "'seed' is no key=value"),
        ("seed=1.5", "setting seed must be of type int, not float"),
        ("seed=true", "must be of type int, not bool"),
        ("rate=fast", "must be of type float, not str"),
        ("quiet=1", "must be of type bool"),
        ("seed=[1]", "must be of type int, not list"),
        ("levels=1", r"setting levels must be a list of whole numbers such as \[1, 2\], not 1"),
        ("levels=[1, true]", "must be a list of whole numbers"),
        ("levels=one", "must be a list of whole numbers"),
        ("levels=[]", "setting levels is an empty list: name at least one"),
    ],
)
def test_what_does_not_fit_is_refused(override: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make_config(Small, overrides=[override])


def test_a_file_that_is_no_toml_is_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "broken.toml"
    file.write_text("seed = = 3")
    with pytest.raises(ValueError, match=r"cannot read the configuration .*broken.toml"):
        make_config(Small, file=file)
    with pytest.raises(ValueError, match="cannot read"):
        make_config(Small, file=tmp_path / "absent.toml")


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(config_text(Small(7, 0.25, "x", True, (1, 3))))
    assert read_config(Small, path) == Small(7, 0.25, "x", True, (1, 3))


def test_a_configuration_of_another_recipe_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"speed": 1}')
    with pytest.raises(ValueError, match="unknown setting 'speed'"):
        read_config(Small, path)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (Small(seed=2**32), "setting seed must be from 0 to 4294967295, not 4294967296"),
        (Small(rate=float("nan")), r"setting rate must be in \[0, 1\], not nan"),
        (Small(rate=2), r"setting rate must be in \[0, 1\], not 2"),
    ],
)
def test_a_number_outside_its_range_is_refused_by_name(config: Small, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        check_ranges(config)


def test_a_configuration_may_set_a_range_of_its_own() -> None:
    check_ranges(Small(seed=5), seed=(5, 5))
    with pytest.raises(ValueError, match="setting seed must be from 5 to 5, not 6"):
        check_ranges(Small(seed=6), seed=(5, 5))


def test_levels_exist_and_are_named_once() -> None:
    check_levels((2, 1))
    for levels, words in (((), "at least one level"), ((1, 1), "none twice"), ((9,), "unknown level 9")):
        with pytest.raises(ValueError, match=words):
            check_levels(levels)
