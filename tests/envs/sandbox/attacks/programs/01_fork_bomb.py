"""Every process forks as often as it can."""

for _ in range(BOUND):
    try:
        os.fork()
    except OSError:
        pass
linger()
