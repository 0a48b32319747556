"""The daemon: missing, refused, killed; images; what dead owners leave."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from docker_daemon import Dockerd

from workgym.envs.sandbox.docker.container import LABEL
from workgym.envs.sandbox.docker.image import build_image
from workgym.envs.sandbox.docker.leftovers import remove_containers
from workgym.envs.sandbox.docker.pool import DockerPool
from workgym.envs.sandbox.ledger import Owner, own_ledger
from workgym.envs.sandbox.spec import PythonCode, SandboxSpec
from workgym.tasks.errors import IsolationUnavailable, SandboxError

LONG_S = 30.0
Open = Callable[..., DockerPool]
OWNER = """
import sys
from workgym.envs.sandbox.docker.pool import DockerPool
from workgym.envs.sandbox.spec import Capabilities, PythonCode, SandboxSpec
pool = DockerPool(SandboxSpec(cpu_s=60), Capabilities)
with pool.lease() as box:
    process = box.start(PythonCode("import os, time; os.write(3, b'up\\\\n'); time.sleep(300)"), channel=True)
    process.receive(30)
    (container,) = pool._living
    print(container.name, flush=True)
    process.wait(300)
"""


def refused(pool: DockerPool) -> str:
    with pool.lease() as box, pytest.raises(IsolationUnavailable) as caught:
        box.exec(PythonCode("pass"), timeout_s=LONG_S)
    return str(caught.value)


def test_without_a_daemon_the_words_hold_the_way_out(open_docker: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    words = refused(open_docker())
    assert "/nowhere/docker.sock" in words
    assert "DOCKER_HOST" in words


def test_without_the_package_the_words_hold_the_way_out(open_docker: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "docker", None)
    assert "workgym[docker]" in refused(open_docker())


def test_an_image_that_is_missing_can_be_made_or_pulled(open_docker: Open) -> None:
    words = refused(open_docker(SandboxSpec(image="nonesuch/at-all:7")))
    assert "nonesuch/at-all:7" in words
    assert "workgym.envs.sandbox.docker.image" in words


def test_a_daemon_behind_tls_is_refused(open_docker: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "ssh://somewhere")
    assert "forward its socket" in refused(open_docker())


@pytest.fixture
def image(client: Any) -> Iterator[Callable[..., str]]:
    """`image(...)` makes an image like the default one, but for some settings."""
    made: list[str] = []

    def make(**config: Any) -> str:
        base = client.create_container(SandboxSpec().image, "true", **config)
        name = f"workgym/test:{len(made)}"
        client.commit(base["Id"], repository="workgym/test", tag=str(len(made)))
        client.remove_container(base["Id"])
        made.append(name)
        return name

    yield make
    for name in made:
        client.remove_image(name, force=True)


def test_an_image_with_volumes_is_refused(open_docker: Open, image: Callable[..., str]) -> None:
    assert "/data" in refused(open_docker(SandboxSpec(image=image(volumes=["/data"]))))


def test_an_images_own_entry_and_variables_are_not_used(open_docker: Open, image: Callable[..., str]) -> None:
    name = image(entrypoint=["false"], environment={"PYTHONSTARTUP": "/nowhere", "SECRET": "x"})
    with open_docker(SandboxSpec(image=name)).lease() as box:
        result = box.exec(PythonCode("import os; print('SECRET' in os.environ)"), timeout_s=LONG_S)
    assert result.stdout == b"False\n"


def test_the_default_image_is_made_in_less_than_a_minute(docker_host: str, client: Any) -> None:
    if not all(map(shutil.which, ("apt-get", "dpkg-deb"))):
        pytest.skip("no apt-get and dpkg-deb here to make an image with")
    began = time.monotonic()
    build_image("workgym/test:fresh")
    took_s = time.monotonic() - began
    client.remove_image("workgym/test:fresh", force=True)
    assert took_s < 60


def test_an_image_without_python_is_refused(open_docker: Open, client: Any) -> None:
    base = client.create_container(SandboxSpec().image, ["rm", "-f", "/usr/bin/python3"])
    client.start(base["Id"])
    client.wait(base["Id"])
    client.commit(base["Id"], repository="workgym/test", tag="bare")
    client.remove_container(base["Id"])
    try:
        assert "no python3" in refused(open_docker(SandboxSpec(image="workgym/test:bare")))
    finally:
        client.remove_image("workgym/test:bare", force=True)
    assert not client.containers(all=True, filters={"ancestor": "workgym/test:bare"})


def test_what_cannot_be_warm_is_named(open_docker: Open) -> None:
    pool = open_docker(SandboxSpec(warm_imports=("nonesuch",)))
    with pool.lease() as box, pytest.raises(SandboxError, match="nonesuch"):
        box.exec(PythonCode("pass"), timeout_s=LONG_S)


def test_a_killed_owner_leaves_no_container(docker_host: str, client: Any) -> None:
    with subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        name = owner.stdout.readline().decode().strip()
        assert name in {one["Id"] for one in client.containers()}
        owner.kill()
    deadline = time.monotonic() + 5
    while name in {one["Id"] for one in client.containers(all=True)}:
        assert time.monotonic() < deadline


def test_only_containers_of_a_dead_owner_are_removed(open_docker: Open, client: Any) -> None:
    dead = replace(Owner.this_process(), pid=4_000_000).name
    pool = open_docker()
    with pool.lease() as box:
        box.write("mine", b"kept")
        left = client.create_container(SandboxSpec().image, "true", labels={LABEL: dead})["Id"]
        stranger = client.create_container(SandboxSpec().image, "true")["Id"]
        try:
            assert remove_containers(f"{LABEL}={dead}", os.environ["DOCKER_HOST"]) == [left]
            names = {one["Id"] for one in client.containers(all=True)}
        finally:
            client.remove_container(stranger)
        assert stranger in names
        assert left not in names
        assert box.read("mine", 10) == b"kept"


@pytest.mark.parametrize("label", ["", "workgym.owner", "workgym.owner=", "=x"])
def test_a_label_that_names_nobody_removes_nothing(label: str) -> None:
    with pytest.raises(ValueError, match="NAME=VALUE"):
        remove_containers(label, "")


def test_containers_are_written_down_before_they_are_made(open_docker: Open) -> None:
    before = own_ledger().n_open
    pool = open_docker()
    with pool.lease() as box:
        assert own_ledger().n_open == before
        box.exec(PythonCode("pass"), timeout_s=LONG_S)
        assert own_ledger().n_open == before + 1
    pool.close()
    assert own_ledger().n_open == before


def test_a_daemon_that_is_killed_under_a_lease_is_an_error_in_time(open_docker: Open, dockerd: Dockerd | None) -> None:
    if dockerd is None:
        pytest.skip("this machine's own docker daemon is left alone")
    pool = open_docker(SandboxSpec(cpu_s=60))
    with pool.lease() as box, pool.lease() as other:
        process = box.start(PythonCode("import os, time; os.write(3, b'up\\n'); time.sleep(300)"), channel=True)
        assert process.receive(LONG_S) == b"up"
        other.write("file", b"x")
        dockerd.end(signal.SIGKILL)
        try:
            began = time.monotonic()
            with pytest.raises(SandboxError, match="docker daemon"):
                process.wait(LONG_S)
            for attempt in (lambda: box.exec(PythonCode("pass"), timeout_s=LONG_S), lambda: other.read("file", 10)):
                with pytest.raises(SandboxError, match="docker daemon"):
                    attempt()
            with pytest.raises(SandboxError), pool.lease() as third:
                third.write("file", b"x")
            assert time.monotonic() - began < 10
        finally:
            dockerd.clean_up()
            dockerd.start()
    pool.close()
    with open_docker().lease() as box:
        assert box.exec(PythonCode("print('as ever')"), timeout_s=LONG_S).stdout == b"as ever\n"


@pytest.mark.slow
def test_a_daemon_that_hangs_is_an_error_soon_after_the_deadline(open_docker: Open, dockerd: Dockerd | None) -> None:
    if dockerd is None:
        pytest.skip("this machine's own docker daemon is left alone")
    pool = open_docker()
    box = pool.lease()
    entered = box.__enter__()
    entered.write("file", b"x")
    os.kill(dockerd.pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        with pytest.raises(SandboxError):
            entered.exec(PythonCode("import time; time.sleep(300)"), timeout_s=1.0)
        assert time.monotonic() - began < 20
    finally:
        os.kill(dockerd.pid, signal.SIGCONT)
    box.__exit__(None, None, None)
