"""Whether sandboxes leave anything behind: count, let many programs run, close, count again.

    python -m workgym.envs.sandbox.audit [--backend local] [--runs 500] [--threads 4]

Prints what is more or less than before, and exits 1 unless nothing is. The runs happen in a worker process. The one
that counts adopts its orphans, so that no process escapes by losing its parent.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Final, NoReturn

from workgym.envs.sandbox.audit_runs import CASES, SPEC, Case, run_case
from workgym.envs.sandbox.backends import UNSAFE
from workgym.envs.sandbox.census import Census, Site, children_of, shared_files, take_census
from workgym.envs.sandbox.docker.container import LABEL
from workgym.envs.sandbox.docker.daemon import find_daemon
from workgym.envs.sandbox.ledger import Owner, ledger_folder, own_ledger, start_time
from workgym.envs.sandbox.pool import open_pool
from workgym.envs.sandbox.reaping import reap
from workgym.tasks.errors import SandboxError

__all__ = ["main"]

_PATIENCE_S: Final = 5.0
"""What was told to end may need a moment."""
_PR_SET_CHILD_SUBREAPER: Final = 36
_N_SHOWN: Final = 5
_REAP_S: Final = 10.0


class _Worker:
    """A process that uses sandboxes when it is told to, and then waits."""

    def __init__(self, backend: str, n_runs: int, n_threads: int, temp: Path, nonce: str) -> None:
        self._socket, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            self._socket.close()
            os.environ["WORKGYM_CACHE"] = str(ledger_folder().parent)  # which may be one for temporary files
            os.environ["TMPDIR"] = tempfile.tempdir = str(temp)
            _work(backend, n_runs, n_threads, nonce, theirs)
        theirs.close()
        self._lines = self._socket.makefile("rb")
        self.hear()  # it has done what it does only once

    def hear(self) -> dict[str, Any]:
        """What it says next; empty once it is gone."""
        line = self._lines.readline()
        return json.loads(line) if line else {}

    def work(self) -> Iterator[dict[str, Any]]:
        """Let it run, and tell of each run."""
        self._socket.send(b"go")
        while (told := self.hear()) and "end" not in told:
            yield told
        if not told or told["end"]:
            raise SandboxError(f"the audit's worker failed: {told.get('end', 'it died')}")

    def end(self) -> None:
        """Let it end."""
        self._lines.close()
        self._socket.close()
        os.waitpid(self.pid, 0)


def _work(backend: str, n_runs: int, n_threads: int, nonce: str, line: socket.socket) -> NoReturn:
    """The worker's life."""
    told = threading.Lock()

    def say(**what: object) -> None:
        with told:
            line.sendall(json.dumps(what).encode() + b"\n")

    try:
        say(ready=True)
        if line.recv(2):
            try:
                _let_run(backend, n_runs, n_threads, nonce, say)
            except BaseException as error:  # noqa: BLE001 - whatever it is, it is to be told
                say(end=f"{type(error).__name__}: {error}")
            else:
                say(end="")
            line.recv(1)
    finally:
        os._exit(0)


def _let_run(backend: str, n_runs: int, n_threads: int, nonce: str, say: Callable[..., None]) -> None:
    pool = open_pool(backend, SPEC, allow_unsafe=backend == UNSAFE)
    try:
        holds = pool.capabilities
        able = [case for case in CASES if all(getattr(holds, need) for need in case.needs)]

        def act(case: Case) -> None:
            end, is_right = run_case(case, pool, nonce)
            say(case=case.name, run=end, right=is_right)

        with ThreadPoolExecutor(n_threads) as threads:
            list(threads.map(act, islice(cycle(case for case in able if not case.is_alone), n_runs)))
        for case in able:
            if case.is_alone:
                act(case)
    finally:
        pool.close()


