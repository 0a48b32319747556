"""Make a new world, or change this one: namespaces, mounts, roots."""

NEW = {
    "a mount namespace": 0x20000,
    "a cgroup namespace": 0x02000000,
    "a UTS namespace": 0x04000000,
    "an IPC namespace": 0x08000000,
    "a user namespace": 0x10000000,
    "a PID namespace": 0x20000000,
    "a network namespace": 0x40000000,
}
SYS_CLONE = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
SYS_CLONE3, SYS_OPEN_TREE, SYS_FSOPEN = 435, 428, 430
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}[os.uname().machine]


def clone(flags):
    if call("syscall", SYS_CLONE, flags | 17, None, None, None, None) == 0:
        os._exit(0)


for what, flag in NEW.items():
    attempt(f"{what}, by clone", lambda flag=flag: clone(flag))
attempt("clone3", lambda: call("syscall", SYS_CLONE3, None, 0))
attempt("setns", lambda: call("setns", -1, 0))
attempt("mount", lambda: call("mount", b"tmpfs", os.getcwd().encode(), b"tmpfs", 0, None))
attempt("umount", lambda: call("umount2", os.getcwd().encode(), 2))
attempt("open_tree", lambda: call("syscall", SYS_OPEN_TREE, -1, None, 0))
attempt("fsopen", lambda: call("syscall", SYS_FSOPEN, None, 0))
attempt("pivot_root", lambda: call("syscall", SYS_PIVOT_ROOT, None, None))
attempt("chroot", lambda: call("chroot", b"."))
attempt("sethostname", lambda: call("sethostname", b"owned", 5))
for what, flag in NEW.items():
    if flag != 0x20000000:  # a first child of that one would be the last
        attempt(f"{what}, by unshare", lambda flag=flag: call("unshare", flag))
