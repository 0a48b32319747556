"""Trajectories for the tests of the archive: every field filled, different for every number."""

from __future__ import annotations

import random

from workgym.agents.message import Image, Message, Text, message
from workgym.agents.trajectory import Cost, Step, Trajectory, Versions
from workgym.envs.verify import Attempt, Check, Verdict


def make_trajectory(number: int, *, n_turns: int = 3, turn_chars: int = 40, rollout_id: str = "") -> Trajectory:
    """A trajectory that depends on its number alone."""
    rng = random.Random(number)
    success = bool(number % 2)
    trajectory = Trajectory(
        rollout_id or f"rl/{number:05d}",
        task_id=f"toy/{number}",
        task_hash=f"{rng.getrandbits(128):032x}",
        domain="toy",
        family="even" if number % 3 == 0 else "odd",
        level=1 + number % 5,
        split="test" if number % 4 == 0 else "train",
        env='{"id": "Toy-v0", "kwargs": {}}',
        seed=number,
        policy="scripted",
        messages=[
            message("system", "Be brief."),
            Message("user", (Text("Look: \U0001f40d\ud800 "), Image("ab" * 32))),
        ],
        attempt=Attempt(f"toy/{number}", "x + 1", {"a.py": bytes(range(256))}, {"rows": [[1, 2.5], None], "ok": True}),
        verdict=Verdict(
            0.1 + 0.2 if success else 0.0,
            success,
            (Check("tests", 1 / 3, "1 of 3 tests pass", "tests"), Check("gate", 1.0)),
        ),
        end_reason="submitted" if success else "turns",
        cost=Cost(11, 7, rng.random(), rng.random(), 0.001),
        versions=Versions("1", "0.1.0", "2"),
    )
    for turn in range(n_turns):
        trajectory.observe([rng.randrange(50_000) for _ in range(4 + turn_chars // 4)])
        start = len(trajectory.ids)
        trajectory.act([rng.randrange(50_000) for _ in range(5)], [-rng.random() for _ in range(5)], turn)
        words = "".join(rng.choices("abcdefgh +-*/()\n", k=turn_chars))
        trajectory.steps.append(
            Step(words, words[::-1], float(turn == n_turns - 1), True, start, start + 5, "stop", rng.random(), 0.01)
        )
        trajectory.messages += [message("assistant", words), message("tool", words[::-1])]
    trajectory.open_row()
    trajectory.observe([1, 2])
    return trajectory
