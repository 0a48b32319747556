"""Losses: pure functions on the predicted tokens, which return sums."""
