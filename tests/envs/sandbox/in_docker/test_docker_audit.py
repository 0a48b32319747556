"""The audit of containers."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("n_runs", [15, pytest.param(50, marks=pytest.mark.slow)])
def test_an_audit_finds_no_container_left(docker_host: str, n_runs: int) -> None:
    command = [
        sys.executable,
        "-m",
        "workgym.envs.sandbox.audit",
        "--backend",
        "docker",
        "--runs",
        str(n_runs),
        "--threads",
        "2",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "containers" in done.stdout
    assert done.stdout.endswith(f"clean: docker, {n_runs + 1} runs\n")
