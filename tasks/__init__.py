"""Floor 0: what is asked. Task records, their generators by level and importers of public files."""
