"""What isolation costs: a small program in our sandboxes, in bare processes and in containers, in turn in one run.

    python benchmarks/perf/sandbox.py [--rounds 300] [--warm "" numpy] [--without docker ...]

The bare fork is a warm interpreter without any isolation or limit that forks, runs the same source and waits. Docker is
spoken to over its socket: its command-line client would take longer. Prints one JSON line a measure. The `ratio` of a
peer is the median of CPU milliseconds of a run, of all processes that work for it; `min_ms`, `p50_ms` and `p99_ms` are
wall milliseconds, and `rate` is runs a second, one after another.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from workgym.benchmarks.perf.sandbox_docker import DockerExec, DockerRun, docker_daemon
from workgym.benchmarks.perf.sandbox_peers import (
    BareForker,
    Command,
    Cost,
    Peer,
    Unavailable,
    Worker,
    bwrap,
    copy_readable,
    program_of,
)
from workgym.envs.sandbox.pool import BACKENDS

__all__ = ["main"]

_SYSTEM_PYTHON: Final = "/usr/bin/python3"
_WARM_UP: Final = 20
_N_FORKS: Final = 200
_GOALS: Final = {  # what the measure is -> the goal, and which direction is better
    "cpu_over_bare_fork": (2.0, "lower"),
    "unprivileged_over_root": (1.5, "lower"),
    "docker_exec_over_local": (10.0, "higher"),
    "docker_run_over_local": (50.0, "higher"),
    "runs_per_cpu_second": (300.0, "higher"),
    "runs_per_second_on_one_core": (300.0, "higher"),
    "runs_per_second_on_two_cores": (500.0, "higher"),
    "p50": (4.0, "lower"),
    "fork": (2.0, "lower"),
}

Make = Callable[[], Peer]


@dataclass
class Entrant:
    """A peer in the field.

    Attributes:
        name: what runs the program.
        make: starts it.
        every: it takes part in each so-manieth round, since it is slow.
        costs: of its runs.
    """

    name: str
    make: Make
    every: int = 1
    costs: list[Cost] = field(default_factory=list)

    @property
    def cpu_ms(self) -> float:
        """Median of the CPU milliseconds of a run."""
        return statistics.median(cost.cpu_s for cost in self.costs) * 1e3

    @property
    def p50_ms(self) -> float:
        """Median of the wall milliseconds of a run."""
        return statistics.median(cost.wall_s for cost in self.costs) * 1e3


def measure(entrants: Sequence[Entrant], n_rounds: int) -> Iterator[dict[str, object]]:
    """Let all run in turn; a line for each that cannot. Their costs are in the entrants afterwards."""
    with contextlib.ExitStack() as stack:
        ready = []
        for entrant in entrants:
            try:
                peer = entrant.make()
            except Unavailable as why:
                yield {"name": f"sandbox_{entrant.name}", "skipped": str(why)}
                continue
            stack.callback(peer.close)
            ready.append((entrant, peer))
        for entrant, peer in ready:
            for _ in range(max(1, _WARM_UP // entrant.every)):
                peer.run()
        for number in range(n_rounds):
            for entrant, peer in ready:
                if number % entrant.every == 0:
                    entrant.costs.append(peer.run())


def describe(entrant: Entrant, warm: Sequence[str]) -> dict[str, object]:
    """The line of one peer."""
    walls = sorted(cost.wall_s for cost in entrant.costs)
    parts = {
        f"{part}_ms": _ms(statistics.median(getattr(cost, f"{part}_s") for cost in entrant.costs))
        for part in ("child", "zygote", "caller")
    }
    return {
        "name": f"sandbox_{entrant.name}",
        "ratio": round(entrant.cpu_ms, 3),
        "unit": "CPU-ms",
        "goal": None,
        "better": "lower",
        "warm": list(warm),
        "min_ms": _ms(walls[0]),
        "p50_ms": _ms(statistics.median(walls)),
        "p99_ms": _ms(walls[min(len(walls) - 1, int(len(walls) * 0.99))]),
        "rate": round(len(walls) / sum(walls), 1),
        "runs": len(walls),
        **parts,
    }


def compare(entrants: Sequence[Entrant], warm: Sequence[str]) -> Iterator[dict[str, object]]:
    """The lines that have goals, of those that took part."""
    by_name = {entrant.name: entrant for entrant in entrants if entrant.costs}
    local = by_name.get("local_root") or by_name.get("local_unprivileged")
    if local is None:
        return
    yield _goal("p50", local.p50_ms, warm, unit="ms")
    yield _goal("runs_per_cpu_second", 1e3 / local.cpu_ms, warm, unit="runs/CPU-s")
    if bare := by_name.get("bare_fork"):
        yield _goal("cpu_over_bare_fork", local.cpu_ms / bare.cpu_ms, warm)
    if (plain := by_name.get("local_unprivileged")) and (root := by_name.get("local_root_system_python")):
        yield _goal("unprivileged_over_root", plain.cpu_ms / root.cpu_ms, warm)
    for name in ("docker_exec", "docker_run"):
        if name in by_name:
            yield _goal(f"{name}_over_local", by_name[name].p50_ms / local.p50_ms, warm)


def saturate(warm: Sequence[str], n_runs: int) -> Iterator[dict[str, object]]:
    """Runs a second that four threads get out of one core, and out of two."""
    for n_cores, name in ((1, "runs_per_second_on_one_core"), (2, "runs_per_second_on_two_cores")):
        if n_cores > len(os.sched_getaffinity(0)):
            yield {"name": f"sandbox_{name}", "skipped": f"this machine has less than {n_cores} cores"}
            continue
        try:
            with contextlib.closing(Worker("local", warm, n_cores)) as worker:
                told = worker.ask("rate", n_runs, 4)
        except Unavailable as why:
            yield {"name": f"sandbox_{name}", "skipped": str(why)}
        else:
            yield {**_goal(name, told["runs"] / told["wall_s"], warm, unit="runs/s"), "cores": n_cores, "threads": 4}


def fork_workspaces() -> Iterator[dict[str, object]]:
    """Wall milliseconds of a fork of a workspace of 20 files."""
    try:
        with contextlib.closing(Worker("local", ())) as worker:
            if not worker.has_snapshots:
                raise Unavailable("the backend forks no workspaces on this machine")
            told = worker.ask("fork", _N_FORKS)
    except Unavailable as why:
        yield {"name": "sandbox_fork", "skipped": str(why)}
        return
    walls = sorted(told["fork_s"])
    line = _goal("fork", statistics.median(walls) * 1e3, (), unit="ms")
    more = {"min_ms": walls[0], "p99_ms": walls[int(_N_FORKS * 0.99)], "close_ms": statistics.median(told["close_s"])}
    yield line | {name: _ms(value) for name, value in more.items()}


def enter(stack: contextlib.ExitStack, warm: Sequence[str], without: Sequence[str]) -> list[Entrant]:
    """All who take part, each with what makes it. The containers have no numpy."""
    prefix = "local_root" if os.geteuid() == 0 else "local_unprivileged"
    entrants = [
        Entrant("bare_fork", partial(BareForker, warm)),
        Entrant(prefix, partial(Worker, "local", warm)),
        Entrant("python_I", partial(Command, sys.executable, "-I", "-c", program_of(warm)), 5),
        Entrant("bwrap", partial(bwrap, warm), 5),
    ]
    if os.geteuid() == 0:
        folder = stack.enter_context(copy_readable(warm))
        system = partial(_system_worker, warm, folder)
        entrants[2:2] = [
            Entrant("local_root_system_python", partial(system, is_root=True)),
            Entrant("local_unprivileged", partial(system, is_root=False)),
        ]
    entrants += [Entrant(f"{name}_backend", partial(Worker, name, warm), 5) for name in BACKENDS if name == "bwrap"]
    if not warm and "docker" not in without:
        try:
            daemon = stack.enter_context(docker_daemon())
        except Unavailable as why:
            entrants += [Entrant(name, partial(_refuse, str(why))) for name in ("docker_exec", "docker_run")]
        else:
            entrants.append(Entrant("docker_exec", partial(DockerExec, *daemon), 5))
            entrants.append(Entrant("docker_run", partial(DockerRun, *daemon), 20))
            entrants += [Entrant("docker_backend", partial(Worker, "docker", warm), 5)] if "docker" in BACKENDS else []
    return [entrant for entrant in entrants if entrant.name not in without]


def _system_worker(warm: Sequence[str], folder: Path, *, is_root: bool) -> Worker:
    if not os.access(_SYSTEM_PYTHON, os.X_OK):
        raise Unavailable(f"no {_SYSTEM_PYTHON}")
    return Worker("local", warm, python=_SYSTEM_PYTHON, folder=folder, is_root=is_root)


def _refuse(why: str) -> Peer:
    raise Unavailable(why)


def _goal(name: str, value: float, warm: Sequence[str], **more: object) -> dict[str, object]:
    goal, better = _GOALS[name]
    line = {"name": f"sandbox_{name}", "ratio": round(value, 3), "goal": goal, "better": better, "warm": list(warm)}
    return line | more


def _ms(seconds: float) -> float:
    return round(seconds * 1e3, 3)


def _say(line: dict[str, Any]) -> None:
    print(json.dumps(line if "skipped" in line else {**line, "load": round(os.getloadavg()[0], 2)}), flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--warm", nargs="*", default=["", "numpy"], help='modules to be warm, in turn; "" is none')
    parser.add_argument("--without", nargs="*", default=[], help="peers to leave out: docker, bwrap, python_I ...")
    options = parser.parse_args(arguments)
    machine = {"kernel": platform.release(), "python": platform.python_version(), "machine": platform.machine()}
    _say(
        {"name": "sandbox_machine", "ratio": os.cpu_count(), "unit": "cores", "goal": None, "better": "higher"}
        | machine
    )
    for module in options.warm:
        warm = [module] if module else []
        with contextlib.ExitStack() as stack:
            entrants = enter(stack, warm, options.without)
            for line in measure(entrants, options.rounds):
                _say(line)
        for entrant in entrants:
            if entrant.costs:
                _say(describe(entrant, warm))
        for line in (*compare(entrants, warm), *saturate(warm, 2 * options.rounds)):
            _say(line)
    for line in fork_workspaces():
        _say(line)


if __name__ == "__main__":
    main()
