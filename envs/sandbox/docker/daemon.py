"""The docker daemon: find it, ask it, and say what mends what is missing."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from workgym.tasks.errors import IsolationUnavailable, SandboxError
from workgym.tasks.extras import install_command

__all__ = ["Daemon", "find_daemon", "require_image"]

_DEFAULT = "unix:///var/run/docker.sock"
_REACH_S = 10.0
_START = "start it again (`systemctl start docker`)"
_SPOKEN = ("unix://", "tcp://", "http://", "http+unix://")
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}


@dataclass(frozen=True)
class Daemon:
    """A docker daemon that answers.

    Attributes:
        address: as DOCKER_HOST has it; "" for docker's default.
        api: version of its interface.
        machine: its processor, as `platform.machine()` says it.
    """

    address: str
    api: str
    machine: str

    @contextlib.contextmanager
    def client(self, timeout_s: float = 60.0) -> Iterator[Any]:
        """A `docker.APIClient` for a few calls. Each thread takes its own.

        Raises:
            SandboxError: the daemon refused, did not answer within `timeout_s`, or is gone.
        """
        import docker  # type: ignore[import-untyped]
        import requests

        _reach(self.address)
        client = docker.APIClient(base_url=self.address or None, version=self.api, timeout=timeout_s)
        try:
            yield client
        except docker.errors.DockerException as error:
            raise SandboxError(f"docker refused: {getattr(error, 'explanation', None) or error}") from error
        except (requests.RequestException, OSError) as error:
            raise SandboxError(
                f"the docker daemon ({self.address or 'default socket'}) is gone or does not answer: {error}; {_START}"
            ) from error
        finally:
            client.close()


def find_daemon() -> Daemon:
    """Ask the daemon that DOCKER_HOST names, or docker's default one.

    Raises:
        IsolationUnavailable: the package `docker` is missing, or no daemon answers.
    """
    try:
        import docker
    except ImportError as error:
        raise IsolationUnavailable(
            f"sandbox backend 'docker' needs the package docker: {install_command('docker')}"
        ) from error
    settings = _settings()
    address = settings.get("base_url") or ""
    if settings.get("tls") or not (address or "unix://").startswith(_SPOKEN):
        raise IsolationUnavailable(
            "sandbox backend 'docker' reaches a daemon over a Unix socket or plain tcp, not at "
            f"{address or 'a TLS port'}; forward its socket (`ssh -L /tmp/docker.sock:/var/run/docker.sock HOST`), "
            "unset DOCKER_TLS_VERIFY and set DOCKER_HOST=unix:///tmp/docker.sock"
        )
    try:
        _reach(address)
        with contextlib.closing(docker.APIClient(**settings, version="auto", timeout=20)) as client:
            said = client.info()
            if said["OSType"] != "linux":
                raise IsolationUnavailable(f"sandbox backend 'docker' needs containers of Linux, not {said['OSType']}")
            machine = said["Architecture"]
            return Daemon(address, client.api_version, _MACHINES.get(machine, machine))
    except (docker.errors.DockerException, SandboxError, OSError) as error:
        if isinstance(error, IsolationUnavailable):
            raise
        cause = str(error).partition(";")[0]
        raise IsolationUnavailable(
            f"no docker daemon answers at {address or 'its default socket'}: {cause}; start it "
            "(`systemctl start docker` or `service docker start`), let you use it (`usermod -aG docker USER`), or "
            "set DOCKER_HOST (unix:///path/of/docker.sock)"
        ) from error


def require_image(daemon: Daemon, image: str) -> None:
    """Go on only where an image can serve.

    Raises:
        IsolationUnavailable: the daemon has no such image, or it would give programs a place to write without limit.
        SandboxError: the daemon does not answer.
    """
    import docker

    with daemon.client() as client:
        try:
            config = client.inspect_image(image)["Config"] or {}
        except docker.errors.ImageNotFound as error:
            raise IsolationUnavailable(
                f"docker has no image {image!r}: on Debian make workgym/py:1 with "
                "`python -m workgym.envs.sandbox.docker.image`, or pull one with python3 in it "
                "(`docker pull python:3.12-slim`) and name it in SandboxSpec.image"
            ) from error
    if config.get("Volumes"):
        raise IsolationUnavailable(
            f"image {image!r} declares volumes ({', '.join(config['Volumes'])}), which no limit bounds; "
            "name one without in SandboxSpec.image"
        )


def _reach(address: str) -> None:
    """See that somebody listens, before docker's client tries: that leaves a socket open where nobody does.

    Raises:
        SandboxError: nobody does.
    """
    kind, _, path = (address or _DEFAULT).removeprefix("http+").partition("://")
    if kind != "unix":
        return
    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(_REACH_S)
            line.connect(path)
    except OSError as error:
        raise SandboxError(f"the docker daemon at {path} does not answer: {error}; {_START}") from error


def _settings() -> dict[str, Any]:
    import docker

    return dict(docker.utils.kwargs_from_env())
