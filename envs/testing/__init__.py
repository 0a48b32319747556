"""What a domain's author tests it with: `check_domain`."""

from workgym.envs.testing.conformance import CHECKS, check_domain

__all__ = ["CHECKS", "check_domain"]
