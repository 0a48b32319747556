"""Engines: where tokens are sampled from a model."""
