"""A file that is larger than the disk and has no content."""

with open("sparse", "wb") as file:
    file.truncate(min(BOUND << 20, 1 << 40))
free("a large file")
