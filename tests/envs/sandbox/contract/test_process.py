"""A program that is spoken with while it runs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from workgym.envs.sandbox.protocol import Sandbox, SandboxPool
from workgym.envs.sandbox.spec import PythonCode, SandboxSpec

LONG_S = 30.0
ECHO = "import os, sys\nfor line in sys.stdin: os.write(3, line.upper().encode())"


def test_a_program_is_spoken_with(worn: Sandbox) -> None:
    process = worn.start(PythonCode(ECHO), channel=True)
    answers = []
    for word in (b"one", b"two"):
        process.send(word + b"\n")
        answers.append(process.receive(LONG_S))
    result = process.wait(LONG_S)
    assert answers == [b"ONE", b"TWO"]
    assert result.status == "ok"


def test_a_megabyte_is_sent_to_a_program_that_answers_in_kind(
    open_backend: Callable[[SandboxSpec], SandboxPool],
) -> None:
    pool = open_backend(SandboxSpec(output_kb=4096))
    with pool.lease() as box:
        process = box.start(PythonCode("import os, sys\nos.write(3, sys.stdin.readline().encode())"), channel=True)
        process.send(b"x" * (1 << 20) + b"\n")
        assert process.receive(LONG_S) == b"x" * (1 << 20)


def test_a_program_that_says_nothing_is_not_waited_for_longer_than_asked(worn: Sandbox) -> None:
    process = worn.start(PythonCode(ECHO), channel=True)
    assert process.receive(0.05) is None
    process.send(b"still here\n")
    assert process.receive(LONG_S) == b"STILL HERE"


def test_an_ended_program_has_nothing_to_say(worn: Sandbox) -> None:
    process = worn.start(PythonCode("import os; os.write(3, b'last\\nhalf a line')"), channel=True)
    assert process.receive(LONG_S) == b"last"
    assert process.receive(LONG_S) is None
    assert process.wait(LONG_S).channel == b"half a line"


def test_a_closed_channel_has_nothing_to_say(worn: Sandbox) -> None:
    process = worn.start(PythonCode("import os, sys; os.close(3); sys.stdin.read()"), channel=True)
    assert process.receive(LONG_S) is None
    assert process.wait(LONG_S).status == "ok"


def test_nothing_is_received_where_there_is_no_channel(worn: Sandbox) -> None:
    with pytest.raises(ValueError, match="channel=True"):
        worn.start(PythonCode("pass")).receive(1.0)


def test_sending_to_an_ended_program_is_a_broken_pipe(worn: Sandbox) -> None:
    process = worn.start(PythonCode("pass"))
    process.wait(LONG_S)
    with pytest.raises(BrokenPipeError):
        process.send(b"x")


def test_waiting_twice_gives_the_same_result(worn: Sandbox) -> None:
    process = worn.start(PythonCode("print('x')"))
    assert process.wait(LONG_S) == process.wait(LONG_S)


def test_waiting_kills_at_the_deadline(worn: Sandbox) -> None:
    process = worn.start(PythonCode("import time; time.sleep(60)"))
    assert process.wait(0.05).status == "timeout_wall"


def test_a_killed_program_says_so(worn: Sandbox) -> None:
    process = worn.start(PythonCode("import time; time.sleep(60)"))
    process.kill()
    result = process.wait(LONG_S)
    assert (result.status, result.exit_code, result.signal) == ("killed", -1, 9)


def test_a_program_that_was_killed_twice_is_killed(worn: Sandbox) -> None:
    process = worn.start(PythonCode("import time; time.sleep(60)"))
    process.kill()
    process.kill()
    assert process.wait(LONG_S).status == "killed"


def test_two_programs_run_in_a_sandbox_at_once(worn: Sandbox) -> None:
    processes = [worn.start(PythonCode(ECHO), channel=True) for _ in range(2)]
    for process, word in zip(processes, (b"one\n", b"two\n"), strict=True):
        process.send(word)
    assert [process.receive(LONG_S) for process in processes] == [b"ONE", b"TWO"]
    assert [process.wait(LONG_S).status for process in processes] == ["ok", "ok"]


def test_a_command_line_is_spoken_with_too(worn: Sandbox) -> None:
    process = worn.start(("sh", "-c", "while read line; do echo got $line >&$WORKGYM_CHANNEL; done"), channel=True)
    process.send(b"it\n")
    assert process.receive(LONG_S) == b"got it"
    assert process.wait(LONG_S).status == "ok"
