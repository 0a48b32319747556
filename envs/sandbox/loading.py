"""Modules of source text for interpreters that see no file of ours."""

from __future__ import annotations

from typing import Final

__all__ = ["LOADER"]

LOADER: Final = '''\
import sys, types
def load(modules):
    """Make modules of (name, source), with empty packages above them; the last one is returned."""
    for name, source in modules:
        parts = name.split(".")
        for depth in range(1, len(parts)):
            parent = ".".join(parts[:depth])
            if parent not in sys.modules:
                sys.modules[parent] = package = types.ModuleType(parent)
                package.__path__ = []
                if depth > 1:
                    setattr(sys.modules[".".join(parts[: depth - 1])], parts[depth - 1], package)
        module = sys.modules[name] = types.ModuleType(name)
        module.__file__ = f"<{name}>"
        exec(compile(source, f"<{name}>", "exec"), module.__dict__)
        if len(parts) > 1:
            setattr(sys.modules[".".join(parts[:-1])], parts[-1], module)
    return module
'''
"""Source to begin an interpreter's own with: it defines `load`."""
