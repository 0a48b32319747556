"""Through /proc and /sys: the root and the environment of others, and the switches of the kernel."""

import glob
import re

canary, victim = os.environ["CANARY"], os.environ["VICTIM"]
SWITCHES = (
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/hostname",
    "/proc/sysrq-trigger",
    "/sys/kernel/uevent_helper",
)


def root_of_another():
    places = [f"/proc/{pid}/root{canary}" for pid in (1, "self", victim)]
    places += [f"{folder}{canary}" for folder in glob.glob("/proc/*/root") + glob.glob("/proc/*/cwd")]
    return any(open(place).read() for place in places if os.path.exists(place))


def environment_of_another():
    found = []
    for path in (f"/proc/{victim}/environ", *glob.glob("/proc/[0-9]*/environ")):
        try:
            with open(path, "rb") as file:
                found += re.findall(rb"secret-[0-9a-f]{16}", file.read())
        except OSError:
            continue
    return bool(found)


def switches():
    for path in (*SWITCHES, *glob.glob("/sys/power/*"), *glob.glob("/sys/kernel/mm/*/*")):
        try:
            os.close(os.open(path, os.O_WRONLY))  # to open it is enough: nothing is written
        except OSError:
            continue
        return True
    return False


attempt("the root of another process", root_of_another)
attempt("the environment of another process", environment_of_another)
attempt("the kernel's switches", switches)
