"""Keys, passwords, tokens in the environment, the socket of a daemon."""

import re
import socket

attempt("a key", lambda: open(os.environ["KEY"]).read())
attempt("a file that everybody may read", lambda: open(os.environ["CANARY"]).read())
attempt("a file that everybody may write", lambda: open(os.environ["CANARY"], "a").close())
attempt("the passwords", lambda: open("/etc/shadow").read())
attempt("a token", lambda: re.search("secret-[0-9a-f]{16}", repr(os.environ)) is not None)
attempt("a daemon", lambda: socket.socket(socket.AF_UNIX).connect(os.environ["UNIX"]))
for path in (
    "/var/run/docker.sock",
    "/run/docker.sock",
    "/run/containerd/containerd.sock",
    os.path.expanduser("~/.ssh"),
):
    if BOUND > 1000 and os.path.exists(path):
        free(path)
