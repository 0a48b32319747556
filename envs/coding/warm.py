"""Modules that the interpreters of the sandboxes load before any task is known: the drivers and the codec."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

__all__ = ["WARM_MODULES"]

_PACKAGE: Final = "workgym.envs.coding"
_GUESTS: Final = ("codec", "child", "split_child")  # in the order in which they import one another


def _source(name: str) -> str:
    """The text of one module; inside the sandbox `workgym.envs.coding.codec` is called `workgym_codec`."""
    text = files(_PACKAGE).joinpath(f"{name}.py").read_text(encoding="utf-8")
    for guest in _GUESTS:
        text = text.replace(f"from {_PACKAGE}.{guest} import", f"from workgym_{guest} import")
    return text


WARM_MODULES: Final[tuple[tuple[str, str], ...]] = tuple((f"workgym_{name}", _source(name)) for name in _GUESTS)
"""For `SandboxSpec(warm_modules=...)`: (name, source), nothing of any task."""
