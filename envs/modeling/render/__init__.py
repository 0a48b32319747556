"""Pictures of parts, for agents to look at. No reward depends on them."""
