"""Make the image of the docker backend from Debian's packages: `python -m workgym.envs.sandbox.docker.image [NAME]`.

No registry of images is needed, only the packages that this machine's own apt finds. An image holds what programs are
to find: an interpreter of Python, a shell, the usual small tools.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from workgym.envs.sandbox.docker.daemon import find_daemon
from workgym.envs.sandbox.spec import SandboxSpec
from workgym.tasks.errors import IsolationUnavailable, SandboxError

__all__ = ["build_image", "main"]

_TIMEOUT_S = 300.0
_PACKAGES = """
    base-files libc6 libgcc-s1 libcrypt1 zlib1g libexpat1 libbz2-1.0 liblzma5 libffi8 libssl3 libsqlite3-0 libuuid1
    libtinfo6 libncursesw6 libreadline8 libdb5.3 libnsl2 libtirpc3 libselinux1 libpcre2-8-0 libgmp10 libacl1 libattr1
    dash bash coreutils sed grep findutils diffutils tar util-linux libblkid1 libmount1 libsmartcols1 libcap-ng0
    python3.11-minimal libpython3.11-minimal libpython3.11-stdlib
"""
_LEFT_OUT = tuple(f"--exclude=./usr/share/{name}" for name in ("doc", "info", "lintian", "locale", "man"))
_LINKS = {
    "bin": "usr/bin",
    "lib": "usr/lib",
    "lib64": "usr/lib64",
    "sbin": "usr/sbin",
    "usr/bin/sh": "dash",
    "usr/bin/python3": "python3.11",
    "usr/bin/python": "python3.11",
    "tmp": "workspace",  # what programs write there lies in their workspace
    "var/tmp": "../workspace",
}
_FILES = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/workspace:/bin/sh\n",
    "etc/group": "root:x:0:\ntty:x:5:\nnogroup:x:65534:\n",
}


def build_image(name: str) -> None:
    """Make an image with Python 3.11 and give it to the docker daemon.

    Args:
        name: of the image, such as "workgym/py:1".

    Raises:
        IsolationUnavailable: no docker daemon answers, or this is not the Debian that has these packages.
        SandboxError: a step failed.
    """
    daemon = find_daemon()
    missing = [tool for tool in ("apt-get", "dpkg-deb", "tar") if not shutil.which(tool)]
    if missing:
        raise IsolationUnavailable(
            f"no {', '.join(missing)} here to make image {name!r} with: make it on Debian 12, or pull one with python3 "
            "in it (`docker pull python:3.12-slim`) and name it in SandboxSpec.image"
        )
    with tempfile.TemporaryDirectory(prefix="workgym-image-") as scratch:
        packages, root = Path(scratch, "packages"), Path(scratch, "root")
        packages.mkdir(mode=0o755)
        Path(scratch).chmod(0o755)  # apt takes another user's rights to download
        _run(["apt-get", "download", "-qq", "-o", "APT::Sandbox::User=root", *_PACKAGES.split()], packages)
        _lay_out(root, sorted(packages.glob("*.deb")))
        archive = Path(scratch, "root.tar")
        _run(["tar", "--owner=0", "--group=0", "-C", str(root), "-cf", str(archive), "."], Path(scratch))
        with daemon.client(_TIMEOUT_S) as client:
            repository, _, tag = name.rpartition(":")
            client.import_image_from_file(str(archive), repository=repository or name, tag=tag if repository else "1")


def _lay_out(root: Path, packages: Sequence[Path]) -> None:
    """Unpack packages, and make what their scripts would make: none of those runs."""
    for folder in ("usr/bin", "usr/lib", "usr/lib64", "usr/sbin", "etc", "workspace", "dev", "proc", "sys"):
        (root / folder).mkdir(parents=True)
    for link in ("bin", "lib", "lib64", "sbin"):
        (root / link).symlink_to(_LINKS[link])
    for package in packages:
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(package)], stdout=subprocess.PIPE) as unpacked:
            _run(["tar", "-C", str(root), "-x", "--keep-directory-symlink", *_LEFT_OUT], root, unpacked.stdout)
    for path, target in _LINKS.items():
        place = root / path
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        if not place.is_symlink():
            place.symlink_to(target)
    for path, text in _FILES.items():
        (root / path).write_text(text)


def _run(command: list[str], folder: Path, stdin: IO[bytes] | None = None) -> None:
    done = subprocess.run(
        command,
        cwd=folder,
        stdin=stdin,
        capture_output=True,
        timeout=_TIMEOUT_S,
        env={**os.environ, "LC_ALL": "C"},
    )
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace").strip()[-2000:]
        raise SandboxError(
            f"cannot make an image: {command[0]} failed with code {done.returncode}: {words}; "
            "the packages are those of Debian 12; refresh its lists with `apt-get update`"
        )


def main(arguments: Sequence[str]) -> int:
    """Make the image that is named, or the one that sandboxes use by default."""
    name = arguments[0] if arguments else SandboxSpec().image
    try:
        build_image(name)
    except SandboxError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"docker has image {name} now")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
