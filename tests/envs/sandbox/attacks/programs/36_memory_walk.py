"""Look for what others left: in objects, in frames, in the memory of this very process."""

import gc
import re
import sys

PATTERN = b"secret-" + b"([0-9a-f]{16})"
found = set()


def look(text):
    found.update(re.findall(PATTERN, text))


frame = sys._getframe()
while frame:
    look(repr(frame.f_locals).encode("utf-8", "replace"))
    frame = frame.f_back
for thing in gc.get_objects():
    if isinstance(thing, (dict, list, tuple)):
        for part in thing.values() if isinstance(thing, dict) else thing:
            if isinstance(part, (str, bytes)):
                look(part if isinstance(part, bytes) else part.encode("utf-8", "replace"))
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", buffering=0) as memory:
    for line in maps:
        span, mode = line.split()[:2]
        low, high = (int(end, 16) for end in span.split("-"))
        if mode.startswith("rw") and high - low < 64 << 20:
            memory.seek(low)
            look(memory.read(high - low))
if found:
    free("somebody's secret")
