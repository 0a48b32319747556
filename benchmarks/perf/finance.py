"""What the finance domain costs, beside what others take for the same: each pair in turn in one run.

    python benchmarks/perf/finance.py [--rounds 5] [--pages 300] [--only index query ...]

Prints one JSON line a measure. A `ratio` without a `unit` is the other's CPU seconds over ours. Peers: pandas and
rank-bm25 (`pip install rank-bm25`); the logic of FinQA's evaluator stands beside this file. The real filing and FinQA's
records are looked for below WORKGYM_TEST_DATA (default ../shared/data).
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from workgym.benchmarks.perf.finance_acting import call_python, judge_attempts, play
from workgym.benchmarks.perf.finance_reading import Filings, build_index, generate, query_index, read_tables
from workgym.benchmarks.perf.lines import Line, Skip

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--only", nargs="*", default=[], help="tables, index, query, python, verdict, generate, play")
    options = parser.parse_args(arguments)
    n_rounds, n_pages = options.rounds, options.pages
    data = Path(os.environ.get("WORKGYM_TEST_DATA", Path(__file__).resolve().parents[2] / ".." / "shared" / "data"))
    filings: list[Filings] = []

    def made() -> Filings:
        if not filings:
            filings.append(Filings(n_pages))
        return filings[0]

    measures: dict[str, Callable[[], Iterator[Line]]] = {
        "tables": lambda: read_tables(n_rounds, data),
        "index": lambda: build_index(n_rounds, made()),
        "query": lambda: query_index(n_rounds, made()),
        "python": lambda: call_python(n_rounds),
        "verdict": lambda: judge_attempts(n_rounds, data),
        "generate": lambda: generate(n_rounds, n_pages),
        "play": lambda: play(n_rounds),
    }
    for name in options.only or measures:
        try:
            for line in measures[name]():
                print(json.dumps({**line, "load": round(os.getloadavg()[0], 2)}), flush=True)
        except Skip as why:
            print(json.dumps({"name": f"finance_{name}", "skipped": str(why)}), flush=True)


if __name__ == "__main__":
    main()
