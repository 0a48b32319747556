"""Lets the tests of this folder import what they share with those of the agents: `episodes`, `toy_domain`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "agents"))
