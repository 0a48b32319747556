"""The tool `python`: what code cannot do, and what becomes of the machinery below it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from paper import OTHER, REPORT, TABLES, document_of

from workgym.envs.finance.docs_folder import laid_out
from workgym.envs.finance.python_tool import PYTHON_SANDBOX, run_python
from workgym.envs.sandbox.ledger import start_time
from workgym.envs.sandbox.local.pool import LocalPool
from workgym.envs.sandbox.pool import open_pool
from workgym.envs.sandbox.protocol import SandboxPool
from workgym.tasks.errors import SandboxError


@pytest.fixture
def pool(python_pool: LocalPool) -> LocalPool:
    return python_pool


def run(pool: SandboxPool, code: str) -> str:
    return run_python(pool, code, TABLES, [REPORT])


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


def test_a_library_that_starts_a_thread_is_refused(require_backend):
    require_backend("local")
    pytest.importorskip("pyarrow")
    with (
        open_pool("local", replace(PYTHON_SANDBOX, warm_modules=(), warm_imports=("pyarrow",))) as pool,
        pytest.raises(SandboxError, match="thread"),
        pool.lease() as box,
    ):
        box.exec(("true",), timeout_s=20.0)


def end(pool: LocalPool) -> None:
    """Kill an interpreter, and see it gone."""
    last = zygotes(pool)[-1]
    os.kill(last, signal.SIGKILL)
    while start_time(last):
        pass


def test_an_interpreter_that_died_between_two_calls_is_replaced(pool):
    run(pool, "1")
    end(pool)

    assert run(pool, "6 * 7") == "42"


def test_one_that_dies_during_a_call_is_a_fault_of_ours(pool):
    run(pool, "1")

    def end_when_it_runs() -> None:
        while not children_of(zygotes(pool)[-1]):
            pass
        end(pool)

    killer = threading.Thread(target=end_when_it_runs)
    killer.start()
    with pytest.raises(SandboxError, match="died under a program"):
        run(pool, "import time; time.sleep(60)")
    killer.join()
    assert run(pool, "6 * 7") == "42"


def test_calls_at_once_see_their_own_documents(pool):
    documents = [document_of((f"number {number}",)) for number in range(12)]

    def ask(number: int) -> str:
        return run_python(pool, "open('/docs/d1.txt').readlines()[1]", {}, [documents[number]])

    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(ask, range(12))) == [f"'number {number}\\n'" for number in range(12)]


def test_calls_one_after_another_share_a_folder():
    with laid_out([REPORT]) as first:
        stamp = Path(first, "d1.txt").stat().st_mtime_ns
    with laid_out([REPORT]) as second:
        assert second == first
        assert Path(first, "d1.txt").stat().st_mtime_ns == stamp  # not written again
    with laid_out([OTHER]) as third, laid_out([REPORT]) as fourth:
        assert third != fourth


ENDING = """
import sys
sys.path.insert(0, sys.argv[1])
from paper import document_of
from workgym.envs.finance.docs_folder import laid_out
with laid_out([document_of(("a",))]) as folder:
    print(folder, flush=True)
"""


def test_its_folders_go_with_a_process(tmp_path):
    environ = {**os.environ, "WORKGYM_CACHE": str(tmp_path)}
    command = [sys.executable, "-c", ENDING, str(Path(__file__).parent)]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=True)

    assert Path(done.stdout.strip()).name.startswith("workgym-docs-")
    assert not Path(done.stdout.strip()).exists()


KILLED = """
import os, sys
sys.path.insert(0, sys.argv[1])
from paper import document_of
from workgym.envs.finance.docs_folder import laid_out
with laid_out([document_of(("a",))]) as folder:
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
