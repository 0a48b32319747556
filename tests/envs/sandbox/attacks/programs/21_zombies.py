"""Children that end and are never waited for."""

for n in range(BOUND):
    if os.fork() == 0:
        os._exit(0)
    if n == 20:
        free("20 zombies")
