"""workgym: Gymnasium environments in which language-model agents learn to work.

Importing it registers the ids, so that `gym.make("Coding-v0")` works; `gym.make("workgym:Coding-v0")` needs no import.
"""

from __future__ import annotations

from typing import Final

from workgym.envs.registration import register_environments

__all__ = ["__version__"]

__version__: Final = "0.1.0"

register_environments()
