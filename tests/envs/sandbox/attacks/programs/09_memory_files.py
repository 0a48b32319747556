"""Memory behind files that no folder shows: memfd, System V segments, pipes, /dev/shm."""

import ctypes

n_mb = min(BOUND, 128)


def fill(file):
    for _ in range(n_mb):
        file.write(b"x" * (1 << 20))


def memfd():
    fill(open(os.memfd_create("hoard"), "wb", buffering=0))


def segment():
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    name = libc.shmget(0, n_mb << 20, 0o1600)
    if name < 0:
        raise OSError(ctypes.get_errno(), "shmget")
    address = libc.shmat(name, None, 0)
    libc.shmctl(name, 0, None)  # it goes with its last user
    ctypes.memset(address, 1, n_mb << 20)


def shared_folder():
    with open("/dev/shm/workgym-hoard" if BOUND > 1000 else "hoard", "wb", buffering=0) as file:
        fill(file)


attempt("memory in a memfd", memfd)
attempt("memory in a segment", segment)
attempt("memory in a shared folder", shared_folder)
