"""Files until nothing fits, in every place that can be written to."""

places = ["."] if BOUND < 1000 else [".", "/tmp", "/var/tmp", "/dev/shm", "/dev", "/run", "/run/lock", "/etc", "/"]
n_written = 0


def fill(place):
    global n_written
    for n in range(min(BOUND, 16)):
        with open(f"{place}/fill{n}", "wb", buffering=0) as file:
            n_written += file.write(bytes(1 << 20))


full = None
for place in places:
    try:
        fill(place)
    except OSError as error:
        full = error if error.errno == errno.ENOSPC else full
if n_written >= 6 << 20:
    free("more disk")
if full:
    raise full
