"""A gigabyte of stdout."""

for _ in range(min(BOUND, 1024) * 16):
    os.write(1, b"x" * (64 << 10))
