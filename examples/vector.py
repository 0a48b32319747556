"""Eight environments at once, each in a process of its own: `gym.make_vec` in async mode.

An environment that is done starts its next episode at the next step, whatever its action is then (Gymnasium's
autoreset). Infos are arrays: `infos["is_success"][i]` is what environment i says.

    python examples/vector.py
"""

from __future__ import annotations

import re

import gymnasium as gym
import numpy as np

import workgym  # noqa: F401 - importing it registers the ids

N_ENVS = 8
N_EPISODES = 24


class Reckoner:
    """An agent for one episode of sums: the first operation first, then what is left."""

    def __init__(self) -> None:
        self.rest = ""  # what comes behind the operation that was just done

    def act(self, observation: str) -> str:
        shown = observation.rpartition("\n")[2]  # 26+60-87 at first, later 26+60 = 86
        sum_left = shown.rpartition(" = ")[2] + self.rest
        operation = re.match(r"-?\d+[-+*]\d+", sum_left)
        if operation is None:
            return f"submit {sum_left}"
        self.rest = sum_left[operation.end() :]
        return f"calculate {operation[0]}"


def main() -> None:
    envs = gym.make_vec("Calculator-v0", num_envs=N_ENVS, vectorization_mode="async", level=2)
    agents = [Reckoner() for _ in range(N_ENVS)]
    n_played = n_solved = n_steps = 0
    observations, infos = envs.reset(seed=0)
    starts = np.zeros(N_ENVS, bool)  # which environments begin an episode at the next step
    while n_played < N_EPISODES:
        actions = tuple(agent.act(observation) for agent, observation in zip(agents, observations, strict=True))
        observations, _, terminated, truncated, infos = envs.step(actions)
        n_steps += 1
        for i in np.flatnonzero(starts):
            agents[i] = Reckoner()  # it has just begun: its observation is a new sum
        starts = terminated | truncated
        n_played += int(starts.sum())
        n_solved += int(infos["is_success"][starts].sum())
    envs.close()
    print(f"{n_played} episodes in {n_steps} steps of {N_ENVS} environments: {n_solved} solved")
    assert n_solved == n_played


if __name__ == "__main__":
    main()
