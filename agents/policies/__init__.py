"""Policies: who plays an episode."""
