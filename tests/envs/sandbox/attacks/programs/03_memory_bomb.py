"""Memory that is written to, in one process and then in many at once."""

import time


def eat(n_mb):
    return [b"x" * (1 << 20) for _ in range(n_mb)]


children = []
for _ in range(min(BOUND, 4)):
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.close(reader)
        hoard = eat(36)
        os.write(writer, b"full")
        time.sleep(60)
    os.close(writer)
    children.append(reader)
if [os.read(reader, 4) for reader in children] == [b"full"] * 4:
    free("more memory in four processes together")
hoard = []
for n in range(BOUND):
    hoard += eat(1)
    if n == 130:
        free("more memory in one process")
