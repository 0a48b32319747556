"""Files until nothing fits, in every place that can be written to."""

places = ["."] if BOUND < 1000 else [".", "/tmp", "/var/tmp", "/dev/shm", "/dev", "/run", "/run/lock", "/etc", "/"]
sizes = {}  # by file: some of these places are one


def fill(place):
    for n in range(min(BOUND, 16)):
        path = f"{place}/fill-{place.replace('/', '-')}-{n}"
        with open(path, "wb", buffering=0) as file:
            try:
                file.write(bytes(1 << 20))
            finally:
                seen = os.fstat(file.fileno())
                sizes[seen.st_dev, seen.st_ino] = seen.st_size


full = None
for place in places:
    try:
        fill(place)
    except OSError as error:
        full = error if error.errno == errno.ENOSPC else full
if sum(sizes.values()) >= 6 << 20:
    free("more disk")
if full:
    raise full
