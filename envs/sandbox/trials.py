"""Hostile programs with which a backend is tried. What they say is what they reached."""

from __future__ import annotations

__all__ = ["BREAKOUT", "CLOCK", "GREED", "GREED_TOGETHER", "HOME", "SURVIVOR"]

# Each line tries to break out; what comes back is what happened. {canary}, {port} and {parent} belong to the host.
BREAKOUT = """
import ctypes, errno, json, os, signal, socket, sys, time
seen = {{}}

def succeeds(attempt):
    try:
        return attempt() is not False
    except BaseException:
        return False

def read(path):
    return lambda: open(path).read() != ""

def connect():
    socket.create_connection(("127.0.0.1", {port}), timeout=1).close()

def fork_many():
    n = 0
    try:
        while n < 64:
            pid = os.fork()
            if pid == 0:
                time.sleep(60)
                os._exit(0)
            n += 1
    except OSError:
        pass
    return n

def write_much():
    for n in range(16):
        with open(f"much{{n}}", "wb", buffering=0) as file:
            file.write(bytes(1 << 20))

seen["file"] = succeeds(read({canary!r})) or succeeds(read("/proc/1/root" + {canary!r}))
seen["network"] = succeeds(connect)
seen["net"] = os.readlink("/proc/self/ns/net") if os.path.exists("/proc/self/ns/net") else ""
seen["pids"] = [int(name) for name in os.listdir("/proc") if name.isdigit()] if os.path.isdir("/proc") else []
seen["home"] = os.readlink("/proc/self/ns/pid") if os.path.exists("/proc/self/ns/pid") else ""
seen["signal"] = succeeds(lambda: os.kill({parent}, 0)) and {parent} != os.getpid()
seen["disk"] = succeeds(write_much)
ctypes.set_errno(0)
seen["unshare"] = ctypes.CDLL(None, use_errno=True).unshare(0x10000000) == 0 or ctypes.get_errno() != errno.EPERM
seen["filter"] = "Seccomp:\\t2" in open("/proc/self/status").read() if os.path.exists("/proc/self/status") else True
seen["forks"] = fork_many()
os.write(3, json.dumps(seen).encode())
"""

# A daemon, out of reach of process groups and deaf to signals.
SURVIVOR = """
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    if os.fork() == 0:
        os.write(3, os.readlink("/proc/self/ns/pid").encode() + b"\\n")
        time.sleep(120)
    os._exit(0)
time.sleep(120)
"""

HOME = """
import os
os.write(3, os.readlink("/proc/self/ns/pid").encode())
"""

GREED = """
block = b"x" * (256 << 20)
"""

# Four processes hold together what each may hold alone, and say at the end that they all did.
GREED_TOGETHER = """
import os
ready, told = os.pipe()
go_on, let = os.pipe()
for _ in range(4):
    if os.fork() == 0:
        os.close(let)
        block = b"x" * (40 << 20)
        os.write(told, b"x")
        os.close(told)
        os.read(go_on, 1)
        os._exit(0)
os.close(told)
n = 0
while n < 4 and os.read(ready, 1):
    n += 1
os.close(let)
os._exit(0 if n == 4 else 1)
"""

CLOCK = """
import os, time
while True:
    os.write(3, b"tick\\n")
    time.sleep(0.01)
"""
