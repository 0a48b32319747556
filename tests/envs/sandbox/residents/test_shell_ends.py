"""A shell that stays: what ends a command, what ends the shell, and what may not reach us."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from workgym.envs.sandbox.local.pool import LocalPool
from workgym.envs.sandbox.protocol import Sandbox
from workgym.envs.sandbox.shell import Shell, ShellResult
from workgym.envs.sandbox.spec import SandboxSpec
from workgym.tasks.errors import SandboxError

LONG_S, SHORT_S = 60.0, 0.5


def shown(result: ShellResult) -> tuple[str, int]:
    return result.output, result.exit_code


def test_a_terminal_that_was_stopped_goes_on(shell: Shell) -> None:
    shell.run("python3 -c 'import termios; termios.tcflow(1, termios.TCOOFF)'")
    assert shown(shell.run("echo on")) == ("on\n", 0)


@pytest.mark.parametrize(
    "command",
    [
        "sleep 60",
        "cat",
        "read x",
        "sleep 60 | cat | cat",
        "(sleep 60; echo no); echo no",
        "sleep 60; echo no",
        "while :; do :; done",
        "while sleep 0.05; do :; done",
        "echo $(sleep 60)",
        "sleep 60 & wait",
        "sh -c 'trap \"\" INT TERM HUP; while :; do sleep 1; done'",
        "python3 -c 'input()'",
    ],
)
def test_whatever_a_command_waits_for_it_ends_in_time_and_the_shell_stays(shell: Shell, command: str) -> None:
    shell.run("x=kept")
    began = time.monotonic()
    result = shell.run(f"echo begun; {command}", timeout_s=SHORT_S)
    assert (result.timed_out, result.survived, result.exit_code) == (True, True, 124)
    assert time.monotonic() - began < 20
    assert result.output.startswith("begun\n")
    assert "no" not in result.output
    assert shown(shell.run("echo $x")) == ("kept\n", 0)


def test_jobs_of_earlier_commands_outlive_a_command_that_is_killed(shell: Shell) -> None:
    shell.run("sleep 60 &")
    shell.run("nohup sleep 61 >/dev/null & (sleep 62 &) ; sleep 63", timeout_s=SHORT_S)
    alive = shell.run("cat /proc/[0-9]*/cmdline | tr '\\0' ' '").output
    assert [n for n in range(60, 64) if f"sleep {n}" in alive] == [60]


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("exit 3", 3),
        ("exec sh -c 'exit 4'", 4),
        ("kill -9 $$", 137),
        ("set -e; false", 1),
        ("exec true", 0),
    ],
)
def test_whoever_ends_the_shell_is_told_so(shell: Shell, command: str, code: int) -> None:
    result = shell.run(f"x=1; echo last words; {command}")
    assert (result.exit_code, result.survived, result.timed_out) == (code, False, False)
    assert result.output.startswith("last words\n")
    after = shell.run('echo "[$x]"')
    assert (after.output, after.restarted, after.survived) == ("[]\n", True, True)
    assert not shell.run("true").restarted


def test_a_shell_that_does_not_heed_its_interrupt_is_killed(shell: Shell) -> None:
    result = shell.run("trap '' INT; echo deaf; while :; do :; done", timeout_s=SHORT_S)
    assert (result.output, result.timed_out, result.survived) == ("deaf\n", True, False)
    assert shell.run("true").restarted


def test_a_program_that_took_the_place_of_the_shell_ends_in_time(shell: Shell) -> None:
    result = shell.run("exec sleep 60", timeout_s=SHORT_S)
    assert (result.timed_out, result.survived) == (True, False)


def test_a_shell_that_was_stopped_is_woken(shell: Shell) -> None:
    result = shell.run("x=1; kill -STOP $$", timeout_s=SHORT_S)
    assert (result.timed_out, result.survived) == (True, True)
    assert shown(shell.run("echo $x")) == ("1\n", 0)


def test_programs_hold_the_terminal_alone(shell: Shell) -> None:
    assert shown(shell.run("ls /proc/self/fd | tr '\\n' ' '")) == ("0 1 2 3 ", 0)  # the last one is the folder's


@pytest.mark.parametrize("number", range(10))
def test_forged_reports_on_every_descriptor_are_no_reports(shell: Shell, number: int) -> None:
    forged = f"for n in 0 1 2 3 4 5; do echo $n 0 2>/dev/null >&{number}; done 2>/dev/null; (exit 9)"
    assert shell.run(forged).exit_code == 9
    assert shown(shell.run("echo $?")) == ("9\n", 0)


def test_what_keeps_it_cannot_be_looked_into(shell: Shell) -> None:
    assert shell.run("cat /proc/$PPID/environ /proc/$PPID/fd/0").exit_code == 1


def test_who_attacks_what_keeps_it_ends_itself_at_most(shell: Shell) -> None:
    shell.run("for n in $(seq 1 64); do test $n = 17 -o $n = 19 || kill -$n $PPID; done 2>/dev/null")
    assert shown(shell.run("echo next")) == ("next\n", 0)


def test_redirections_of_the_shell_itself_do_not_reach_us(shell: Shell) -> None:
    shell.run("exec >file 2>&1; exec 7>&- 8>&- 9>&-; echo into the file")
    assert shown(shell.run("echo more; cat <file >/dev/null")) == ("", 0)
    assert shown(shell.run("exec >$(tty) 2>&1; cat file")) == ("into the file\nmore\n", 0)


def test_a_heartbeat_is_answered_and_changes_nothing(shell: Shell) -> None:
    shell.run("(exit 3)")
    health = shell.heartbeat()
    assert health.alive
    assert health.latency_s < 1
    assert shown(shell.run("echo $?")) == ("3\n", 0)


def test_a_shell_without_a_heartbeat_is_replaced(shell: Shell) -> None:
    shell.run("(sleep 0.1; kill -STOP $$) &")
    deadline = time.monotonic() + 20
    while shell.heartbeat(timeout_s=0.2).alive and time.monotonic() < deadline:
        pass
    after = shell.run("echo new")
    assert (after.output, after.restarted) == ("new\n", True)


@pytest.mark.parametrize("command", ["sleep 60; echo no", "cat", "read x", "while :; do :; done"])
def test_without_bash_a_command_ends_in_time_and_the_shell_stays(posix: Shell, command: str) -> None:
    posix.run("x=kept")
    result = posix.run(f"echo begun; {command}", timeout_s=SHORT_S)
    assert (result.timed_out, result.survived) == (True, True)
    assert "no" not in result.output
    assert shown(posix.run("echo $x")) == ("kept\n", 0)


def test_a_bomb_of_processes_ends_with_its_shell(shell: Shell) -> None:
    result = shell.run("f() { f | f; }; f", timeout_s=SHORT_S)
    assert result.timed_out
    assert shown(shell.run("echo next"))[0].endswith("next\n")


def test_a_closed_shell_runs_nothing(room: Sandbox) -> None:
    shell = Shell(room, timeout_s=LONG_S)
    shell.run("x=1")
    shell.close()
    shell.close()
    with pytest.raises(SandboxError, match="closed"):
        shell.run("true")
    assert not shell.heartbeat().alive


def test_a_timeout_must_be_positive(room: Sandbox) -> None:
    with pytest.raises(ValueError, match="timeout_s must be > 0"):
        Shell(room, timeout_s=0)


def test_a_closed_shell_leaves_no_process(
    open_local: Callable[[SandboxSpec], LocalPool], all_gone: Callable[[LocalPool], None], tight: SandboxSpec
) -> None:
    pool = open_local(tight)
    with pool.lease() as box:
        with Shell(box, timeout_s=LONG_S) as shell:
            shell.run("setsid nohup sleep 60 >/dev/null 2>&1 &")
        all_gone(pool)
