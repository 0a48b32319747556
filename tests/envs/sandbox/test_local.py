"""What the local backend does beyond the contract that all backends keep (contract/)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from workgym.envs.sandbox.local.pool import LocalPool
from workgym.envs.sandbox.protocol import Sandbox
from workgym.envs.sandbox.spec import ExecResult, PythonCode, SandboxSpec
from workgym.tasks.errors import SandboxError

LONG_S = 30.0


def run(box: Sandbox, source: str) -> ExecResult:
    return box.exec(PythonCode(source), timeout_s=LONG_S)


def test_what_a_program_writes_the_next_one_of_the_lease_finds(box: Sandbox) -> None:
    run(box, "open('note', 'w').write('x'); open('/tmp/note2', 'w').write('y')")
    assert run(box, "print(open('note').read(), open('/dev/shm/note2').read())").stdout == b"x y\n"


def test_two_leases_share_no_files(box: Sandbox, pool: LocalPool) -> None:
    run(box, "open('note', 'w').write('x')")
    with pool.lease() as other:
        assert b"note" not in run(other, "import os; print(os.listdir('.'), os.listdir('/.leases'))").stdout


def test_warm_imports_and_modules_are_loaded_before_the_program(open_local: Callable[[SandboxSpec], LocalPool]) -> None:
    modules = (("some.deep.module", "VALUE = 42"), ("flat", "from some.deep.module import VALUE"))
    pool = open_local(SandboxSpec(warm_imports=("decimal",), warm_modules=modules))
    with pool.lease() as box:
        result = run(box, "import sys; print('decimal' in sys.modules); import flat; print(flat.VALUE)")
    assert result.stdout == b"True\n42\n"


THREAD = "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"


def test_a_zygote_that_has_a_second_thread_does_not_start(open_local: Callable[[SandboxSpec], LocalPool]) -> None:
    spec = SandboxSpec(warm_imports=("decimal",), warm_modules=(("restless", THREAD),))
    with pytest.raises(SandboxError, match=r"2 threads.*decimal, restless"), open_local(spec).lease() as box:
        run(box, "print('never')")


def test_a_zygote_that_gets_a_second_thread_refuses_to_fork(open_local: Callable[[SandboxSpec], LocalPool]) -> None:
    lines = "".join(f"    {line}\n" for line in THREAD.splitlines())
    later = f"import os\ndef start():\n{lines}os.register_at_fork(before=start)\n"
    with open_local(SandboxSpec(warm_modules=(("later", later),))).lease() as box:
        assert run(box, "print('once')").stdout == b"once\n"
        with pytest.raises(SandboxError, match=r"2 threads.*later"):
            run(box, "print('never')")


def test_an_installed_package_can_be_warm(open_local: Callable[[SandboxSpec], LocalPool]) -> None:
    pytest.importorskip("numpy")
    with open_local(SandboxSpec(warm_imports=("numpy",))).lease() as box:
        result = run(box, "import sys; print('numpy' in sys.modules); import numpy.fft; print(numpy.ones(3).sum())")
    assert result.stdout == b"True\n3.0\n", result.stderr


def test_the_end_of_a_lease_kills_what_still_runs(pool: LocalPool, all_gone: Callable[[LocalPool], None]) -> None:
    with pool.lease() as box:
        box.start(PythonCode("import time; time.sleep(60)"))
    all_gone(pool)
