"""What lies about on the host, for an attack to find."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Host"]


@dataclass(frozen=True)
class Host:
    """A secret in a file, in the environment and in a process; sockets; and a process to kill.

    Attributes:
        secret: what no program in a sandbox may learn.
        folder: where the files lie.
        facts: the environment that tells a program where all of it is.
        listeners: sockets that nobody may reach.
        victim: a process that nobody may touch.
    """

    secret: str
    folder: Path
    facts: dict[str, str]
    listeners: dict[str, socket.socket]
    victim: subprocess.Popen[bytes]

    @classmethod
    def built(cls, folder: Path, stack: contextlib.ExitStack) -> Host:
        """Lay it all out; the stack takes it away."""
        secret = f"secret-{secrets.token_hex(8)}"
        folder.chmod(0o755)
        meeting = f"workgym-{secrets.token_hex(8)}"
        key = folder / "id_rsa"
        key.write_text(secret)
        key.chmod(0o600)
        canary = folder / "canary"
        canary.write_text(secret)
        canary.chmod(0o666)
        (folder / "repository" / "objects").mkdir(parents=True)
        (folder / "repository" / "objects" / "answer").write_text(secret)
        os.environ["WORKGYM_TEST_TOKEN"] = secret
        stack.callback(os.environ.pop, "WORKGYM_TEST_TOKEN")
        listeners = _listen(folder, meeting, stack)
        victim = stack.enter_context(subprocess.Popen(["sleep", "3600"], env={"SECRET": secret}))
        stack.callback(victim.kill)
        facts = {
            "CANARY": str(canary),
            "KEY": str(key),
            "REPOSITORY": str(folder / "repository"),
            "VICTIM": str(victim.pid),
            "PORT": str(listeners["tcp"].getsockname()[1]),
            "UDP_PORT": str(listeners["udp"].getsockname()[1]),
            "UNIX": str(folder / "docker.sock"),
            "ABSTRACT": meeting,
        }
        return cls(secret, folder, facts, listeners, victim)

    def assert_untouched(self) -> None:
        """Its files are as they were and no others beside them, its process lives, nobody called."""
        assert {path.name for path in self.folder.iterdir()} == {"canary", "docker.sock", "id_rsa", "repository"}
        assert (self.folder / "canary").read_text() == (self.folder / "id_rsa").read_text() == self.secret
        assert self.victim.poll() is None

    def callers(self) -> set[str]:
        """Which of the listeners somebody has called since they were last asked."""
        found = set()
        for name, listener in self.listeners.items():
            with contextlib.suppress(BlockingIOError):
                while True:
                    if name == "udp":
                        listener.recv(100)
                    else:
                        listener.accept()[0].close()
                    found.add(name)
        return found


def _listen(folder: Path, meeting: str, stack: contextlib.ExitStack) -> dict[str, socket.socket]:
    tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    udp.bind(("127.0.0.1", 0))
    unix = stack.enter_context(socket.socket(socket.AF_UNIX))
    unix.bind(str(folder / "docker.sock"))
    (folder / "docker.sock").chmod(0o666)
    abstract = stack.enter_context(socket.socket(socket.AF_UNIX))
    abstract.bind("\0" + meeting)
    for listener in (unix, abstract):
        listener.listen(8)
    listeners = {"tcp": tcp, "udp": udp, "unix": unix, "abstract": abstract}
    for listener in listeners.values():
        listener.setblocking(False)
    return listeners
