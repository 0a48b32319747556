"""Floor 2: who acts. Policies, the episode loop, trajectories and the archive."""
