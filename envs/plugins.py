"""Domains that other installed packages bring: entry points of the group `workgym.domains`.

    [project.entry-points."workgym.domains"]
    Units-v0 = "units_domain:make"

The name is the id, the value says where its `make` is. Both are read from the package's metadata; nothing of it is
imported before one of its environments is made. A package that brings something unreadable is named and left out.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from typing import Final

__all__ = ["GROUP", "Plugin", "installed_plugins"]

GROUP: Final = "workgym.domains"

_ID: Final = re.compile(r"(?:[\w:.-]+/)?[\w:.-]+-v[0-9]+")
_ENTRY_POINT: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Plugin:
    """A domain that an installed package brings.

    Attributes:
        env_id: the id to register.
        entry_point: "package.module:make".
        distribution: the package that brings it, as pip names it.
    """

    env_id: str
    entry_point: str
    distribution: str


def installed_plugins() -> list[Plugin]:
    """The domains of all installed packages, by package and id; a warning for each that cannot be read."""
    found: list[Plugin] = []
    seen: set[str] = set()
    for distribution in distributions():
        try:
            text = distribution.read_text("entry_points.txt") or ""
            if GROUP not in text:
                continue
            name = _name_of(distribution)
            plain = re.sub(r"[-_.]+", "-", name).lower()
            if plain not in seen:  # what comes first on sys.path is what would be imported
                seen.add(plain)
                found += _read(distribution, name)
        except Exception as error:  # noqa: BLE001 - one package that is broken must not break the others
            _warn(_name_of(distribution), f"its entry points cannot be read: {type(error).__name__}: {error}")
    return sorted(found, key=lambda plugin: (plugin.distribution, plugin.env_id))


def _read(distribution: Distribution, name: str) -> Iterator[Plugin]:
    for entry in distribution.entry_points.select(group=GROUP):
        if not _ID.fullmatch(entry.name):
            _warn(name, f"{entry.name!r} is no id. Name it as in: Units-v0 = {entry.value!r}")
        elif not _ENTRY_POINT.fullmatch(entry.value):
            _warn(name, f"{entry.name} = {entry.value!r} leads nowhere. Write it as in: {entry.name} = 'module:make'")
        else:
            yield Plugin(entry.name, entry.value, name)


def _name_of(distribution: Distribution) -> str:
    """The name in its metadata; where that cannot be read, where its files are."""
    try:
        name = distribution.metadata["Name"]
    except Exception:  # noqa: BLE001 - whatever is broken in it, it must be called something
        name = None
    return name or str(distribution.locate_file(""))


def _warn(distribution: str, words: str) -> None:
    warnings.warn(f"workgym leaves out a domain of the installed package {distribution}: {words}", stacklevel=2)
