"""Floor 1: where the work is done, and who judges it. Environments, sandboxes, tools and verifiers."""
