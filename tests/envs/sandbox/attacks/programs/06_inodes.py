"""Empty files without end."""

for n in range(BOUND):
    with open(f"f{n}", "w"):
        pass
    if n == 100:
        free("more files")
