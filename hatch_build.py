"""Refuse to build from a tree whose links are gone: the wheel would be empty and say nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FLOORS = ("tasks", "envs", "agents", "training", "benchmarks")


class CheckLinks(BuildHookInterface):  # type: ignore[type-arg]
    """Check, before anything is built, that every floor is reachable below src/workgym."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        package = Path(self.root, "src", "workgym")
        lost = [name for name in FLOORS if not (package / name / "__init__.py").is_file()]
        if lost:
            raise SystemExit(
                f"cannot build workgym: src/workgym/{lost[0]} is not a link to ../../{lost[0]}"
                f" ({len(lost)} of {len(FLOORS)} links are missing or became files).\n"
                "This clone or copy was made without symbolic links. Clone again where links are allowed:\n"
                "    git clone -c core.symlinks=true URL    (on Windows: inside WSL, or with Developer Mode on)\n"
                "or mend this one:\n"
                "    git config core.symlinks true && git checkout -- src/workgym"
            )
