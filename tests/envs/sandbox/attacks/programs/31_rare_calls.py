"""System calls that few programs need and many exploits use. The arguments are wrong: to reach the kernel is enough."""

CALLS = {
    "bpf": (321, 280),
    "io_uring_setup": (425, 425),
    "userfaultfd": (323, 282),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "perf_event_open": (298, 241),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "init_module": (175, 105),
    "kexec_load": (246, 104),
}
column = ("x86_64", "aarch64").index(os.uname().machine)
for name, numbers in CALLS.items():
    attempt(name, lambda number=numbers[column]: call("syscall", number, -1, None, -1, -1, None))
