"""Lets the tests of this folder import each other, and what those of the agents share: `episodes`, `toy_domain`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "agents"))
sys.path.insert(0, str(Path(__file__).parent))
