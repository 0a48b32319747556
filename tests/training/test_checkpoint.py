"""Checkpoints: whole or not there, whatever happens while they are written."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch

from workgym.tasks.errors import PolicyError
from workgym.training.checkpoint import clean_checkpoints, latest_checkpoint, load_checkpoint, save_checkpoint

PAYLOAD = {
    "model": {"w": torch.arange(6.0).reshape(2, 3)},
    "optimizer": {"state": {0: {"step": torch.tensor(3.0)}}, "groups": [{"betas": (0.9, 0.95)}]},
    "rng": np.random.default_rng(5).bit_generator.state,
    "name": "run",
    "done": False,
    "nothing": None,
}


def names(run_dir: Path) -> list[str]:
    return sorted(path.name for path in (run_dir / "checkpoints").iterdir())


@contextmanager
def full_disk(n_bytes: int) -> Iterator[None]:
    """No file may grow beyond this: a write fails as it does on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_payload_comes_back_as_it_was(tmp_path):
    place = save_checkpoint(tmp_path, 7, PAYLOAD)
    again = load_checkpoint(place)

    assert place == latest_checkpoint(tmp_path)
    assert torch.equal(again.pop("model")["w"], PAYLOAD["model"]["w"])
    assert again == {name: value for name, value in PAYLOAD.items() if name != "model"}
    rng = np.random.default_rng(0)
    rng.bit_generator.state = again["rng"]
    assert rng.random() == np.random.default_rng(5).random()


def test_the_newest_two_are_kept(tmp_path):
    for step in (1, 2, 10, 9):
        save_checkpoint(tmp_path, step, {"step": step})

    assert names(tmp_path) == ["step-00000009", "step-00000010"]
    assert load_checkpoint(latest_checkpoint(tmp_path)) == {"step": 10}


def test_a_second_checkpoint_of_a_step_is_the_newer_one(tmp_path):
    for attempt in range(12):
        save_checkpoint(tmp_path, 4, {"attempt": attempt})

    assert load_checkpoint(latest_checkpoint(tmp_path)) == {"attempt": 11}
    assert names(tmp_path) == ["step-00000004-11", "step-00000004-12"]


def test_further_files_lie_beside_the_state(tmp_path):
    place = save_checkpoint(tmp_path, 1, {}, write_more=lambda at: (at / "model.txt").write_text("m"))

    assert (place / "model.txt").read_text() == "m"


def test_half_written_checkpoints_are_not_seen_and_can_be_cleaned(tmp_path):
    save_checkpoint(tmp_path, 1, {"step": 1})
    half = tmp_path / "checkpoints" / "step-00000002.partial"
    half.mkdir()
    (half / "state.pt").write_bytes(b"PK")
    (tmp_path / "checkpoints" / "step-00000003").mkdir()

    assert latest_checkpoint(tmp_path).name == "step-00000001"
    clean_checkpoints(tmp_path)
    assert not half.exists()


def test_a_run_without_checkpoints_has_no_latest(tmp_path):
    assert latest_checkpoint(tmp_path / "nowhere") is None
    clean_checkpoints(tmp_path / "nowhere")


def test_a_full_disk_keeps_the_last_good_checkpoint(tmp_path):
    save_checkpoint(tmp_path, 1, {"step": 1})
    with full_disk(20_000), pytest.raises(PolicyError, match=r"step-00000002 could not be written.*free disk space"):
        save_checkpoint(tmp_path, 2, {"step": 2, "weights": torch.zeros(100_000)})

    assert names(tmp_path) == ["step-00000001"]
    assert load_checkpoint(latest_checkpoint(tmp_path)) == {"step": 1}
    save_checkpoint(tmp_path, 2, {"step": 2})
    assert load_checkpoint(latest_checkpoint(tmp_path)) == {"step": 2}


def test_a_kill_at_any_file_operation_leaves_a_whole_checkpoint(tmp_path):
    program = Path(__file__).with_name("killed_saves.py")
    done = subprocess.run([sys.executable, program, tmp_path], capture_output=True, text=True, timeout=240)
    kills = [json.loads(line) for line in done.stdout.splitlines()]

    assert done.stderr == ""
    assert len(kills) > 8
    assert all(kill["whole"] for kill in kills)
    steps = [kill["step"] for kill in kills]
    assert steps == sorted(steps)
    assert set(steps) == {1, 2}
    assert kills[-1] == {"died": False, "whole": True, "step": 2, "left": ["step-00000002"]}


@pytest.mark.parametrize("damage", [lambda data: data[:-50], lambda data: b"", lambda data: b"x" * len(data)])
def test_a_damaged_checkpoint_is_named_with_the_way_out(tmp_path, damage):
    path = save_checkpoint(tmp_path, 1, PAYLOAD) / "state.pt"
    path.write_bytes(damage(path.read_bytes()))

    with pytest.raises(PolicyError, match="step-00000001 cannot be read.*Remove it"):
        load_checkpoint(path.parent)


@dataclass
class Config:
    lr: float = 1.0


@pytest.mark.parametrize("value", [Config(), np.float64(1), {1, 2}, np.zeros(3)])
def test_what_could_not_be_read_again_is_not_written(tmp_path, value):
    with pytest.raises(PolicyError, match=r"payload\['a'\]\[0\] is a "):
        save_checkpoint(tmp_path, 1, {"a": [value]})
    assert latest_checkpoint(tmp_path) is None
