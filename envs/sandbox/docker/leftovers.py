"""Containers that a dead process has left."""

from __future__ import annotations

import contextlib

from workgym.tasks.errors import SandboxError

__all__ = ["remove_containers"]


def remove_containers(label: str, host: str) -> list[str]:
    """Remove the containers that carry a label, and no others.

    Args:
        label: NAME=VALUE, as a dead process's ledger has it: it names that process and no other.
        host: the daemon's address; "" for docker's default.

    Returns:
        The ids of those that were removed.

    Raises:
        ValueError: a label without a value would find the containers of all processes.
        SandboxError: the package `docker` is missing, or the daemon does not answer.
    """
    name, _, value = label.partition("=")
    if not name or not value:
        raise ValueError(f"a label is NAME=VALUE, not {label!r}")
    try:
        import docker  # type: ignore[import-untyped]
        import requests
    except ImportError as error:
        raise SandboxError(f"containers with label {label} cannot be removed without the package docker") from error
    removed = []
    try:
        with contextlib.closing(docker.APIClient(base_url=host or None, version="auto", timeout=20)) as client:
            for container in client.containers(all=True, filters={"label": label}):
                try:
                    client.remove_container(container["Id"], force=True, v=True)
                except docker.errors.NotFound:
                    continue
                except docker.errors.APIError as error:
                    if error.status_code != 409:  # it is being removed by itself
                        raise
                removed.append(container["Id"])
    except (docker.errors.DockerException, requests.RequestException, OSError) as error:
        raise SandboxError(f"the docker daemon at {host or 'its default socket'} does not answer: {error}") from error
    return removed
