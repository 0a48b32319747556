"""A process that has never seen a domain makes it and hashes its tasks: `python -m workgym.envs.testing.fresh`.

It reads one JSON object, `{"module", "attribute", "file", "kwargs", "task_ids"}`, and prints task id -> content hash.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from types import ModuleType
from typing import Any

__all__ = ["main"]


def main() -> None:
    """Answer the request on standard input."""
    asked = json.load(sys.stdin)
    make = getattr(_module(asked["module"], asked["file"]), asked["attribute"])
    env: Any = make(**asked["kwargs"])
    source = env.unwrapped.domain.source
    print(json.dumps({task_id: source.load(task_id).content_hash() for task_id in asked["task_ids"]}))


def _module(name: str, file: str) -> ModuleType:
    """Import a module by its name; one that no name leads to, such as a test's or a script, from its file."""
    if name != "__main__":
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            if not file:
                raise
    spec = importlib.util.spec_from_file_location("module_under_test", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
