"""One large map, filled by the kernel."""

import mmap

MAP_POPULATE = 0x8000
n_mb = min(BOUND, 1024)
mmap.mmap(-1, n_mb << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_POPULATE)
free("a large map")
