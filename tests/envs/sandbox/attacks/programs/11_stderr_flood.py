"""A gigabyte of stderr."""

for _ in range(min(BOUND, 1024) * 16):
    os.write(2, b"x" * (64 << 10))
