"""Now and then a byte, so that it never looks idle."""

import time

for _ in range(BOUND):
    os.write(1, b".")
    time.sleep(0.01)
free("deadline")
