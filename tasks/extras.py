"""How a missing optional part is installed."""

from __future__ import annotations

__all__ = ["install_command"]


def install_command(extra: str) -> str:
    """The command that installs an extra.

    Args:
        extra: its name in pyproject.toml, such as "train".
    """
    return f"pip install 'workgym[{extra}]' (in a clone: pip install '.[{extra}]')"
