"""Ignore every signal that can be."""

import signal

for number in sorted(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}):
    signal.signal(number, signal.SIG_IGN)
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGXCPU, signal.SIGALRM):
    os.kill(os.getpid(), number)
linger()
