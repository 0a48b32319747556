"""Read the memory of a process that is not a descendant: of any that is visible, and of one of the host."""

import ctypes

PTRACE_SEIZE = 0x4206
victim = int(os.environ["VICTIM"])
visible = [int(name) for name in os.listdir("/proc") if name.isdigit()]
others = {victim, *visible} - {os.getpid()}
if BOUND > 1000:
    others |= set(range(1, 200)) - {os.getpid()}
else:
    others = {victim}
room = ctypes.create_string_buffer(8)
here = (ctypes.c_size_t * 2)(ctypes.addressof(room), 8)
there = (ctypes.c_size_t * 2)(4096, 8)  # where nothing lies: who says so has looked


def each(action):
    def any_of_them():
        reached = False
        for pid in others:
            try:
                action(pid)
                reached = True
            except OSError:
                pass
        return reached

    return any_of_them


def memory(pid):
    with open(f"/proc/{pid}/mem", "rb"):
        pass


attempt("ptrace", each(lambda pid: call("ptrace", PTRACE_SEIZE, pid, None, None)))
attempt("process_vm_readv", each(lambda pid: call("process_vm_readv", pid, here, 1, there, 1, 0)))
attempt("its memory file", each(memory))
