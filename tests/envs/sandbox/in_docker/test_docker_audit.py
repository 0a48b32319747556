"""The audit of containers."""

from __future__ import annotations

import subprocess
import sys


def test_a_short_audit_finds_no_container_left(docker_host: str) -> None:
    command = [
        sys.executable,
        "-m",
        "workgym.envs.sandbox.audit",
        "--backend",
        "docker",
        "--runs",
        "15",
        "--threads",
        "2",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "containers" in done.stdout
    assert done.stdout.endswith("clean: docker, 16 runs\n")
