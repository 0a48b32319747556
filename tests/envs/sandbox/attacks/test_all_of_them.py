"""The list is whole."""

from __future__ import annotations

import re
from pathlib import Path

from limits import LIMITS
from ring import NAMES

HERE = Path(__file__).parent
NUMBERS = set(range(1, 45))
OWNERS_DEATH = 44  # whose program is the owner itself


def test_every_number_has_a_program_and_a_test() -> None:
    programs = {int(path.name[:2]) for path in (HERE / "programs").glob("[0-9][0-9]_*.py")}
    sources = [path.read_text(encoding="utf-8") for path in HERE.glob("test_*.py")]
    tests = {int(number) for source in sources for number in re.findall(r"\ndef test_(\d\d)_", source)}

    assert programs == NUMBERS - {OWNERS_DEATH} | {0}
    assert tests == NUMBERS


def test_what_is_not_stopped_is_said_of_a_backend_that_there_is() -> None:
    assert {limit.backend for limit in LIMITS} <= {*NAMES, "bwrap-unprivileged"}
    assert all(limit.number in NUMBERS and limit.what and limit.reason for limit in LIMITS)
