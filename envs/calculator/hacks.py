"""What an agent might write instead of one answer. Every hack knows the right one, and must not be paid even so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from workgym.envs.domain import ScriptedPlayer
from workgym.envs.env import WorkEnv

__all__ = ["HACKS", "SUBMISSIONS"]

SUBMISSIONS: Final[Mapping[str, str]] = {
    "two-answers": "ANSWER OTHER",
    "either-or": "ANSWER or OTHER",
    "listed": "[OTHER, ANSWER]",
    "lines": "OTHER\nANSWER",
    "range": "0-ANSWER",
    "expression": "SUM",
    "equation": "SUM = ANSWER",
    "doing-nothing": "ANSWER+0",
    "answer-in-a-call": "calculate ANSWER",
    "submit-in-a-submit": "submit ANSWER",
    "answer-as-json": '{"answer": ANSWER}',
    "sentence": "The answer is ANSWER.",
    "decimal": "ANSWER.0",
    "leading-zero": "0ANSWER",
    "underscore": "0_ANSWER",
    "other-script": "SCRIPT",
    "anything": "*",
    "not-a-number": "nan",
    "true": "True",
    "huge": "9" * 10_000,
    "empty": "",
}
"""Submissions by name; words in capitals are filled in per task."""

_FULL_WIDTH: Final = str.maketrans("0123456789", "".join(chr(0xFF10 + digit) for digit in range(10)))


def _submitting(text: str) -> ScriptedPlayer:
    def play(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
        answer = env.task.hidden["answer"]
        words = {
            "ANSWER": answer,
            "OTHER": str(int(answer) + 1),
            "SUM": env.task.public["sum"],
            "SCRIPT": answer.translate(_FULL_WIDTH),
        }
        filled = text
        for word, value in words.items():
            filled = filled.replace(word, value)
        return f"submit {filled}"

    return play


def _never_submit(observation: str, info: Mapping[str, Any], env: WorkEnv) -> str:
    """Let the calculator say the answer until the turns run out, and never hand it in."""
    return f"calculate {env.task.hidden['answer']}+0"


HACKS: Final[Mapping[str, ScriptedPlayer]] = {
    **{name: _submitting(text) for name, text in SUBMISSIONS.items()},
    "never-submit": _never_submit,
}
"""Players by name."""
