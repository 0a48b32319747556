"""Floor 3: how it is learned. Batches, losses, stages."""
