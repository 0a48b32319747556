"""Metrics: JSON lines that look as if the run had never been interrupted, and TensorBoard when it is asked."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from workgym.tasks.errors import PolicyError
from workgym.training.metrics import MetricsLog, read_metrics
from workgym.training.trackers import open_trackers


def test_a_line_is_written_when_it_is_logged(tmp_path):
    log = MetricsLog(tmp_path / "run" / "metrics.jsonl")
    log.log(0, {"loss": 1.5, "entropy": 0.25})

    assert read_metrics(log.path) == [{"step": 0, "entropy": 0.25, "loss": 1.5}]
    log.close()


def test_numbers_that_json_does_not_know_are_null(tmp_path):
    log = MetricsLog(tmp_path / "m.jsonl")
    log.log(0, {"loss": float("nan"), "ratio": float("inf")})
    log.close()

    assert json.loads((tmp_path / "m.jsonl").read_text()) == {"step": 0, "loss": None, "ratio": None}


def test_a_resumed_log_equals_that_of_an_uninterrupted_run(tmp_path):
    straight, broken = tmp_path / "a.jsonl", tmp_path / "b.jsonl"

    def run(path, steps, resume_step=0):
        log = MetricsLog(path, resume_step)
        for step in steps:
            log.log(step, {"loss": 1 / (step + 1)})
        log.close()

    run(straight, range(8))
    run(broken, range(6))
    with broken.open("a") as file:
        file.write('{"step": 6, "los')
    run(broken, range(4, 8), resume_step=4)

    assert broken.read_bytes() == straight.read_bytes()


def test_a_half_written_line_is_cut_off_even_if_all_steps_stay(tmp_path):
    path = tmp_path / "m.jsonl"
    path.write_text('{"step": 0}\n{"st')
    MetricsLog(path, resume_step=5).close()

    assert path.read_text() == '{"step": 0}\n'


def test_missing_metrics_are_named(tmp_path):
    with pytest.raises(PolicyError, match=r"no metrics in .*m\.jsonl"):
        read_metrics(tmp_path / "m.jsonl")


def test_trackers_write_both_files(tmp_path):
    trackers = open_trackers(tmp_path)
    trackers.log(0, {"loss": 1.0})
    trackers.close()
    trackers.close()

    assert read_metrics(tmp_path / "metrics.jsonl") == [{"step": 0, "loss": 1.0}]
    (events,) = (tmp_path / "tensorboard").iterdir()
    assert b"loss" in events.read_bytes()


def test_without_metrics_tensorboard_writes_nothing(tmp_path):
    open_trackers(tmp_path).close()

    assert sorted(path.name for path in tmp_path.iterdir()) == ["metrics.jsonl"]


def test_an_unknown_tracker_is_refused_with_the_nearest_name(tmp_path):
    with pytest.raises(PolicyError, match="Did you mean 'tensorboard'"):
        open_trackers(tmp_path, ["tensorbord"])


def test_neither_floors_nor_trackers_load_what_is_heavy():
    program = (
        "import sys, workgym.agents.renderer, workgym.agents.tokenizer, workgym.agents.engines.engine, "
        "workgym.agents.engines.rows, workgym.training.trackers, workgym.training.advantage; "
        "print([name for name in ('torch', 'tensorboard', 'transformers') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)

    assert done.stdout == "[]\n"


def test_the_trainer_loads_no_transformers_and_no_tensorboard():
    program = (
        "import sys, workgym.agents.policies.model, workgym.training.trainer, workgym.training.checkpoint; "
        "print([name for name in ('tensorboard', 'transformers', 'torch._dynamo') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)

    assert done.stdout == "[]\n"
