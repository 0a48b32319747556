"""The system call filter, run here instruction by instruction for both architectures."""

from __future__ import annotations

import struct

import pytest

from workgym.envs.sandbox.seccomp import ARCHITECTURES, narrow_filter, wide_filter

ALLOW, EPERM, ENOSYS, KILL = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000
DONE, UNSUPPORTED = 0x00050000, 0x0005005F
ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
CALLS = {
    "x86_64": {
        "read": 0,
        "clone": 56,
        "socket": 41,
        "socketpair": 53,
        "ptrace": 101,
        "mount": 165,
        "unshare": 272,
        "execve": 59,
    },
    "aarch64": {
        "read": 63,
        "clone": 220,
        "socket": 198,
        "socketpair": 199,
        "ptrace": 117,
        "mount": 40,
        "unshare": 97,
        "execve": 221,
    },
}
THREAD = 0x3D0F00  # what pthread_create asks of clone


def judge(program: bytes, arch: int, number: int, argument: int = 0, second: int = 0) -> int:
    """What the kernel would answer to a system call."""
    data = struct.pack("<IIQ6Q", number, arch, 0, argument, second, 0, 0, 0, 0)
    accumulator = at = 0
    while True:
        code, if_true, if_false, operand = struct.unpack_from("<HBBI", program, at * 8)
        at += 1
        if code == 0x20:
            accumulator = struct.unpack_from("<I", data, operand)[0]
        elif code == 0x06:
            return int(operand)
        else:
            holds = {0x15: accumulator == operand, 0x35: accumulator >= operand, 0x45: bool(accumulator & operand)}[
                code
            ]
            at += if_true if holds else if_false


def answer_of(machine: str, number: int, argument: int = 0, *, arch: int = 0, sockets: bool = False) -> int:
    """The stricter of the answers of both filters, as the kernel has it."""
    programs = (wide_filter(machine, sockets=sockets), narrow_filter(machine))
    answers = [judge(program, arch or ARCH[machine], number, argument) for program in programs]
    return KILL if KILL in answers else min(answers)


@pytest.fixture(params=ARCHITECTURES)
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("name", ["ptrace", "mount", "unshare", "socket"])
def test_a_dangerous_call_is_refused(machine: str, name: str) -> None:
    assert answer_of(machine, CALLS[machine][name]) == EPERM


@pytest.mark.parametrize("name", ["read", "execve"])
def test_an_ordinary_call_is_allowed(machine: str, name: str) -> None:
    assert answer_of(machine, CALLS[machine][name]) == ALLOW


@pytest.mark.parametrize("number", [425, 426, 427, 428, 429, 430, 438, 442])
def test_a_new_dangerous_call_is_refused_on_every_architecture(machine: str, number: int) -> None:
    assert answer_of(machine, number) == EPERM


@pytest.mark.parametrize("flags", [17, THREAD, 0x4111])
def test_threads_and_forks_are_allowed(machine: str, flags: int) -> None:
    assert answer_of(machine, CALLS[machine]["clone"], flags) == ALLOW


@pytest.mark.parametrize("flag", [0x20000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000])
def test_a_clone_into_a_namespace_is_refused(machine: str, flag: int) -> None:
    assert answer_of(machine, CALLS[machine]["clone"], flag | 17) == EPERM


def test_to_wait_for_the_disks_of_the_host_does_nothing(machine: str) -> None:
    for number in {"x86_64": (162, 306), "aarch64": (81, 267)}[machine]:  # sync, syncfs
        assert answer_of(machine, number) == DONE


def test_no_lease_is_held_on_a_file(machine: str) -> None:
    number = {"x86_64": 72, "aarch64": 25}[machine]
    answers = [judge(wide_filter(machine), ARCH[machine], number, 3, command) for command in (2, 6, 1024, 1030)]
    assert answers == [ALLOW, ALLOW, EPERM, ALLOW]  # F_SETFD, F_SETLK, F_SETLEASE, F_DUPFD_CLOEXEC


def test_files_have_no_attributes(machine: str) -> None:
    for number in {"x86_64": (188, 189, 190, 463), "aarch64": (5, 6, 7, 463)}[machine]:
        assert answer_of(machine, number) == UNSUPPORTED


def test_clone3_does_not_exist(machine: str) -> None:
    assert answer_of(machine, 435) == ENOSYS


@pytest.mark.parametrize("other", [0x40000003, 0x40000028, 0])
def test_a_call_of_another_architecture_kills(machine: str, other: int) -> None:
    assert answer_of(machine, 0, arch=other or 1) == KILL


def test_the_other_numbers_of_x86_are_refused() -> None:
    assert answer_of("x86_64", 0x40000000 | 1) == EPERM


@pytest.mark.parametrize(
    ("family", "answer"), [(1, ALLOW), (2, ALLOW), (10, ALLOW), (16, EPERM), (17, EPERM), (40, EPERM)]
)
def test_with_sockets_only_unix_and_internet_ones_are_made(machine: str, family: int, answer: int) -> None:
    assert answer_of(machine, CALLS[machine]["socket"], family, sockets=True) == answer


@pytest.mark.parametrize(("family", "answer"), [(1, ALLOW), (30, EPERM)])
def test_only_unix_sockets_come_in_pairs(machine: str, family: int, answer: int) -> None:
    assert answer_of(machine, CALLS[machine]["socketpair"], family) == answer


def test_an_unknown_machine_has_no_filter() -> None:
    with pytest.raises(ValueError, match="no system call filter for machine 'vax'"):
        wide_filter("vax")
    with pytest.raises(ValueError, match="no system call filter for machine 'vax'"):
        narrow_filter("vax")
