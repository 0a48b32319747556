"""Trajectory -> record -> trajectory, exact."""

from __future__ import annotations

import json
import math
import struct

import numpy as np
import pytest
from episodes import make_trajectory
from hypothesis import given
from hypothesis import strategies as st

from workgym.agents.message import message
from workgym.agents.records import SCHEMA, fingerprint, from_record, to_record
from workgym.agents.trajectory import Step, Trajectory
from workgym.tasks.errors import ArchiveError


@pytest.mark.parametrize("number", range(8))
def test_a_trajectory_comes_back_equal(number: int) -> None:
    trajectory = make_trajectory(number)
    assert from_record(json.loads(json.dumps(to_record(trajectory)))) == trajectory


def test_an_empty_trajectory_comes_back_equal() -> None:
    trajectory = Trajectory("nothing")
    assert from_record(to_record(trajectory)) == trajectory


@given(st.lists(st.floats(), max_size=40))
def test_log_probabilities_come_back_to_the_bit(logps: list[float]) -> None:
    trajectory = Trajectory("t")
    trajectory.act([1] * len(logps), logps, 0)
    again = from_record(json.loads(json.dumps(to_record(trajectory))))
    assert struct.pack(f"{len(logps)}d", *again.logp) == struct.pack(f"{len(logps)}d", *logps)


def test_log_probabilities_of_float32_take_half_the_room() -> None:
    single, double = Trajectory("single"), Trajectory("double")
    logps = [-0.1 * number for number in range(1, 100)]
    double.act([1] * len(logps), logps, 0)
    single.act([1] * len(logps), np.float32(logps).astype(float).tolist(), 0)
    assert to_record(single)["logp"].startswith("<f4:")
    assert to_record(double)["logp"].startswith("<f8:")
    assert from_record(to_record(single)).logp == single.logp


@given(st.lists(st.integers(0, 2**31 - 1), max_size=40), st.integers(0, 2**31 - 1))
def test_token_ids_and_versions_of_any_size_come_back_equal(ids: list[int], version: int) -> None:
    trajectory = Trajectory("t")
    trajectory.observe(ids)
    trajectory.act(ids, [0.0] * len(ids), version)
    assert from_record(to_record(trajectory)) == trajectory


def test_a_token_id_beyond_32_bits_is_refused() -> None:
    trajectory = Trajectory("t")
    trajectory.observe([2**31])
    with pytest.raises(ArchiveError, match="32 bits"):
        to_record(trajectory)


@given(st.text(st.characters()))
def test_any_text_comes_back_equal(text: str) -> None:
    trajectory = Trajectory("t", messages=[message("user", text)], steps=[Step(text, text + "!", 0.0, True)])
    assert from_record(json.loads(json.dumps(to_record(trajectory)))) == trajectory


def test_a_text_that_is_said_twice_is_kept_once() -> None:
    trajectory = make_trajectory(1, n_turns=2)
    assert json.dumps(to_record(trajectory)).count(json.dumps(trajectory.steps[1].observation)) == 1


def test_a_record_of_a_newer_schema_says_how_to_read_it() -> None:
    record = to_record(make_trajectory(1)) | {"schema": SCHEMA + 1}
    with pytest.raises(ArchiveError, match=rf"schema {SCHEMA + 1}.*pip install --upgrade"):
        from_record(record)


@pytest.mark.parametrize("schema", [None, "1", 0, -1, 1.5])
def test_a_record_without_a_schema_is_refused(schema: object) -> None:
    with pytest.raises(ArchiveError, match="schema"):
        from_record(to_record(make_trajectory(1)) | {"schema": schema})


@pytest.mark.parametrize("part", sorted(set(to_record(Trajectory("t"))) - {"schema"}))
def test_a_record_that_lacks_a_part_is_refused(part: str) -> None:
    record = to_record(make_trajectory(1))
    del record[part]
    with pytest.raises(ArchiveError, match=part):
        from_record(record)


def test_a_column_of_an_unknown_type_is_refused() -> None:
    record = to_record(make_trajectory(1)) | {"ids": "|O8:AAAA"}
    with pytest.raises(ArchiveError, match="type"):
        from_record(record)


def test_the_fingerprint_leaves_out_what_clocks_measured() -> None:
    one, other = make_trajectory(1), make_trajectory(1)
    other.cost.wall_s += 1
    other.cost.cpu_s += 1
    other.steps[0] = Step(**{**_fields(other.steps[0]), "policy_s": 9.0, "env_s": 9.0})
    assert fingerprint(one) == fingerprint(other)


def test_the_fingerprint_sees_one_bit_of_one_log_probability() -> None:
    one, other = make_trajectory(1), make_trajectory(1)
    place = other.action.index(True)
    other.logp[place] = math.nextafter(other.logp[place], 0)
    assert fingerprint(one) != fingerprint(other)


def _fields(step: Step) -> dict[str, object]:
    return {name: getattr(step, name) for name in Step.__dataclass_fields__}
