"""The stages of learning: one file each, that reads top to bottom."""
