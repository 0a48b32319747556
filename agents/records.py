"""Trajectory <-> record: the JSON object that an archive holds, exact to the last bit.

A record is a dict of JSON types that a person can read, except for the four token columns and the files of the attempt:
those are base64 text, since a list of numbers costs ten times the time. A column says its own type: `"<i4:AAAA..."`.
Most actions and observations of the steps stand in the messages as well: a step then holds the index of the message.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

import numpy as np

from workgym.agents.message import Call, Image, Message, Part, Text
from workgym.agents.trajectory import Cost, Step, Trajectory, Versions
from workgym.envs.verify import Attempt, Check, Verdict
from workgym.tasks.errors import ArchiveError
from workgym.tasks.task import content_hash

__all__ = ["SCHEMA", "check_schema", "fingerprint", "from_record", "to_record"]

SCHEMA: Final = 1
"""Version of the record. A reader refuses a newer one; an older one is read for ever."""

_PLAIN: Final = (
    "rollout_id", "task_id", "task_hash", "domain", "family", "level", "split", "env", "seed", "policy", "end_reason",
    "error",
)  # fmt: skip
_STEP: Final = ("action", "observation", "reward", "valid", "start", "stop", "finish", "policy_s", "env_s")
_COST: Final = ("tokens_in", "tokens_out", "wall_s", "cpu_s", "money_usd")
_INTEGERS: Final = {"b": "|i1", "H": "<u2", "i": "<i4"}
_KINDS: Final = (*_INTEGERS.values(), "|b1", "<f4", "<f8")
_CHECK: Final = ("name", "score", "detail", "label", "breach")


def to_record(trajectory: Trajectory) -> dict[str, Any]:
    """Turn a trajectory into JSON types. Nothing of a task's hidden part is in one, so none is in the other."""
    record: dict[str, Any] = {"schema": SCHEMA}
    record.update((name, getattr(trajectory, name)) for name in _PLAIN)
    versions = trajectory.versions
    record["versions"] = {"task": versions.task, "env": versions.env, "verifier": versions.verifier}
    record["cost"] = {name: getattr(trajectory.cost, name) for name in _COST}
    record["verdict"] = _verdict_record(trajectory.verdict)
    record["attempt"] = _attempt_record(trajectory.attempt)
    record["messages"] = [
        {"role": message.role, "parts": [_part_record(part) for part in message.parts]}
        for message in trajectory.messages
    ]
    record["steps"] = _step_records(trajectory)
    record["row_starts"] = list(trajectory.row_starts)
    record["ids"] = _pack_integers(trajectory.ids, "Hi")
    record["action"] = _pack("|b1", bytes(trajectory.action))
    record["logp"] = _pack_floats(trajectory.logp)
    record["version"] = _pack_integers(trajectory.version, "bi")
    return record


def from_record(record: Mapping[str, Any]) -> Trajectory:
    """Make the trajectory again: `from_record(to_record(t)) == t`.

    Raises:
        ArchiveError: the record is of a newer schema, of none, or lacks a part.
    """
    check_schema(record)
    try:
        return _read(record)
    except (KeyError, TypeError, ValueError) as error:
        name = record.get("rollout_id", "?")
        raise ArchiveError(
            f"record {name!r} is not of schema {SCHEMA}: {error!r}. Was it written by workgym?"
        ) from error


def check_schema(record: Mapping[str, Any]) -> None:
    """Refuse a record that this version cannot read.

    Raises:
        ArchiveError: with the way out.
    """
    schema = record.get("schema") if isinstance(record, Mapping) else None
    if not isinstance(schema, int) or schema < 1:
        raise ArchiveError(
            f"a record has the schema {schema!r}, not a number from 1 to {SCHEMA}: no archive of workgym"
        )
    if schema > SCHEMA:
        raise ArchiveError(
            f"a record has schema {schema}; this version of workgym reads up to {SCHEMA}. "
            "Upgrade it: pip install --upgrade workgym"
        )


def fingerprint(trajectory: Trajectory) -> str:
    """Hash of everything in an episode but what clocks measured: equal for a run and its exact repetition.

    Returns:
        32 hexadecimal digits.
    """
    timeless = replace(
        trajectory,
        cost=replace(trajectory.cost, wall_s=0.0, cpu_s=0.0),
        steps=[replace(step, policy_s=0.0, env_s=0.0) for step in trajectory.steps],
    )
    return content_hash(to_record(timeless))


