"""Leave a grandchild behind that holds the pipes."""

import signal
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        os.write(1, b"daemon\n")
        time.sleep(60)
    os._exit(0)
os.wait()
time.sleep(0.05)
os._exit(4)
