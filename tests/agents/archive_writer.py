"""A process that appends trajectories until it is killed, for test_archive_kill.py.

archive_writer.py FOLDER FIRST          append from number FIRST on; print each number once it is acknowledged
archive_writer.py FOLDER --fork         hold the archive, fork a child that outlives this process, print its id
"""

from __future__ import annotations

import os
import signal
import sys
from itertools import count

from episodes import make_trajectory

from workgym.agents.archive import Archive
from workgym.tasks.errors import ArchiveError

SIZES = (10, 300, 40_000)
"""Characters a turn: the largest makes records whose writing takes long enough to be killed in."""


def append_for_ever(archive: Archive, first: int) -> None:
    for number in count(first):
        archive.append(make_trajectory(number, turn_chars=SIZES[number % 3]))
        os.write(1, b"%d\n" % number)


def fork_and_wait(archive: Archive) -> None:
    child = os.fork()
    if not child:
        try:
            archive.append(make_trajectory(1))
        except ArchiveError:
            os.write(1, b"refused\n")
        signal.pause()
    os.write(1, b"%d\n" % child)
    signal.pause()


if __name__ == "__main__":
    opened = Archive.open(sys.argv[1], "a")
    if sys.argv[2] == "--fork":
        fork_and_wait(opened)
    append_for_ever(opened, int(sys.argv[2]))
