"""What the modeling domain asks: parts to make, to edit and to repair."""
