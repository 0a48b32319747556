"""Leave things behind that are no files, under names that a reader may ask for."""

canary = os.environ["CANARY"]
os.symlink(canary, "link")
os.symlink("../" * 12 + canary[1:], "upward")
os.symlink(os.path.dirname(canary), "folder")
os.symlink("loop", "loop")
with open("one", "w") as file:
    file.write("mine")
os.link("one", "two")
os.mkfifo("fifo")
with open("sparse", "wb") as file:
    file.truncate(3 << 20)
os.mkdir("real")
os.chmod("real", 0)
attempt("a hard link to a file of the host", lambda: os.link(canary, "hard"))
attempt("a device", lambda: os.mknod("zero", 0o20666, os.makedev(1, 5)))
