"""Threads without end."""

import threading
import time

threading.stack_size(64 << 10)
for n in range(BOUND):
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    if n == 20:
        free("20 threads")
