"""Opens text files that may be compressed."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from workgym.tasks.errors import TaskError

__all__ = ["open_lines"]

_GZIP_MAGIC: Final = b"\x1f\x8b"


def open_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Read the lines of a UTF-8 file, plain or gzip by its first bytes.

    Args:
        path: the file.

    Yields:
        (number from 1, line without its newline) of every line that is not blank.

    Raises:
        TaskError: the file is missing, is damaged or is no text; the message names file and row.
    """
    number = 0
    try:
        with path.open("rb") as raw:
            compressed = raw.read(2) == _GZIP_MAGIC
            raw.seek(0)
            with gzip.open(raw) if compressed else raw as lines:
                for number, line in enumerate(lines, start=1):
                    text = line.decode("utf-8").strip()
                    if text:
                        yield number, text
    except OSError as error:
        raise TaskError(f"cannot read {path}: {error.strerror or error}") from error
    except (EOFError, zlib.error) as error:
        raise TaskError(f"{path} is damaged after row {number}: {error}") from error
    except UnicodeDecodeError as error:
        raise TaskError(f"{path} row {number} is not UTF-8 text: {error.reason}") from error
