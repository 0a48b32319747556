"""Close all that it could be watched by, and burn."""

import time

for number in range(3):
    os.close(number)
while time.process_time() < BOUND * 0.1:
    pass
