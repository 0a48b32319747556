"""Stop, as a first process cannot, and as a second can."""

import signal

if os.fork() == 0:
    os.kill(os.getpid(), signal.SIGSTOP)
os.kill(os.getpid(), signal.SIGSTOP)
linger()
