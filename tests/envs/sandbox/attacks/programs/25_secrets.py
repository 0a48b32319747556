"""Keys, passwords, tokens in the environment, the socket of a daemon."""

import re
import socket


def elsewhere():
    """The host's root may have been forgotten somewhere."""
    with open("/proc/self/mountinfo") as file:
        places = {line.split()[4] for line in file} | {f"/{name}" for name in os.listdir("/")} | {"/proc/self/root"}
    return any(os.path.exists(place + os.environ["CANARY"]) for place in places - {"/"})


attempt("a key", lambda: open(os.environ["KEY"]).read())
attempt("a file that everybody may read", lambda: open(os.environ["CANARY"]).read())
attempt("a file that everybody may write", lambda: open(os.environ["CANARY"], "a").close())
attempt("the host's root elsewhere", elsewhere)
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
