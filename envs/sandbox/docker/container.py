"""One container: made, spoken to, removed."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from workgym.envs.sandbox.docker.bootstrap import COMMAND, ENVIRON, settings
from workgym.envs.sandbox.docker.daemon import Daemon
from workgym.envs.sandbox.docker.inside.frames import CHUNK_BYTES
from workgym.envs.sandbox.docker.link import Link
from workgym.envs.sandbox.spec import SandboxSpec
from workgym.tasks.errors import ActionError, IsolationUnavailable, SandboxError

__all__ = ["LABEL", "Answer", "Container", "chunks_of"]

LABEL = "workgym.owner"
_START_S = 60.0
_ANSWER_S = 60.0
_REMOVAL_S = 20.0
_OWN_MB = 32  # for the first process, beside what the programs may use
_WARM_MB = 4096  # for it, while it loads what is to be warm
_NOBODY = 65534
_ERRORS = {"value": ValueError, "action": ActionError, "sandbox": SandboxError}

Hear = Callable[[dict[str, Any], bytes], None]


@dataclass
class Answer:
    """What came back for a request: settings and bytes, in order."""

    pieces: list[tuple[dict[str, Any], bytes]] = field(default_factory=list)
    is_whole: bool = False


class Container:
    """A container with our launcher as its first process. It ends when we hang up, also where we are killed.

    Args:
        daemon: where it runs.
        spec: what its programs may use.
        owner: value of its label, by which it is found when we are dead.
        read_only: absolute path inside -> folder of the daemon's host.

    Raises:
        IsolationUnavailable: docker does not give what isolates, or the image cannot serve.
        SandboxError: it does not start.
    """

    def __init__(self, daemon: Daemon, spec: SandboxSpec, owner: str, read_only: Mapping[str, str]) -> None:
        self._daemon, self._spec = daemon, spec
        self._numbers = itertools.count(1)
        self._listeners: dict[int, Hear] = {}
        self._answers: dict[int, Answer] = {}
        self._warm_mb = 0  # what the first process holds, once it is ready
        self._is_removed = False
        self.made_at = time.time()
        self.name = ""
        config = settings(spec, daemon.machine)
        with daemon.client() as client:
            self.name = client.create_container(**_description(client, spec, owner, read_only))["Id"]
        try:
            self._link = Link(self._attach(), self._hear)
        except BaseException:
            self._remove()
            raise
        try:
            self._greet(json.dumps(config).encode())
        except BaseException:
            self.close()
            raise

    def _greet(self, config: bytes) -> None:
        """Tell the first process what to do, and wait until it is ready for it."""
        self._link.send_raw(len(config).to_bytes(4, "big") + config)
        if not self._link.wait(lambda: self._warm_mb > 0, time.monotonic() + _START_S):
            words = self._link.last_words or f"it said nothing for {_START_S:g} s"
            raise SandboxError(f"a container of image {self._spec.image!r} did not start: {words}")
        if self._spec.warm_imports or self._spec.warm_modules:
            self._bound_memory()

    def _attach(self) -> socket.socket:
        """Take hold of its input and output, then start it."""
        with self._daemon.client() as client:
            raw = client.attach_socket(self.name, {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1})
            inner = raw._sock
            line = socket.socket(fileno=os.dup(inner.fileno()))  # the client closes what it opened
            raw.close()
            inner.close()
            try:
                client.start(self.name)
            except Exception as error:
                line.close()
                text = str(getattr(error, "explanation", error))
                if "python3" in text:
                    raise IsolationUnavailable(
                        f"image {self._spec.image!r} has no python3: name one with Python 3.11 or newer in "
                        "SandboxSpec.image"
                    ) from error
                raise
            return line

    def _bound_memory(self) -> None:
        """Give the programs what they may use, above what was loaded for them."""
        limit = _memory_bytes(self._spec, self._warm_mb + _OWN_MB)
        with self._daemon.client() as client:
            client.update_container(self.name, mem_limit=limit, memswap_limit=limit)

    @property
    def is_alive(self) -> bool:
        """Whether it had not ended when we last looked."""
        return not self._link.is_closed

    @property
    def is_fit(self) -> bool:
        """Whether it answers now: an idle one may have ended unseen."""
        with contextlib.suppress(SandboxError):
            return bool(self.ask("ping", timeout_s=5.0, nonce="").is_whole)
        return False

    def _hear(self, meta: dict[str, Any], blob: bytes) -> None:
        match meta["op"]:
            case "ready":
                self._warm_mb = meta["held_kib"] >> 10
            case "answer":
                if answer := self._answers.get(meta["ask"]):
                    answer.pieces.append((meta, blob))
                    answer.is_whole = answer.is_whole or bool(meta.get("last"))
            case _:
                if listener := self._listeners.get(meta["run"]):
                    listener(meta, blob)

    # Programs

    def enlist(self, listener: Hear) -> int:
        """Give a number to a program that is about to be started; `listener` hears all that is said of it."""
        number = next(self._numbers)
        self._listeners[number] = listener
        return number

    def tell(self, meta: dict[str, Any], blob: bytes = b"") -> None:
        """Say something about a program."""
        self._link.send(meta, blob)

    def forget(self, number: int) -> None:
        """Nobody listens to that program anymore."""
        self._listeners.pop(number, None)

    def wait(self, ready: Callable[[], bool], deadline: float) -> bool:
        """Listen until something is the case; False at the deadline, or when the container is gone."""
        return self._link.wait(ready, deadline)

    # Requests

    def ask(
        self, op: str, blobs: Iterable[bytes] | None = None, *, timeout_s: float = _ANSWER_S, **meta: Any
    ) -> Answer:
        """Ask the first process for something, and wait for the whole answer.

        Args:
            op: what.
            blobs: sent with it, one message each; None where the request is one message without any.
            timeout_s: for all of it.
            meta: its settings.

        Raises:
            ValueError: as the first process says.
            ActionError: likewise: what programs left is in the way.
            SandboxError: it failed, does not answer, or is gone.
        """
        number = next(self._numbers)
        answer = self._answers[number] = Answer()
        meta = {"op": op, "ask": number, **meta}
        try:
            if blobs is None:
                self._link.send(meta)
            else:
                for blob in blobs:
                    self._link.send({**meta, "ends": False}, blob)
                self._link.send({**meta, "ends": True})
            if not self._link.wait(lambda: answer.is_whole, time.monotonic() + timeout_s):
                self.raise_lost(f"has not answered ({op}) for {timeout_s:g} s")
        finally:
            del self._answers[number]
        last = answer.pieces[-1][0]
        if "error" in last:
            raise _ERRORS[last["error"]](last["text"])
        return answer

    def raise_lost(self, what: str) -> NoReturn:
        """Say that it is gone, or else what it did not do."""
        if self.is_alive:
            raise SandboxError(f"the container {self.name[:12]} {what}; it is removed with its lease")
        words = self._link.last_words
        raise SandboxError(
            f"the container {self.name[:12]}, or the docker daemon, died under a program or a request, whose result is "
            f"lost{'. It said: ' + words if words else ''}"
        )

    def ran_out_of_memory(self) -> bool:
        """Whether the daemon has seen memory run out in it, now that it has ended.

        Raises:
            SandboxError: the daemon does not answer.
        """
        with self._daemon.client(_REMOVAL_S) as client:
            wanted = {"container": [self.name], "event": ["oom"]}
            since, until = int(self.made_at) - 1, int(time.time()) + 1
            return any(True for _ in client.events(since=since, until=until, filters=wanted, decode=True))

    # Its end

    def close(self) -> None:
        """Hang up, and wait until it is removed. Idempotent.

        Raises:
            SandboxError: it cannot be removed.
        """
        self._link.close()
        self._remove()

    def _remove(self) -> None:
        if self._is_removed:
            return
        self._is_removed = True
        import docker  # type: ignore[import-untyped]

        with self._daemon.client(_REMOVAL_S) as client, contextlib.suppress(docker.errors.NotFound):
            try:
                client.remove_container(self.name, force=True, v=True)
            except docker.errors.APIError as error:
                if error.status_code != 409:  # it is being removed: by itself, since it has ended
                    raise
                client.wait(self.name, condition="removed")

    def forsake(self) -> None:
        """Close our copy of the line after a fork: the container belongs to the parent process."""
        self._link.forsake()


def _description(client: Any, spec: SandboxSpec, owner: str, read_only: Mapping[str, str]) -> dict[str, Any]:
    """What docker is asked for."""
    size = f"size={spec.disk_mb}m,nr_inodes={spec.n_inodes + 1},uid={_NOBODY},gid={_NOBODY},mode=0700"
    is_warm = spec.warm_imports or spec.warm_modules  # then the limit comes when it is known what that takes
    memory = _memory_bytes(spec, _WARM_MB if is_warm else _OWN_MB)
    host = client.create_host_config(
        auto_remove=True,
        network_mode="none",
        cap_drop=["ALL"],
        cap_add=["KILL", "SETUID", "SETGID", "SETPCAP"],  # for the first process; programs have none
        security_opt=["no-new-privileges"],
        pids_limit=spec.n_processes + 2,  # the first process and its zygote
        mem_limit=memory,
        memswap_limit=memory,
        nano_cpus=10**9,
        read_only=True,
        tmpfs={"/workspace": f"rw,nosuid,nodev,exec,{size}"},
        ipc_mode="none",
        init=False,  # the first process waits for the orphans itself
        log_config={"Type": "none"},
        mounts=[_shown(path, folder) for path, folder in read_only.items()],
    )
    return {
        "image": spec.image,
        "entrypoint": list(COMMAND),
        "command": [],
        "user": "0:0",
        "working_dir": "/",
        "environment": {**ENVIRON, **dict(spec.env)},
        "hostname": "sandbox",
        "stdin_open": True,
        "labels": {LABEL: owner},
        "healthcheck": {"test": ["NONE"]},
        "host_config": host,
    }


def _memory_bytes(spec: SandboxSpec, own_mb: int) -> int:
    """What a container may take: the workspace lies in memory too."""
    return (spec.memory_mb + spec.disk_mb + own_mb) << 20


def _shown(path: str, folder: str) -> dict[str, Any]:
    """A folder of the host, without what is mounted below it: that might be writable."""
    options = {"NonRecursive": True, "Propagation": "rprivate"}
    return {"Target": path, "Source": folder, "Type": "bind", "ReadOnly": True, "BindOptions": options}


def chunks_of(data: bytes) -> Iterable[bytes]:
    """Cut bytes into what one message carries."""
    return (data[at : at + CHUNK_BYTES] for at in range(0, len(data), CHUNK_BYTES))
