"""The tool `python`: what code finds, what it cannot do, and what its agent reads of it."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from paper import document_of, table_of

from workgym.envs.finance.docs_folder import laid_out
from workgym.envs.finance.python_tool import MAX_CODE_CHARS, PYTHON_SANDBOX, run_python
from workgym.envs.sandbox.ledger import start_time
from workgym.envs.sandbox.local.pool import LocalPool
from workgym.envs.sandbox.pool import open_pool
from workgym.tasks.errors import ActionError, SandboxError

pytest.importorskip("pandas", reason="pip install 'workgym[finance]'")

INCOME = table_of(
    ("2024", "2023", "2023"),
    {"Net sales": ("$1,234", "1,100", "1"), "Loss": ("(5.6)", "", "2"), "Loss of others": ("7", "8", "9")},
)
NOTES = table_of(("Policy",), {"Leases": ("see note 3",), "Debt": ("see note 4",)}, address="d1:t2")
TABLES = {"d1:t1": INCOME, "d1:t2": NOTES}
REPORT = document_of(("Annual report", "[d1:t1: A table, 4 rows, 3 columns]"), ("Second page",), tables=[INCOME, NOTES])
OTHER = document_of(("Another report",))


@pytest.fixture(scope="module")
def pool(require_backend: Callable[[str], None]) -> Iterator[LocalPool]:
    require_backend("local")
    opened = open_pool("local", replace(PYTHON_SANDBOX, cpu_s=1.0, memory_mb=128))
    assert isinstance(opened, LocalPool)
    yield opened
    opened.close()


def run(pool: LocalPool, code: str) -> str:
    return run_python(pool, code, TABLES, [REPORT])


# What code finds


def test_the_value_of_the_last_expression_is_shown_behind_what_was_printed(pool):
    assert run(pool, "x = 6\nprint('six')\nx * 7") == "six\n42"


def test_code_that_shows_nothing_is_told_so(pool):
    assert run(pool, "x = 6") == "no output"
    assert run(pool, "") == "no output"
    assert run(pool, "None") == "no output"


def test_a_table_is_a_frame_of_the_digits_with_their_sign(pool):
    assert run(pool, "tables['d1:t1'].loc['Net sales', '2024'] * 2") == "np.float64(2468.0)"
    assert run(pool, "float(tables['d1:t1'].loc['Loss', '2024'])") == "-5.6"
    assert run(pool, "list(tables['d1:t1'].index), list(tables['d1:t1'].columns), tables['d1:t1'].attrs['title']") == (
        "(['Net sales', 'Loss', 'Loss of others'], ['2024', '2023', '2023'], 'A table')"
    )


def test_a_blank_cell_is_not_a_zero(pool):
    assert run(pool, "tables['d1:t1'].iloc[:, 1].isna().tolist()") == "[False, True, False]"


def test_a_table_of_words_is_a_frame_of_words(pool):
    assert run(pool, "tables['d1:t2'].loc['Debt', 'Policy']") == "'see note 4'"


def test_tables_are_a_mapping_that_shows_their_titles(pool):
    assert run(pool, "tables") == "d1:t1: A table\nd1:t2: A table"
    assert run(pool, "list(tables), len(tables), 'd1:t1' in tables") == "(['d1:t1', 'd1:t2'], 2, True)"
    assert run_python(pool, "tables") == "no tables"


def test_a_table_that_was_not_fetched_is_told_with_those_that_were(pool):
    assert run(pool, "tables['d1:t9']") == (
        "error: line 1: KeyError: no table 'd1:t9' was fetched; there are: d1:t1, d1:t2"
    )


def test_cells_are_exact(pool):
    assert run(pool, "cells['d1:t1!r3c2'].value, cells['d1:t1!r3c2'].amount") == (
        "(Decimal('-5.6'), Decimal('-5600000.0'))"
    )
    assert run(pool, "c = cells['d1:t1!r2c2']; c.text, c.unit, c.period, c.row_path") == (
        "('$1,234', 'USD', '2024', ('Net sales',))"
    )


def test_documents_lie_below_docs_as_text(pool):
    assert run(pool, "print(open('/docs/d1.txt').read())") == (
        "=== page 1 ===\nAnnual report\n[d1:t1: A table, 4 rows, 3 columns]\n=== page 2 ===\nSecond page"
    )


def test_another_backend_gives_the_same(require_backend):
    require_backend("bwrap")
    with open_pool("bwrap", PYTHON_SANDBOX) as pool:
        assert run(pool, "print(tables['d1:t1'].loc['Loss', '2024'], open('/docs/d1.txt').readline())") == (
            "-5.6 === page 1 ==="
        )


# What an agent reads of an error


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("x = 1\n\n1 / 0", "error: line 3: ZeroDivisionError: division by zero"),
        (
            "def f():\n    return int('x')\nf()",
            "error: line 2: ValueError: invalid literal for int() with base 10: 'x'",
        ),
        ("x = 1\ndef f(:", "error: line 2: SyntaxError: invalid syntax"),
        ("raise ValueError('a\\nb')", "error: line 1: ValueError: a b"),
        ("raise KeyboardInterrupt", "error: line 1: KeyboardInterrupt"),
        ("import sys; sys.exit('stop')", "error: stop"),
        ("import sys; sys.exit(3)", "error: exit code 3"),
        ("class E(Exception):\n    def __str__(self): 1 / 0\nraise E", "error: E"),
        ("a\x00b", "error: SyntaxError: source code string cannot contain null bytes"),
        ("input()", "error: line 1: EOFError: EOF when reading a line"),
    ],
)
def test_an_error_is_one_line_with_the_line_of_the_code(pool, code, wanted):
    assert run(pool, code) == wanted


def test_what_was_printed_before_an_error_is_shown(pool):
    assert run(pool, "print('before')\n1 / 0") == "before\nerror: line 2: ZeroDivisionError: division by zero"


def test_a_lone_surrogate_in_the_code_is_an_error_in_words(pool):
    assert "UnicodeEncodeError" in run(pool, "'\ud800'")


def test_no_place_in_memory_and_no_folder_of_ours_is_told(pool):
    assert run(pool, "object()") == "<object object at 0x..>"
    assert run(pool, "from pandas import nothing") == (
        "error: line 1: ImportError: cannot import name 'nothing' from 'pandas' (pandas/__init__.py)"
    )


def test_what_is_printed_is_cut_at_4_kb(pool):
    for code in ("print('é' * 3000)", "print('x' * 100_000)", "print('x' * 4090)\n1 / 0", "print('é' * 2047)"):
        shown = run(pool, code)
        assert len(shown.encode()) <= 4096
        assert shown.startswith(("é" * 1000, "x" * 2000))
    assert run(pool, "print('x' * 4095)") == "x" * 4095
    assert "[the output is cut" in run(pool, "print('x' * 100_000)")
    assert run(pool, "print('x' * 4090)\n1 / 0").endswith("error: line 2: ZeroDivisionError: division by zero")


def test_code_that_is_too_long_is_refused(pool):
    with pytest.raises(ActionError, match=f"at most {MAX_CODE_CHARS} characters"):
        run(pool, "x" * (MAX_CODE_CHARS + 1))


def test_what_code_runs_into_is_told_in_words(pool):
    assert run(pool, "while True: pass") == "error: it took more than 1 seconds of CPU time"
    assert run(pool, "x = [bytearray(1 << 24) for _ in range(64)]") in (
        "error: it needed more than 128 MB of memory",
        "error: line 1: MemoryError",  # where no control group counts
    )
    assert run(pool, "open('big', 'wb').write(bytes(64 << 20))").startswith(
        ("error: it wrote more", "error: line 1: OS")
    )
    assert run(pool, "import os; os.kill(os.getpid(), 9)") in ("no output", "error: it was ended by signal 9")
    late = run_python(pool, "import time; time.sleep(60)", timeout_s=0.5)
    assert late == "error: it was not done in time; does it wait for something?"


def test_a_bomb_of_processes_ends_in_words(pool):
    shown = run(pool, "import os\nwhile True: os.fork()")

    assert shown.startswith(
        ("error: it started more than 16 processes", "error: line 2: BlockingIOError", "error: it took")
    )
    assert run(pool, "1") == "1"


# What code cannot do

REBUILD = """
from workgym.tasks.finance.ledger import draw_ledger
print(draw_ledger.__name__)
"""


def test_code_cannot_rebuild_what_the_tasks_are_made_of(pool):
    assert run(pool, REBUILD) == "error: line 2: ModuleNotFoundError: No module named 'workgym.tasks'"
    assert run(pool, "import workgym\nsorted(name for name in dir(workgym) if name[0] != '_'), workgym.__path__") == (
        "(['envs'], [])"
    )
    done = subprocess.run([sys.executable, "-c", REBUILD], capture_output=True, text=True, timeout=60)
    assert done.stdout == "draw_ledger\n"  # outside it is that easy


def test_no_source_of_ours_can_be_read(pool):
    look = "import sys, glob\n[p for s in sys.path for p in glob.glob(s + '/workgym/**/*.py', recursive=True)]"

    assert run(pool, look) == "[]"
    assert "pandas" in run(pool, look.replace("/workgym/**/*.py", "/pandas/__init__.py"))


def test_documents_cannot_be_changed(pool):
    for code in (
        "open('/docs/d1.txt', 'a')",
        "import os; os.remove('/docs/d1.txt')",
        "import os; os.chmod('/docs/d1.txt', 0o777)",
    ):
        assert run(pool, code).endswith(("Permission denied: '/docs/d1.txt'", "Read-only file system: '/docs/d1.txt'"))
    assert "Read-only file system" in run(pool, "open('/docs/new', 'w')")
    assert run(pool, "open('d1.txt', 'w').write('mine')") == "4"  # where it may write it can


def test_nothing_of_a_call_is_left_for_the_next(pool):
    code = (
        "open('kept', 'w').write('x'); tables.kept = pd.kept = np.kept = 1\nimport os\nos.path.exists('kept'), pd.kept"
    )

    assert run(pool, code) == "(True, 1)"
    assert run(pool, "import os\nos.path.exists('kept'), hasattr(pd, 'kept'), hasattr(tables, 'kept')") == (
        "(False, False, False)"
    )


def test_a_process_that_was_left_behind_is_gone_before_the_documents_change(pool):
    leave = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(60)\n    os._exit(0)\nprint('left')"

    assert run(pool, leave) == "left"
    assert run_python(pool, "open('/docs/d1.txt').read()", {}, [OTHER]) == "'=== page 1 ===\\nAnother report\\n'"


def test_an_episode_sees_its_own_documents_alone(pool):
    second = document_of(("And one more",), name="d2")

    assert run_python(pool, "import os; sorted(os.listdir('/docs'))", {}, [REPORT, second]) == "['d1.txt', 'd2.txt']"
    assert run_python(pool, "import os; sorted(os.listdir('/docs'))", {}, [OTHER]) == "['d1.txt']"
    assert "Another" in run_python(pool, "open('/docs/d1.txt').read()", {}, [OTHER])
    assert run_python(pool, "import os; os.listdir('/docs')") == "[]"


def test_code_sees_no_process_and_no_variable_of_ours(pool, monkeypatch):
    monkeypatch.setenv("PLANTED_CANARY", "seed-123")

    assert run(pool, "import os; [p for p in os.listdir('/proc') if p.isdigit()]") == "['1']"
    assert run(pool, "import os; [v for v in os.environ if 'CANARY' in v or 'WORKGYM' in v]") == "[]"
    assert run(pool, "import sys; sys.argv") == "['<program>']"


# The machinery


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def zygotes(pool: LocalPool) -> list[int]:
    """The process that waits for a warm interpreter, and the interpreter, of which programs are forked."""
    assert pool.zygote_pid
    return [pool.zygote_pid, *children_of(pool.zygote_pid)]


def threads_of_zygotes(pool: LocalPool) -> set[int]:
    return {len(os.listdir(f"/proc/{pid}/task")) for pid in zygotes(pool)}


def test_what_programs_are_forked_from_has_one_thread(pool):
    run(pool, "1")

    assert threads_of_zygotes(pool) == {1}


def test_a_library_that_starts_a_thread_would_be_seen(require_backend):
    require_backend("local")
    pytest.importorskip("pyarrow")
    with open_pool("local", replace(PYTHON_SANDBOX, warm_modules=(), warm_imports=("pyarrow",))) as pool:
        with pool.lease() as box:
            box.exec(("true",), timeout_s=20.0)
        assert isinstance(pool, LocalPool)
        assert threads_of_zygotes(pool) != {1}


def test_an_interpreter_that_died_between_two_calls_is_replaced(pool):
    run(pool, "1")
    last = zygotes(pool)[-1]
    os.kill(last, signal.SIGKILL)
    while start_time(last):
        pass

    assert run(pool, "6 * 7") == "42"


def test_one_that_dies_during_a_call_is_a_fault_of_ours(pool):
    run(pool, "1")

    def kill_when_it_runs() -> None:
        first, interpreter = zygotes(pool)
        while not children_of(interpreter):
            pass
        os.kill(first, signal.SIGKILL)

    killer = threading.Thread(target=kill_when_it_runs)
    killer.start()
    with pytest.raises(SandboxError):
        run(pool, "import time; time.sleep(60)")
    killer.join()
    assert run(pool, "6 * 7") == "42"


def test_calls_at_once_see_their_own_documents(pool):
    documents = [document_of((f"number {number}",)) for number in range(12)]

    def ask(number: int) -> str:
        return run_python(pool, "open('/docs/d1.txt').readlines()[1]", {}, [documents[number]])

    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(ask, range(12))) == [f"'number {number}\\n'" for number in range(12)]


def test_calls_one_after_another_share_a_folder_and_an_interpreter(pool):
    with laid_out(pool, [REPORT]) as first:
        stamp = Path(first, "d1.txt").stat().st_mtime_ns
    with laid_out(pool, [REPORT]) as second:
        assert second == first
        assert Path(first, "d1.txt").stat().st_mtime_ns == stamp  # not written again
    with laid_out(pool, [OTHER]) as third, laid_out(pool, [REPORT]) as fourth:
        assert third != fourth


def test_its_folder_goes_with_a_pool(require_backend):
    require_backend("local")
    pool = open_pool("local", PYTHON_SANDBOX)
    with laid_out(pool, [REPORT]) as folder:
        assert os.listdir(folder) == ["d1.txt"]
    pool.close()
    del pool
    gc.collect()

    assert not Path(folder).exists()


KILLED = """
import os, sys
sys.path.insert(0, sys.argv[1])
from paper import document_of
from workgym.envs.finance.docs_folder import laid_out
from workgym.envs.sandbox.pool import open_pool
from workgym.envs.sandbox.spec import SandboxSpec
pool = open_pool("unsafe-subprocess", SandboxSpec(require=()), allow_unsafe=True)
with laid_out(pool, [document_of(("a",))]) as folder:
    print(folder, flush=True)
    if os.fork() == 0:  # a child that ends as it should removes nothing of its parent's
        sys.exit()
    os.wait()
    assert os.listdir(folder) == ["d1.txt"]
    os.kill(os.getpid(), 9)
"""


def test_the_folder_of_a_process_that_was_killed_is_removed_by_the_next(tmp_path):
    environ = {**os.environ, "WORKGYM_CACHE": str(tmp_path), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-c", KILLED, str(Path(__file__).parent)]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60)
    folder = Path(done.stdout.strip())
    assert folder.is_dir(), done.stderr

    reap = "from workgym.envs.sandbox.reaping import reap; reap()"
    subprocess.run([sys.executable, "-c", reap], env=environ, check=True, timeout=60)

    assert not folder.exists()


NO_PANDAS = """
import sys
class Nothing:
    def find_spec(name, path=None, target=None):
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'")
sys.meta_path.insert(0, Nothing)
"""


def test_an_interpreter_without_pandas_is_refused_with_the_way_out(require_backend):
    require_backend("local")
    spec = replace(PYTHON_SANDBOX, warm_modules=(("hide", NO_PANDAS), *PYTHON_SANDBOX.warm_modules))
    with open_pool("local", spec) as pool, pytest.raises(SandboxError, match="needs pandas where code runs") as raised:
        run(pool, "1")

    assert "pip install 'workgym[finance]'" in str(raised.value)
    assert "SandboxSpec.image" in str(raised.value)
