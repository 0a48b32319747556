"""Read, also behind the end."""

import time

began = time.process_time()
while time.process_time() - began < BOUND * 0.1:
    os.read(0, 1)
free("limit")
