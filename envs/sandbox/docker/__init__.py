"""Sandboxes in containers of docker, one a lease."""

__all__: list[str] = []