def audit(backend: str, n_runs: int, n_threads: int) -> tuple[Census, Census, Counter[tuple[str, str, bool]]]:
    """Count, let run, count again; then kill what was left. This process adopts orphans from then on.

    Returns:
        What there is before and after, and how often each case ended how, and whether it might.

    Raises:
        ValueError: there is no such backend.
        SandboxError: the worker failed.
    """
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, ctypes.c_long(1), *[ctypes.c_long(0)] * 3):
        raise SandboxError(f"cannot adopt orphans: {os.strerror(ctypes.get_errno())}; an audit needs Linux")
    ends: Counter[tuple[str, str, bool]] = Counter()
    kept = set(children_of(os.getpid()))
    with _temp_folder() as temp:
        nonce = f"workgym-audit-{secrets.token_hex(8)}"
        worker = _Worker(backend, n_runs, n_threads, temp, nonce)
        try:
            site = Site(worker.pid, temp, nonce, _containers_of(worker.pid) if backend == "docker" else None)
            before = take_census(site)
            with _progress(n_runs) as advance:
                for told in worker.work():
                    ends[told["case"], told["run"], told["right"]] += 1
                    advance(told["case"])
            after = _settle(site, before, kept | {worker.pid})
        finally:
            worker.end()
            _clear_away(kept, nonce, worker.pid)
    return before, after, ends


def _containers_of(worker: int) -> Callable[[], list[str]]:
    """What lists the containers that a process owns."""
    daemon = find_daemon()
    label = f"{LABEL}={replace(Owner.this_process(), pid=worker, start=start_time(worker)).name}"

    def look() -> list[str]:
        with daemon.client() as client:
            return [str(one["Id"]) for one in client.containers(all=True, filters={"label": label})]

    return look


@contextlib.contextmanager
def _temp_folder() -> Iterator[Path]:
    path = os.path.join(tempfile.gettempdir(), f"workgym-audit-{secrets.token_hex(8)}")
    note = own_ledger().note("folder", path=path)
    os.mkdir(path, 0o700)
    try:
        yield Path(path)
    finally:
        shutil.rmtree(path)
        own_ledger().done(note)


def _settle(site: Site, before: Census, kept: set[int]) -> Census:
    """The census once nothing differs, or patience has an end."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        _bury_adopted(kept)
        after = take_census(site)
        if after == before or time.monotonic() > deadline:
            return after
        time.sleep(0.05)


def _bury_adopted(kept: set[int]) -> None:
    """Take note of the death of orphans that we adopted, as the machine's first process would."""
    for pid in set(children_of(os.getpid())) - kept:
        os.waitpid(pid, os.WNOHANG)


def _clear_away(kept: set[int], nonce: str, worker: int) -> None:
    """Remove what was found to be left, now that it has been counted."""
    while left := set(children_of(os.getpid())) - kept:
        for pid in left:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    for file in shared_files(nonce):
        os.unlink(file)
    deadline = time.monotonic() + _REAP_S
    while True:
        reap()
        if not any(ledger_folder().glob(f"owner-{worker}-*")) or time.monotonic() > deadline:
            return
        time.sleep(0.05)  # another process is reaping


@contextlib.contextmanager
def _progress(total: int) -> Iterator[Callable[[str], None]]:
    """A bar on a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda case: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True)) as bars:
        bar = bars.add_task("", total=total)
        yield lambda case: bars.update(bar, advance=1, description=case)


def differences(before: Census, after: Census) -> dict[str, list[str]]:
    """What is more (+) or less (-) than before, for each thing that is counted."""
    return {
        name: [f"+ {what}" for what in (after[name] - count).elements()]
        + [f"- {what}" for what in (count - after[name]).elements()]
        for name, count in before.items()
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Audit, and print the table.

    Returns:
        0 where nothing differs and every program ended as it may, else 1.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="local")
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--threads", type=int, default=4)
    options = parser.parse_args(arguments)
    try:
        before, after, ends = audit(options.backend, options.runs, options.threads)
    except (SandboxError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{'run':<22} {'ended':<16} {'times':>6}")
    for (case, end, is_right), times in sorted(ends.items()):
        print(f"{case:<22} {end:<16} {times:>6}{'' if is_right else '   unexpected'}")
    skipped = [case.name for case in CASES if case.name not in {case for case, _, _ in ends}]
    if skipped:
        print(f"not run, since the backend lacks it or there were too few runs: {', '.join(skipped)}")
    more = differences(before, after)
    print(f"\n{'left behind':<22} {'before':>8} {'after':>8} {'difference':>10}")
    for name, changes in more.items():
        print(f"{name:<22} {before[name].total():>8} {after[name].total():>8} {len(changes):>10}")
        for change in changes[:_N_SHOWN]:
            print(f"    {change}")
    is_clean = not any(more.values()) and all(is_right for _, _, is_right in ends)
    print(f"\n{'clean' if is_clean else 'NOT clean'}: {options.backend}, {ends.total()} runs")
    return 0 if is_clean else 1


if __name__ == "__main__":
    sys.exit(main())
