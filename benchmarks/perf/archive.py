"""How fast the archive takes and gives back trajectories of 50 KB.

    python benchmarks/perf/archive.py [--records N] [--rounds N]

Prints one JSON line a measure. Beside `append` stands the least that one zstd frame a record can cost in Python: a
ready dict through json, zstd and one write, without making the dict, the index and the lock.
"""

from __future__ import annotations

import argparse
import inspect
import itertools
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from workgym.agents.archive import FRAMES, Archive
from workgym.agents.frames import compressor
from workgym.agents.message import message
from workgym.agents.records import to_record
from workgym.agents.trajectory import Step, Trajectory
from workgym.envs.verify import Attempt, Check, Verdict

__all__ = ["main", "make_episode"]

_CHARS_PER_TOKEN = 4


def make_episode(number: int) -> Trajectory:
    """An episode whose record is about 50 KB of JSON: an agent that reads and writes Python code, in six turns."""
    rng = random.Random(number)
    code = inspect.getsource(argparse)
    episode = Trajectory(f"bench/{number:06d}", f"task-{number}", "0" * 32, "coding", "repair", 1, "train")
    episode.messages.append(message("user", _piece(code, 1200, rng)))
    for _ in range(6):
        action, answer = _piece(code, 700, rng), _piece(code, 1500, rng)
        episode.observe([rng.randrange(49_152) for _ in range(len(answer) // _CHARS_PER_TOKEN)])
        start, n = len(episode.ids), len(action) // _CHARS_PER_TOKEN
        logps = np.array([-rng.random() for _ in range(n)], np.float32).astype(float).tolist()
        episode.act([rng.randrange(49_152) for _ in range(n)], logps, 1)
        episode.steps.append(Step(action, answer, 0.0, True, start, start + n, "stop", rng.random(), rng.random()))
        episode.messages += [message("assistant", action), message("tool", answer)]
    episode.attempt = Attempt(episode.task_id, "", {"fix.py": _piece(code, 1500, rng).encode()})
    episode.verdict = Verdict(1.0, True, (Check("tests", 1.0, "12 of 12 tests pass"),))
    return episode


def _piece(text: str, n_chars: int, rng: random.Random) -> str:
    start = rng.randrange(len(text) - n_chars)
    return text[start : start + n_chars]


def _per_cpu_s(n: int, work: Callable[..., object], *arguments: object) -> float:
    start = time.process_time()
    work(*arguments)
    return n / (time.process_time() - start)


def _append(folder: Path, episodes: Sequence[Trajectory]) -> None:
    with Archive.open(folder, "a") as archive:
        for episode in episodes:
            archive.append(episode)


def _append_bare(path: Path, episodes: Sequence[Trajectory]) -> float:
    records = [to_record(episode) for episode in episodes]
    squeeze = compressor(1)
    start = time.process_time()
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for record in records:
        os.write(file, squeeze.compress(json.dumps(record).encode() + b"\n"))
    os.close(file)
    return len(records) / (time.process_time() - start)


def _read(folder: Path) -> None:
    with Archive.open(folder) as archive:
        for _ in archive:
            pass


def _rebuild(folder: Path) -> None:
    (folder / "index.sqlite").unlink()
    Archive.open(folder).close()


def main() -> None:
    """Measure in rounds and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--records", type=int, default=1000, help="records a round")
    parser.add_argument("--rounds", type=int, default=5, help="rounds")
    options = parser.parse_args()
    n = options.records
    kinds = [make_episode(number) for number in range(50)]
    episodes = [
        replace(episode, rollout_id=f"bench/{number:06d}")
        for number, episode in zip(range(n), itertools.cycle(kinds), strict=False)
    ]
    sizes = [len(json.dumps(to_record(episode))) for episode in kinds]
    rates: dict[str, list[float]] = {"append": [], "bare": [], "read": [], "rebuild": []}
    smaller = 0.0
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            rates["append"].append(_per_cpu_s(n, _append, folder, episodes))
            rates["bare"].append(_append_bare(folder / "bare", episodes))
            rates["read"].append(_per_cpu_s(n, _read, folder))
            rates["rebuild"].append(_per_cpu_s(n, _rebuild, folder))
            smaller = statistics.mean(sizes) * n / (folder / FRAMES).stat().st_size
    median = {name: statistics.median(values) for name, values in rates.items()}
    unit = "records/CPU-s"
    for measure in (
        {"name": "archive append", "ratio": round(median["append"]), "goal": 6400, "unit": unit},
        {
            "name": "archive append, against bare frames",
            "ratio": round(median["append"] / median["bare"], 3),
            "goal": 0.5,
        },
        {"name": "archive read", "ratio": round(median["read"]), "goal": 2000, "unit": unit},
        {"name": "archive index rebuilt", "ratio": round(median["rebuild"]), "goal": 2000, "unit": unit},
        {"name": "archive size, against JSON", "ratio": round(smaller, 2), "goal": 3.3},
    ):
        more = {"better": "higher", "load": round(os.getloadavg()[0], 2), "record_bytes": round(statistics.mean(sizes))}
        print(json.dumps({**measure, **more}))


if __name__ == "__main__":
    main()
