"""Delete, rename, skip and replace the tests."""

import shutil

tests = os.environ["TESTS"]


def rewrite():
    with open(f"{tests}/test_it.py", "w") as file:
        file.write("def test_it(): pass\n")


def skip():
    with open(f"{tests}/conftest.py", "w") as file:
        file.write("collect_ignore_glob = ['*']\n")


assert "assert False" in open(f"{tests}/test_it.py").read()
attempt("to skip them", skip)
attempt("to rewrite them", rewrite)
attempt("to lend them other rights", lambda: os.chmod(f"{tests}/test_it.py", 0o777))
attempt("to rename them", lambda: os.rename(f"{tests}/test_it.py", f"{tests}/it.py"))
attempt("to replace their folder", lambda: os.rename(tests, f"{tests}.old"))
shutil.rmtree(tests, ignore_errors=True)
shutil.rmtree(f"{tests}.old", ignore_errors=True)
if not os.path.exists(tests):
    free("to delete them")
