"""A Python that stays: what ends a run, what ends the interpreter, and what may not reach us."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from workgym.envs.sandbox.kernel import Kernel, KernelResult
from workgym.envs.sandbox.local.pool import LocalPool
from workgym.envs.sandbox.protocol import Sandbox
from workgym.envs.sandbox.spec import PythonCode, SandboxSpec
from workgym.tasks.errors import SandboxError

LONG_S, SHORT_S = 60.0, 0.5


def shown(result: KernelResult) -> tuple[str, str]:
    return result.status, result.output


def test_a_run_over_its_time_is_interrupted_and_state_stays(kernel: Kernel) -> None:
    kernel.run("x = 1")
    result = kernel.run("print('begun')\nwhile True: x += 1", timeout_s=SHORT_S)
    assert (result.status, result.output, result.exit_code) == ("timeout", "begun\n", 124)
    assert result.survived
    assert result.error.endswith("KeyboardInterrupt\n")
    assert shown(kernel.run("x > 1")) == ("ok", "True\n")


@pytest.mark.parametrize(
    "source",
    [
        "import time; time.sleep(60)",
        "import subprocess; subprocess.run(['sleep', '60'])",
        "import os; os.system('sleep 60; sleep 61')",
        "import threading; t = threading.Thread(target=print); threading.Event().wait()",
        "try:\n    while True: pass\nexcept KeyboardInterrupt: print('tidied')",
    ],
)
def test_whatever_it_waits_for_an_interrupt_ends_it(kernel: Kernel, source: str) -> None:
    began = time.monotonic()
    result = kernel.run(source, timeout_s=SHORT_S)
    assert (result.status, result.survived) == ("timeout", True)
    assert time.monotonic() - began < 20
    assert shown(kernel.run("2")) == ("ok", "2\n")


def test_what_a_run_over_its_time_started_is_killed_and_what_others_started_is_not(kernel: Kernel) -> None:
    kernel.run("import subprocess, time\nold = subprocess.Popen(['sleep', '60'])")
    kernel.run("new = subprocess.Popen(['sleep', '60'], start_new_session=True)\nwhile True: pass", timeout_s=SHORT_S)
    assert shown(kernel.run("new.wait(10), old.poll()")) == ("ok", "(-9, None)\n")


def test_who_does_not_heed_the_interrupt_is_killed(kernel: Kernel) -> None:
    kernel.run("x = 1")
    deaf = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); print('deaf')\nwhile True: pass"
    result = kernel.run(deaf, timeout_s=SHORT_S)
    assert (result.status, result.output, result.survived) == ("timeout", "deaf\n", False)
    assert "did not survive the interrupt" in result.error
    after = kernel.run("'x' in globals()")
    assert (after.output, after.restarted) == ("False\n", True)
    assert not kernel.run("1").restarted


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("os._exit(4)", 4),
        ("os.kill(os.getpid(), 9)", 137),
        ("os.abort()", 134),
        ("import ctypes; ctypes.string_at(0)", 139),
        ("os.execv('/bin/sh', ['sh', '-c', 'exit 5'])", 5),
        ("os.closerange(3, 300)", 1),
    ],
)
def test_whoever_ends_the_interpreter_is_told_so(kernel: Kernel, source: str, code: int) -> None:
    result = kernel.run(f"import os; print('last words', flush=True); {source}")
    assert (result.status, result.exit_code, result.survived) == ("died", code, False)
    assert result.output.startswith("last words\n")
    assert f"exit code {code}" in result.error
    assert kernel.run("1").restarted


def test_an_interpreter_that_ends_under_a_run_from_without_is_told_so(kernel: Kernel) -> None:
    kernel.run("import os, threading; threading.Timer(0.05, os._exit, (0,)).start()")
    result = kernel.run("import time; time.sleep(60)")
    assert (result.status, result.survived) == ("died", False)


def test_an_interpreter_that_ended_between_runs_is_replaced_before_the_next(kernel: Kernel, room: Sandbox) -> None:
    kernel.run("import os, threading; threading.Timer(0.05, os._exit, (0,)).start()")
    room.exec(PythonCode("import time; time.sleep(0.5)"), timeout_s=LONG_S)
    after = kernel.run("print('once')")
    assert (shown(after), after.restarted) == (("ok", "once\n"), True)


def test_a_fork_that_comes_back_says_nothing_in_our_name(kernel: Kernel) -> None:
    kernel.run("import os; pid = os.fork()\nif pid: _ = os.waitpid(pid, 0)")
    assert shown(kernel.run("pid > 0")) == ("ok", "True\n")


def test_the_number_of_open_files_does_not_reach_our_line(kernel: Kernel) -> None:
    result = kernel.run("files = []\ntry:\n    while True: files.append(open('/dev/null'))\nexcept OSError: len(files)")
    assert result.status == "ok"
    assert shown(kernel.run("files.clear(); 5")) == ("ok", "5\n")


def test_closing_the_low_descriptors_does_no_harm(kernel: Kernel) -> None:
    kernel.run("import os; os.closerange(0, 20)")
    assert kernel.run("x = 1").status == "ok"


def test_a_program_holds_neither_the_channel_nor_our_stdin(kernel: Kernel) -> None:
    held = kernel.run("import os; [os.readlink(f'/proc/self/fd/{name}') for name in os.listdir('/proc/self/fd')[:3]]")
    opened = kernel.run("[n for n in range(3, 20) if os.path.exists(f'/proc/self/fd/{n}')]")
    assert held.output.startswith("['/dev/null', 'pipe:")
    assert opened.output == "[]\n"
    assert kernel.run("'WORKGYM_CHANNEL' in os.environ").output == "False\n"


def test_forged_answers_on_every_descriptor_are_no_answers(kernel: Kernel) -> None:
    forged = '{"nonce": "0", "event": "end", "status": "ok", "code": 0, "error": ""}'
    result = kernel.run(
        f"import os\nfor n in range(3, 40):\n"
        f"    for text in ({forged!r}, '[' * 3000, 'null', '{{}}', '\\xff'):\n"
        "        try: _ = os.write(n, text.encode('latin1') + b'\\n')\n"
        "        except OSError: pass\nprint('end')"
    )
    assert shown(result) == ("ok", "end\n")
    assert shown(kernel.run("1")) == ("ok", "1\n")


def test_what_keeps_it_cannot_be_looked_into(kernel: Kernel) -> None:
    source = (
        "import os\nfor name in ('mem', 'environ', 'fd/0', 'fd/3'):\n"
        "    try: _ = open(f'/proc/{os.getppid()}/{name}', 'rb').read(1); print(name)\n"
        "    except OSError: pass"
    )
    assert shown(kernel.run(source)) == ("ok", "")


def test_who_attacks_what_keeps_it_ends_itself_at_most(kernel: Kernel) -> None:
    kernel.run("import os, signal\nsignals = sorted(set(signal.Signals) - {signal.SIGCHLD, signal.SIGSTOP})")
    kernel.run("for number in signals: os.kill(os.getppid(), number)")
    assert shown(kernel.run("1")) == ("ok", "1\n")


def test_too_much_memory_is_an_error_or_is_told_to_be_the_end(kernel: Kernel, room: Sandbox) -> None:
    result = kernel.run("x = bytearray(1 << 30)")
    if room.capabilities.memory == "cgroup":
        assert (result.status, result.exit_code, result.end, result.survived) == ("died", 137, "oom", False)
        assert "oom" in result.error
    else:
        assert (result.status, result.survived) == ("error", True)
    assert shown(kernel.run("1")) == ("ok", "1\n")


def test_a_heartbeat_is_answered_and_changes_nothing(kernel: Kernel, room: Sandbox) -> None:
    kernel.run("7\nimport threading; threading.Timer(0.05, print, ('late',)).start(); 7")
    room.exec(PythonCode("import time; time.sleep(0.5)"), timeout_s=LONG_S)
    health = kernel.heartbeat()
    assert health.alive
    assert health.latency_s < 1
    assert shown(kernel.run("_")) == ("ok", "late\n7\n")


def test_an_interpreter_without_a_heartbeat_is_replaced(kernel: Kernel) -> None:
    kernel.run("import os, signal, threading; threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGSTOP)).start()")
    deadline = time.monotonic() + 20
    while kernel.heartbeat(timeout_s=0.2).alive and time.monotonic() < deadline:
        pass
    after = kernel.run("1")
    assert (after.output, after.restarted) == ("1\n", True)


def test_a_closed_kernel_runs_nothing(room: Sandbox) -> None:
    kernel = Kernel(room, timeout_s=LONG_S)
    kernel.run("x = 1")
    kernel.close()
    kernel.close()
    with pytest.raises(SandboxError, match="closed"):
        kernel.run("x")
    assert not kernel.heartbeat().alive


@pytest.mark.parametrize("timeout_s", [0, -1.0, float("nan")])
def test_a_timeout_must_be_positive(room: Sandbox, timeout_s: float) -> None:
    with pytest.raises(ValueError, match="timeout_s must be > 0"):
        Kernel(room, timeout_s=timeout_s)
    with Kernel(room, timeout_s=1.0) as kernel, pytest.raises(ValueError, match="timeout_s must be > 0"):
        kernel.run("1", timeout_s=timeout_s)


def test_a_closed_kernel_leaves_no_process(
    open_local: Callable[[SandboxSpec], LocalPool], all_gone: Callable[[LocalPool], None], tight: SandboxSpec
) -> None:
    pool = open_local(tight)
    with pool.lease() as box:
        with Kernel(box, timeout_s=LONG_S) as kernel:
            kernel.run("import subprocess; subprocess.Popen(['sleep', '60'], start_new_session=True)")
        all_gone(pool)


def test_a_kernel_whose_programs_were_all_killed_begins_anew(room: Sandbox) -> None:
    with Kernel(room, timeout_s=LONG_S) as kernel:
        kernel.run("x = 1")
        room.kill_all()
        result = kernel.run("'x' in globals()")
    assert (result.output, result.restarted) == ("False\n", True)


def test_a_kernel_in_a_sandbox_that_is_gone_is_a_sandbox_error(
    open_local: Callable[[SandboxSpec], LocalPool], tight: SandboxSpec
) -> None:
    with open_local(tight).lease() as box:
        kernel = Kernel(box, timeout_s=LONG_S)
        kernel.run("x = 1")
    with pytest.raises(SandboxError, match="closed"):
        kernel.run("x")


def test_where_a_kernel_cannot_start_the_error_says_so(open_local: Callable[[SandboxSpec], LocalPool]) -> None:
    pool = open_local(SandboxSpec(n_processes=1))
    with (
        pool.lease() as box,
        Kernel(box, timeout_s=LONG_S) as kernel,
        pytest.raises(SandboxError, match="n_processes=1"),
    ):
        kernel.run("1")


def test_the_end_of_all_cpu_time_is_told(open_local: Callable[[SandboxSpec], LocalPool]) -> None:
    with open_local(SandboxSpec(cpu_s=0.5)).lease() as box, Kernel(box, timeout_s=LONG_S) as kernel:
        result = kernel.run("while True: pass")
        assert (result.status, result.end, result.survived) == ("died", "timeout_cpu", False)
        assert "timeout_cpu" in result.error
        assert kernel.run("1").output == "1\n"
