"""Kills a process at every file operation of a save, and says what each left behind; one JSON line a kill.

python killed_saves.py FOLDER
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path

import torch

from workgym.training.checkpoint import clean_checkpoints, latest_checkpoint, load_checkpoint, save_checkpoint

WATCHED = ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir")


def save(run_dir: Path, step: int) -> None:
    payload = {"step": step, "weights": torch.full((1000,), float(step))}
    save_checkpoint(run_dir, step, payload, write_more=lambda at: (at / "more.txt").write_text(str(step)), n_keep=1)


def die_at(count: int) -> None:
    """Kill this process at its operation number `count` on files."""
    left = count

    def watch(event: str, arguments: object) -> None:
        nonlocal left
        if event in WATCHED:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def save_and_die(run_dir: Path, count: int) -> bool:
    """Save step 2 in a child that dies at its operation `count`; whether it died."""
    child = os.fork()
    if not child:
        die_at(count)
        save(run_dir, 2)
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def main(folder: Path) -> None:
    count = 0
    died = True
    while died:
        count += 1
        run_dir = folder / str(count)
        save(run_dir, 1)
        died = save_and_die(run_dir, count)
        place = latest_checkpoint(run_dir)
        payload = load_checkpoint(place) if place else {}
        clean_checkpoints(run_dir)
        whole = bool(place) and payload["weights"].tolist() == [payload["step"]] * 1000
        whole = whole and (place / "more.txt").read_text() == str(payload["step"])
        left = sorted(path.name for path in (run_dir / "checkpoints").iterdir())
        print(json.dumps({"died": died, "whole": whole, "step": payload.get("step"), "left": left}))
        shutil.rmtree(run_dir)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
