"""Kill everybody, the first process, the parent, a process of the host; by number and by handle."""

import signal

victim = int(os.environ["VICTIM"])
attempt("a process of the host", lambda: os.kill(victim, 0))
attempt("a process of the host by handle", lambda: signal.pidfd_send_signal(os.pidfd_open(victim), 0))
for pid in (1, os.getppid()):
    if pid not in (0, os.getpid()):
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
try:
    os.kill(victim, signal.SIGKILL)
    os.kill(-1, signal.SIGKILL)
except OSError:
    pass
