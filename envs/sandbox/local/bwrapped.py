"""Runs behind walls that bubblewrap builds, for a zygote that keeps the host's view and runs nothing itself.

The zygote's own part is the same: workspaces in its private mount namespace, a PID namespace a run, limits, reports.
A program is then `bwrap ... python` or `bwrap ... argv`; bubblewrap says on a pipe whether it came so far.

Source: bwrap(1), version 0.8.
"""

from __future__ import annotations

import errno
import json
import marshal
import os
from typing import Any, NoReturn

from workgym.envs.sandbox.local import kernel, namespaces
from workgym.envs.sandbox.local.child import CHANNEL, Limits
from workgym.envs.sandbox.local.store import Place

__all__ = ["Walls", "prepare"]

_PROOF, _FIRST_FREE = 20, 21  # descriptors of bubblewrap's own, above those of the program
_SHOWN = "/.shown"  # as in namespaces: for what lies below /tmp, which is a link to the workspace
_MONITORS = 1  # processes of bubblewrap's beside the program's
_SIGNALLED, _CANNOT_RUN = 128, 126
_SHELVES = ("/mnt", "/media", "/srv", "/opt", "/var/tmp", "/tmp")
_ENTER = f'cd {namespaces.WORKSPACE} 2>/dev/null; unset OLDPWD; exec "$0" "$@"'
_LAUNCH = """\
import marshal, os
first, machinery, program = map(int, sys.argv[1:])
try:
    os.chdir("/workspace")
    os.environ["PWD"] = "/workspace"
except OSError:
    pass
module_source, modules, site = marshal.loads(os.pread(machinery, os.fstat(machinery).st_size, 0))
source = os.pread(program, os.fstat(program).st_size, 0)
os.closerange(first, 1 << 16)
sys.path += site
load([("program", module_source), *modules])
sys.modules.pop("program").run(source)
"""


