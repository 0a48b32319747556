"""`workgym new-domain`: write a package with a small domain, to start one's own from."""

from __future__ import annotations

import importlib.util
import keyword
import re
import sys
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Annotated, Final

import typer

from workgym.envs.registration import known_domains
from workgym.tasks.task import Task

__all__ = ["new_domain"]

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_FILES: Final = {
    "pyproject.toml": "pyproject.toml.txt",
    "README.md": "README.md.txt",
    "$module.py": "domain.py.txt",
    "tests/test_domain.py": "test_domain.py.txt",
}
"""What is written -> its template in `workgym/domain_template`. Templates end in .txt: they are no code yet."""


def new_domain(
    name: Annotated[str, typer.Argument(help="Lower-case words with hyphens: word-puzzles.")],
    out: Annotated[Path | None, typer.Option("--out", help="The folder to write; ./NAME if left out.")] = None,
) -> None:
    """Write a package with a small domain, to start your own from; its tests pass as written.

    Raises:
        ValueError: the name cannot be a package's, or is taken.
        FileExistsError: the folder is there already.
    """
    words = _words_of(name)
    folder = out or Path(name)
    if folder.exists() or folder.is_symlink():
        raise FileExistsError(f"{folder} is there already, and nothing was written. Name another folder with --out.")
    for path, template in _FILES.items():
        text = (files("workgym") / "domain_template" / template).read_text(encoding="utf-8")
        target = folder / Template(path).substitute(words)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(Template(text).substitute(words), encoding="utf-8")
    print(f"{folder} holds {words['env_id']}: {words['module']}.py is the domain. Try it:")
    print(f"  cd {folder} && python -m pytest")
    print(f"  pip install --editable {folder} && workgym list environments")


def _words_of(name: str) -> Mapping[str, str]:
    """What stands in the place of the templates' words.

    Raises:
        ValueError: the name cannot be a package's, or is taken.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} names no package: lower-case letters and digits, in words with hyphens: word-puzzles"
        )
    module = name.replace("-", "_")
    env_id = "".join(word.capitalize() for word in name.split("-")) + "-v0"
    if keyword.iskeyword(module) or module == "tests" or _is_a_module(module):
        raise ValueError(f"{name!r} is taken: Python knows {module!r} as something else already. Choose another name.")
    for plugin in known_domains():
        if plugin.env_id.lower() == env_id.lower():
            raise ValueError(
                f"{name!r} is taken: the package {plugin.distribution} brings {plugin.env_id}. Choose another name."
            )
    return {"name": name, "module": module, "env_id": env_id, "golden": _golden(name)}


def _is_a_module(name: str) -> bool:
    """Whether a module of this name can be imported, which the new one would hide or be hidden by."""
    spec = importlib.util.find_spec(name)
    return name in sys.stdlib_module_names or (spec is not None and spec.origin is not None)


def _golden(name: str) -> str:
    """The content hash of the task that the template's test knows by heart."""
    return Task(
        id=f"{name}-2-cat",
        domain=name,
        family="backwards",
        level=2,
        split="",
        prompt="Write backwards: cat",
        structure="cat",
        public={"word": "cat"},
        hidden={"answer": "tac"},
    ).content_hash()
