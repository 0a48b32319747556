"""Floor 4: what an agent can do, and at what cost. Suites, evaluation reports and our own speed."""