def prepare(config: dict[str, Any]) -> tuple[str, dict[str, str]]:
    """Mount what the zygote itself needs, over folders of the host that nobody sees from in here.

    Returns:
        The shelf for workspaces, and links that every fresh workspace needs.

    Raises:
        Denied: the kernel refused.
    """
    step = "make the mounts private"
    try:
        kernel.make_private("/")
        step = "mount /proc"
        kernel.mount("proc", namespaces.PROC, kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
        step = "make room for workspaces"
        needed = [os.path.realpath(path) for path in (*config["visible"], *(host for _, host in config["shown"]))]
        shelf = next(
            path
            for path in _SHELVES
            if os.path.isdir(path) and not any(one == path or one.startswith(path + "/") for one in needed)
        )
        namespaces.mount_shelf(shelf, 0o711)
        namespaces.lay_files(shelf)
        step = "show the folders of the interpreter"
        seen: list[str] = []
        for real in sorted(needed):  # bubblewrap runs as nobody, who may not be let in where they lie
            if os.path.isdir(real) and not namespaces.covered(real, seen):
                seen.append(real)
                os.makedirs(f"{shelf}/seen{real}")
                kernel.bind(real, f"{shelf}/seen{real}")
    except OSError as error:
        raise namespaces.Denied(step, error) from error
    below_tmp = {path.split("/")[2] for path in needed if path.startswith("/tmp/")}
    return shelf, {name: f"{_SHOWN}/tmp/{name}" for name in below_tmp}


class Walls:
    """What a fresh child of the zygote goes through.

    Attributes:
        namespaces: into which it is born.
        n_monitors: processes of a run that are no program's.
        warm: names of what the zygote has loaded.
    """

    n_monitors = _MONITORS
    warm = ""  # every run loads it anew

    def __init__(self, config: dict[str, Any], limits: Limits, shelf: str, admin: bool) -> None:
        self.namespaces = kernel.CLONE_NEWPID | kernel.CLONE_NEWNS
        if not admin:  # the kernel counts the processes of a user in each user namespace apart
            self.namespaces |= kernel.CLONE_NEWUSER
        self._limits, self._config = limits, config
        self._filters = [bytes.fromhex(config[name]) for name in ("wide_filter", "narrow_filter")]
        self._command = [config["bwrap"], *_walls(config, shelf)]
        payload = (config["program"], config["warm_modules"], config["site"])
        self._machinery = marshal.dumps(payload)

    def open_proof(self) -> tuple[int, int]:
        """A pipe on which the child proves that its walls stood: our end, and the child's."""
        ours, theirs = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(ours, False)
        return ours, theirs

    def judge(self, status: int, killed: bool, proof: int) -> tuple[int, str]:
        """The program's own wait status, by that of bubblewrap; and what failed, if bubblewrap did."""
        told = os.read(proof, 1 << 16).decode("utf-8", "replace")
        if killed or os.WIFSIGNALED(status):
            return status, ""
        documents = [json.loads(line) for line in told.splitlines() if line.strip()]
        code = next((one["exit-code"] for one in documents if "exit-code" in one), None)
        if code is None:
            return status, "bubblewrap could not build the walls"
        # It tells signals as shells do. Nobody inside can send this one to the first process: it is ours, or a word.
        if _SIGNALLED < code <= _SIGNALLED + 64 and code != _SIGNALLED + 9:
            return code - _SIGNALLED, ""
        return code << 8, ""

    def become(self, place: Place, message: memoryview, files: list[int], line: int, proof: int) -> NoReturn:
        """Turn this fresh child into bubblewrap, and that into the program."""
        try:
            source, argv, env, memory_file, n_cgroups = marshal.loads(message)
            for _ in range(n_cgroups):
                os.write(files.pop(), b"0")
            if memory_file:
                with os.fdopen(files.pop(), "rb") as file:
                    file.seek(0)
                    source, argv, env = marshal.loads(file.read())
            for number, descriptor in enumerate(files):
                os.dup2(descriptor, number)
            free = len(files)
            os.dup2(proof, _PROOF)
            os.set_inheritable(_PROOF, True)  # it may have been that one all along
            kernel.close_from(_FIRST_FREE)
            os.closerange(free, _PROOF)
            command = [*self._command, "--json-status-fd", str(_PROOF)]
            for content in self._filters:
                command += ["--add-seccomp-fd", str(_memory_file(content))]
            for path in ("/workspace", "/dev/shm"):
                command += ["--bind", place.folder, path]
            namespaces.lay_terminals()
            command += ["--dev-bind", namespaces.TERMINALS, namespaces.TERMINALS]
            command += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/"]
            channel = {"WORKGYM_CHANNEL": str(CHANNEL)} if free > CHANNEL else {}
            for name, value in {**self._config["environ"], **self._config["env"], **env, **channel}.items():
                command += ["--setenv", name, value]
            if argv is None:
                machinery, program = _memory_file(self._machinery), _memory_file(source)
                argv = [
                    *self._config["python"],
                    "-c",
                    self._config["loader"] + _LAUNCH,
                    str(free),
                    str(machinery),
                    str(program),
                ]
            else:  # what cannot be executed, or entered, is the program's own failure, not that of the walls
                argv = ["/bin/sh", "-c", _ENTER, *argv]
            if place.family.user is None:
                namespaces.map_identity(namespaces.NOBODY, namespaces.NOBODY, namespaces.NOBODY)
            # Bubblewrap looks up its children, whose numbers are those of their own namespace.
            kernel.mount("proc", namespaces.PROC, kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
            self._become_nobody(place)
            _execute([*command, "--", *argv])
        except BaseException as error:  # noqa: BLE001 - whatever it is, the supervisor must hear of it
            os.write(line, f"E{type(error).__name__}: {error}".encode())
            os._exit(1)

    def _become_nobody(self, place: Place) -> None:
        user = place.family.user
        if user is not None:
            os.setresuid(user, user, user)
            kernel.set_dumpable()
        self._limits.take(place, _MONITORS)


def _execute(command: list[str]) -> NoReturn:
    """Become bubblewrap; a program's words that are too long are the program's own failure, as in a shell."""
    try:
        os.execv(command[0], command)
    except OSError as error:
        if error.errno != errno.E2BIG:
            raise
        os.write(2, f"{error.strerror}\n".encode())
        os.write(_PROOF, f'{{"exit-code": {_CANNOT_RUN}}}\n'.encode())
        os._exit(_CANNOT_RUN)


def _memory_file(content: bytes) -> int:
    """A descriptor that the next program inherits, of a file that holds these bytes."""
    descriptor = os.memfd_create("workgym", 0)
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _walls(config: dict[str, Any], shelf: str) -> list[str]:
    """All of bubblewrap's arguments that are the same for every run."""
    words = ["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    words += ["--unshare-cgroup-try", "--uid", str(namespaces.NOBODY), "--gid", str(namespaces.NOBODY)]
    words += ["--hostname", "sandbox", "--die-with-parent", "--new-session", "--as-pid-1", "--clearenv"]
    roots: list[str] = []
    for path in namespaces.SYSTEM:
        if os.path.islink(path):
            words += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            words += ["--ro-bind", path, path]
        else:
            continue
        roots.append(path)
    for path in namespaces.SETTINGS:
        if os.path.exists(path):
            words += ["--ro-bind", os.path.realpath(path), path]
    for path in sorted({os.path.normpath(path) for path in config["visible"]}):
        words += _show(path, shelf, roots)
    for path in config["hidden"]:
        if os.path.isdir(path):
            words += ["--size", "4096", "--tmpfs", _place(path), "--remount-ro", _place(path)]
    for name in ("passwd", "group", "hosts"):
        words += ["--ro-bind", f"{shelf}/etc/{name}", f"/etc/{name}"]
    for inside, host in config["shown"]:
        words += ["--ro-bind", f"{shelf}/seen{host}", inside]
    return [*words, "--proc", "/proc", "--dev", "/dev", "--symlink", namespaces.WORKSPACE, "/tmp"]


def _place(path: str) -> str:
    return _SHOWN + path if path.startswith("/tmp/") else path


def _show(path: str, shelf: str, roots: list[str]) -> list[str]:
    """Bind a folder where it lies; where it is reached through a link, bind the target and make the link."""
    real = os.path.realpath(path)
    words: list[str] = []
    if os.path.isdir(real) and not namespaces.covered(real, roots):
        words += ["--ro-bind", f"{shelf}/seen{real}", _place(real)]
        roots.append(real)
    if path != real and os.path.isdir(real) and not namespaces.covered(path, roots):
        words += ["--symlink", real, _place(path)]
    return words
