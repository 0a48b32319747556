"""Descriptors without end, and then the highest number there is."""

import resource

try:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(hard, 4096), max(hard, 4096)))
except ValueError:
    pass
for n in range(BOUND):
    os.dup(1)
    if n == 100:
        free("more descriptors")