def _read(record: Mapping[str, Any]) -> Trajectory:
    messages = [
        Message(message["role"], tuple(_read_part(part) for part in message["parts"])) for message in record["messages"]
    ]
    return Trajectory(
        **{name: record[name] for name in _PLAIN},
        messages=messages,
        steps=[_read_step(step, messages) for step in record["steps"]],
        attempt=_read_attempt(record["attempt"]),
        verdict=_read_verdict(record["verdict"]),
        cost=Cost(**record["cost"]),
        versions=Versions(**record["versions"]),
        ids=_unpack(record["ids"]),
        action=_unpack(record["action"]),
        logp=_unpack(record["logp"]),
        version=_unpack(record["version"]),
        row_starts=list(record["row_starts"]),
    )


def _step_records(trajectory: Trajectory) -> list[dict[str, Any]]:
    places: dict[str, int] = {}
    for index, message in enumerate(trajectory.messages):
        if len(message.parts) == 1 and isinstance(message.parts[0], Text):
            places.setdefault(message.parts[0].text, index)
    records = []
    for step in trajectory.steps:
        record = {name: getattr(step, name) for name in _STEP}
        for name in ("action", "observation"):
            record[name] = places.get(record[name], record[name])
        records.append(record)
    return records


def _read_step(record: Mapping[str, Any], messages: Sequence[Message]) -> Step:
    said = {
        name: messages[record[name]].text if isinstance(record[name], int) else record[name]
        for name in ("action", "observation")
    }
    return Step(**{**record, **said})


def _verdict_record(verdict: Verdict | None) -> dict[str, Any] | None:
    if verdict is None:
        return None
    return {
        "reward": verdict.reward,
        "success": verdict.success,
        "valid": verdict.valid,
        "integrity": verdict.integrity,
        "checks": [{name: getattr(check, name) for name in _CHECK} for check in verdict.checks],
    }


def _read_verdict(record: Mapping[str, Any] | None) -> Verdict | None:
    if record is None:
        return None
    checks = tuple(Check(**check) for check in record["checks"])
    return Verdict(record["reward"], record["success"], checks, record["valid"], record["integrity"])


def _attempt_record(attempt: Attempt | None) -> dict[str, Any] | None:
    if attempt is None:
        return None
    return {
        "task_id": attempt.task_id,
        "submission": attempt.submission,
        "files": {path: base64.b64encode(data).decode() for path, data in attempt.files.items()},
        "state": dict(attempt.state),
    }


def _read_attempt(record: Mapping[str, Any] | None) -> Attempt | None:
    if record is None:
        return None
    files = {path: base64.b64decode(text, validate=True) for path, text in record["files"].items()}
    return Attempt(record["task_id"], record["submission"], files, record["state"])


def _part_record(part: Part) -> dict[str, str]:
    if isinstance(part, Text):
        return {"text": part.text}
    if isinstance(part, Image):
        return {"image": part.sha256}
    return {"call": part.name, "arguments": part.arguments, "id": part.id}


def _read_part(record: Mapping[str, str]) -> Part:
    if "text" in record:
        return Text(record["text"])
    if "call" in record:
        return Call(record["call"], record["arguments"], record["id"])
    return Image(record["image"])


def _pack(kind: str, data: bytes) -> str:
    return f"{kind}:{binascii.b2a_base64(data, newline=False).decode()}"


def _pack_integers(values: Sequence[int], codes: str) -> str:
    """Integers in the first of some types that holds them all."""
    for code in codes:
        with suppress(struct.error):  # out of range, found at the first such value
            return _pack(_INTEGERS[code], struct.pack(f"<{len(values)}{code}", *values))
    raise ArchiveError("a token id or a weight version is no integer of 32 bits")


def _pack_floats(values: Sequence[float]) -> str:
    """Log-probabilities as float32 where that is exact (engines compute them so), else as float64."""
    wide = np.frombuffer(struct.pack(f"<{len(values)}d", *values), "<f8")
    with np.errstate(over="ignore"):
        narrow = wide.astype("<f4")
    if narrow.astype("<f8").tobytes() == wide.tobytes():
        return _pack("<f4", narrow.tobytes())
    return _pack("<f8", wide.tobytes())


def _unpack(text: str) -> list[Any]:
    kind, _, data = text.partition(":")
    if kind not in _KINDS:
        raise ValueError(f"a column has the type {kind[:20]!r}")
    values: list[Any] = np.frombuffer(base64.b64decode(data, validate=True), np.dtype(kind)).tolist()
    return values
