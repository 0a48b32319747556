"""Our own speed: one script a measure, each prints JSON lines."""
