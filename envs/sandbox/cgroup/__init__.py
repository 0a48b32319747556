"""Control groups, versions 1 and 2 and both at once: limits, counters, freezing, killing."""
