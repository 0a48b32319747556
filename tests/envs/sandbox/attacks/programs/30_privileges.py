"""Become somebody else."""

import shutil
import subprocess

with open("/proc/self/status") as file:
    status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def set_user_id_copy():
    path = os.path.abspath("copy")
    shutil.copy(shutil.which("id"), path)
    os.chown(path, 0, 0)
    os.chmod(path, 0o4755)
    return b"0" in subprocess.run([path, "-u"], capture_output=True).stdout


def run_as_root(*command):
    return lambda: subprocess.run([*command, "id -u"], capture_output=True, timeout=5).stdout.strip() == b"0"


attempt("capabilities", lambda: any(int(status[name], 16) for name in ("CapEff", "CapPrm", "CapInh", "CapAmb")))
attempt("capabilities to come", lambda: int(status["CapBnd"], 16) != 0)
attempt("new privileges", lambda: status["NoNewPrivs"] == "0")
attempt("no filter", lambda: status["Seccomp"] != "2")
attempt("root", lambda: "0" in status["Uid"].split() or os.setuid(0))
attempt("root's group", lambda: "0" in status["Gid"].split() or os.setgid(0))
attempt("other groups", lambda: os.setgroups([0, 4]))
attempt("a device", lambda: os.mknod("memory", 0o20666, os.makedev(1, 1)))
attempt("a set-user-id file", set_user_id_copy)
attempt("su", run_as_root("su", "-c"))
if BOUND > 1000:
    attempt("sudo", run_as_root("sudo", "-n", "sh", "-c"))
