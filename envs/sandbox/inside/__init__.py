"""What runs inside a sandbox, sent there as source: the standard library, and no import of ours but of each other."""
