"""Names: what is public is listed and documented, and things are named for what they are."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator

MAX_LINES = 350
LONGER: dict[str, str] = {}
"""File -> the reason why it may be longer."""

EMPTY_FILE_NAMES = {"utils.py", "util.py", "common.py", "types.py", "helpers.py", "misc.py", "base.py"}
EMPTY_CLASS_NAMES = re.compile(r"Manager$|Helper$|Handler$|^Base[A-Z]|Base$|Utils?$")


def test_every_module_lists_its_public_names(modules):
    silent = [module.name for module in modules if _listed(module.tree) is None and _defined(module.tree)]

    assert silent == []


def test_modules_take_from_each_other_what_is_listed(modules):
    listed = {module.name: _listed(module.tree) or [] for module in modules}
    taken = [
        (module.name, node.module, alias.name)
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ImportFrom) and node.module in listed
        for alias in node.names
        if f"{node.module}.{alias.name}" not in listed
    ]

    unlisted = [f"{taker} takes {name} of {giver}" for taker, giver, name in taken if name not in listed[giver]]

    assert len(taken) > 100
    assert unlisted == []


def test_what_is_listed_exists(modules, require_extra):
    require_extra("train")
    lost = [
        f"{module.name}.{name}"
        for module in modules
        if not module.name.endswith("__main__")
        for name in _listed(module.tree) or ()
        if not hasattr(importlib.import_module(module.name), name)
    ]

    assert lost == []


def test_public_names_are_documented(modules):
    bare = [f"{module.name}.{name}" for module in modules for name in _undocumented(module.tree)]

    assert bare == []


def test_modules_are_documented(modules):
    assert [module.name for module in modules if not ast.get_docstring(module.tree)] == []


def test_public_signatures_are_typed(modules):
    untyped = [
        f"{module.name}.{function.name}"
        for module in modules
        for function in ast.walk(module.tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and not _is_typed(function)
    ]

    assert untyped == []


def test_no_file_is_longer_than_a_noun_needs(tracked, root):
    names = [path.relative_to(root).as_posix() for path in tracked if path.suffix == ".py"]
    lengths = {name: len((root / name).read_text(encoding="utf-8").splitlines()) for name in names}

    assert {name: lines for name, lines in lengths.items() if lines > MAX_LINES and name not in LONGER} == {}
    assert [name for name in LONGER if lengths.get(name, 0) <= MAX_LINES] == []


def test_no_name_says_nothing(tracked):
    files = [path for path in tracked if path.suffix == ".py"]
    classes = [
        f"{path}: {node.name}"
        for path in files
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and EMPTY_CLASS_NAMES.search(node.name)
    ]

    assert [str(path) for path in files if path.name in EMPTY_FILE_NAMES] == []
    assert classes == []


def _listed(tree: ast.Module) -> list[str] | None:
    """The names in `__all__`; None where there is none."""
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            return list(ast.literal_eval(node.value))
    return None


def _defined(tree: ast.Module) -> list[str]:
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]


def _undocumented(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name.startswith("_"):
            continue
        if not ast.get_docstring(node):
            yield node.name
        if isinstance(node, ast.ClassDef):
            yield from (f"{node.name}.{method.name}" for method in node.body if _lacks_words(method))


def _lacks_words(method: ast.stmt) -> bool:
    return (
        isinstance(method, ast.FunctionDef)
        and not method.name.startswith("_")
        and not any(ast.unparse(mark).endswith((".setter", "overload", "override")) for mark in method.decorator_list)
        and not ast.get_docstring(method)
    )


def _is_typed(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return function.returns is not None and all(
        argument is None or argument.annotation is not None or argument.arg in ("self", "cls") for argument in named
    )
