"""What every attack begins with.

A wall that was met and did not hold is "free", one that held is "held". What only counts needs a bound where no wall
stands: a free process finds it in its environment, a program in a sandbox finds none.
"""

import errno
import os

BOUND = int(os.environ.get("WORKGYM_BOUND", 10**9))
REFUSED = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH)


def say(kind, what):
    os.write(1, f"{kind}: {what}\n".encode())


def free(what):
    say("free", what)


def attempt(what, action):
    """Say whether an action succeeds. A False of it is a failure too."""
    try:
        say("held" if action() is False else "free", what)
    except (OSError, RuntimeError, ValueError, MemoryError) as error:
        say("held", f"{what} ({error})")


def linger():
    """Sleep beyond any deadline."""
    import time

    for _ in range(BOUND):
        time.sleep(0.01)
    free("deadline")


def call(name, *arguments):
    """Call a function of the C library. A kernel that only dislikes the arguments was reached."""
    import ctypes

    ctypes.set_errno(0)
    answer = getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments)
    if answer == -1 and ctypes.get_errno() in REFUSED:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return answer


os.write(2, f"home {os.readlink('/proc/self/ns/pid')}\n".encode())
