"""Set the clock; then lie to oneself about the time, and burn."""

import ctypes
import time

CLOCK_REALTIME = 0
SYS_CLOCK_SETTIME, SYS_SETTIMEOFDAY = {"x86_64": (227, 164), "aarch64": (112, 170)}[os.uname().machine]
never = ctypes.byref((ctypes.c_long * 2)(0, -1))  # no time at all: a kernel that would set it refuses for that alone
attempt("the clock", lambda: call("syscall", SYS_CLOCK_SETTIME, CLOCK_REALTIME, never))
attempt("the old clock", lambda: call("syscall", SYS_SETTIMEOFDAY, never, None))
clock = time.process_time
for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
    setattr(time, name, lambda: 0.0)
while clock() < BOUND * 0.1:
    pass
