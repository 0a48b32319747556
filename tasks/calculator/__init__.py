"""What the calculator domain asks: sums to be worked out one operation at a time."""
