"""One process of a plain user, with the system's own Python, that keeps pools for the tests.

The tests run as root; what they ask of a pool here is done over there, by a user without any privilege.
"""

from __future__ import annotations

import itertools
import os
import pickle
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, BinaryIO

__all__ = ["NOBODY", "PYTHON", "PlainUser", "Remote"]

NOBODY = 65534
PYTHON = "/usr/bin/python3"
_SIZE = struct.Struct("<Q")
_LIVING = ("open_pool", "lease", "__enter__", "start", "fork")  # whose answers stay over there


class PlainUser:
    """The process, and a copy of the code that it may read."""

    def __init__(self, root: Path) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="workgym-plain-"))
        package = self.folder / "workgym"
        package.mkdir()
        (package / "__init__.py").touch()
        for floor in ("tasks", "envs"):
            shutil.copytree(root / floor, package / floor, ignore=shutil.ignore_patterns("__pycache__"))
        for path in (self.folder, *self.folder.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        self._home = self.folder / "home"
        self._home.mkdir()
        os.chown(self._home, NOBODY, NOBODY)
        shutil.copy(__file__, self.folder / "plain_user.py")
        self._lock = threading.Lock()
        self._process = self.start([str(self.folder / "plain_user.py")])

    def start(self, arguments: list[str]) -> subprocess.Popen[bytes]:
        """Start another Python of that user, which can import workgym's sandbox."""
        return subprocess.Popen(
            [PYTHON, "-s", "-B", *arguments],
            cwd=self._home,
            env={**os.environ, "PYTHONPATH": str(self.folder), "HOME": str(self._home), "TMPDIR": str(self._home)},
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def ask(self, target: int, method: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Call a method over there; what lives there comes back as a `Remote`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            _put(self._process.stdin, (target, method, arguments, named))
            kind, value = _get(self._process.stdout)
        if kind == "error":
            raise value
        if kind == "living":
            return [Remote(self, key) for key in value] if isinstance(value, list) else Remote(self, value)
        return value

    def open_pool(self, backend: str, spec: Any) -> Any:
        """As `workgym.envs.sandbox.pool.open_pool`."""
        return self.ask(0, "open_pool", (backend, spec), {})

    def close(self) -> None:
        """End it with all its pools."""
        with self._process:
            assert self._process.stdin is not None
            self._process.stdin.close()
        shutil.rmtree(self.folder)


class Remote:
    """Something that lives in the plain user's process: a pool, a lease, a sandbox, a program."""

    def __init__(self, user: PlainUser, key: int) -> None:
        self._user, self._key = user, key

    def __getattr__(self, name: str) -> Any:
        if name in ("spec", "capabilities", "began", "zygote_pid"):
            return self._user.ask(self._key, "__getattribute__", (name,), {})
        return lambda *arguments, **named: self._user.ask(self._key, name, arguments, named)

    def __enter__(self) -> Any:
        return self._user.ask(self._key, "__enter__", (), {})

    def __exit__(self, *error: object) -> None:
        self._user.ask(self._key, "__exit__", (None, None, None), {})


def _put(stream: BinaryIO | Any, value: object) -> None:
    data = pickle.dumps(value)
    stream.write(_SIZE.pack(len(data)) + data)
    stream.flush()


def _get(stream: BinaryIO | Any) -> Any:
    head = stream.read(_SIZE.size)
    if not head:
        raise EOFError("the plain user's process is gone")
    return pickle.loads(stream.read(_SIZE.unpack(head)[0]))


class _Door:
    """What one asks first."""

    def open_pool(self, backend: str, spec: Any) -> Any:
        from workgym.envs.sandbox.pool import open_pool

        return open_pool(backend, spec)


def _serve() -> None:
    living: dict[int, Any] = {0: _Door()}
    keys = itertools.count(1)

    def keep(value: Any) -> int:
        key = next(keys)
        living[key] = value
        return key

    while True:
        try:
            target, method, arguments, named = _get(sys.stdin.buffer)
        except EOFError:
            break
        try:
            value = getattr(living[target], method)(*arguments, **named)
        except Exception as error:  # noqa: BLE001 - it is raised over there
            _put(sys.stdout.buffer, ("error", error))
            continue
        if method not in _LIVING:
            _put(sys.stdout.buffer, ("value", value))
        elif method == "fork":
            _put(sys.stdout.buffer, ("living", [keep(one) for one in value]))
        else:
            _put(sys.stdout.buffer, ("living", keep(value)))
    for thing in reversed(living.values()):
        if hasattr(thing, "lease"):
            thing.close()


if __name__ == "__main__":
    _serve()
