"""Modules that a user names: imported, or refused in one line."""

from __future__ import annotations

import importlib
from types import ModuleType

from workgym.tasks.errors import WorkgymError

__all__ = ["import_for"]


def import_for(asker: str, module_name: str, kind: type[WorkgymError]) -> ModuleType:
    """Import a module that somebody names.

    Args:
        asker: what names it, for the message: "--agent module:factory".
        module_name: dotted.
        kind: of the error.

    Raises:
        WorkgymError: of that kind: there is no such module, or its import failed. A module that calls `sys.exit()` has
            failed too: it would else end the program as if all were done.
    """
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and (module_name == error.name or module_name.startswith(f"{error.name}.")):
            raise kind(
                f"{asker}: no module {module_name!r} in the current folder or among what is installed"
            ) from error
        raise kind(f"{asker}: importing {module_name} needs {error.name}, which is missing") from error
    except (Exception, SystemExit) as error:
        raise kind(f"{asker}: importing {module_name} failed: {type(error).__name__}: {error}") from error
