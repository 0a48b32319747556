"""Where untrusted code runs: one protocol, several backends."""
