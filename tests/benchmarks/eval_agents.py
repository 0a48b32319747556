"""Agents for `workgym eval --agent eval_agents:NAME`, and an environment for `--env eval_agents:Third-v0`."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import gymnasium as gym
import toy_domain

N_CALLS = 0


def doubler() -> Any:
    def act(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> str:
        return f"submit {2 * int(messages[1]['content'].split()[-1])}"

    return act


def half_doubler() -> Any:
    """Right where the number is even."""

    def act(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> str:
        number = int(messages[1]["content"].split()[-1])
        return f"submit {2 * number if number % 2 == 0 else 0}"

    return act


def stopping() -> Any:
    """Ends the whole process in its fifth turn, as `kill -9` does, unless RUN_ON is set."""
    act = half_doubler()

    def count(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> str:
        global N_CALLS
        N_CALLS += 1
        if N_CALLS == 5 and "RUN_ON" not in os.environ:
            os.kill(os.getpid(), signal.SIGKILL)
        return str(act(messages, tools))

    return count


def failing() -> Any:
    """Raises in its fifth turn, unless RUN_ON is set."""
    act = half_doubler()
    calls = []

    def count(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> str:
        calls.append(1)
        if len(calls) == 5 and "RUN_ON" not in os.environ:
            raise RuntimeError("out of luck")
        return str(act(messages, tools))

    return count


def mute() -> Any:
    return lambda messages, tools: None


def leaving() -> Any:
    """Ends the process as if all were well."""
    return lambda messages, tools: sys.exit()


if "Third-v0" not in gym.registry:
    gym.register("Third-v0", entry_point="eval_agents:make", disable_env_checker=True)

make = toy_domain.make
