"""workgym: Gymnasium environments in which language-model agents learn to work."""
