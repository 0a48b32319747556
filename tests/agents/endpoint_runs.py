"""Episodes of the toy domain behind a real endpoint."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import toy_domain
from chat_server import ChatServer, Model, serve

from workgym.agents.play import play
from workgym.agents.policies.openai import Endpoint, OpenAIPolicy
from workgym.agents.rack import EnvRack, Seat
from workgym.agents.trajectory import Trajectory
from workgym.tasks.task import Budget

KEY = "sk-secret-5f2b"
ENDPOINT = Endpoint("m", api_key=KEY, retries=2, backoff_s=0.0, timeout_s=30.0)


def seats(n: int, **budget: Any) -> list[Seat]:
    tasks = [toy_domain.ToyTasks().load(f"toy/2/{10 + number}") for number in range(n)]
    return [
        Seat(f"e/{number}", replace(task, budget=Budget(**{"turns": 4, **budget})), seed=number)
        for number, task in enumerate(tasks)
    ]


def played(
    rack: EnvRack, model: Model, n: int = 1, endpoint: Endpoint = ENDPOINT, **budget: Any
) -> tuple[list[Trajectory], ChatServer]:
    with serve(model) as server:
        policy = OpenAIPolicy(replace(endpoint, base_url=server.url))
        try:
            return play(policy, rack, seats(n, **budget), max_turn_tokens=50), server
        finally:
            policy.close()
