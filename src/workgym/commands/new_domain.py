"""`workgym new-domain`: write a package with a small domain, to start one's own from."""

from __future__ import annotations

import importlib.util
import keyword
import re
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Annotated, Final

import typer

from workgym.envs.registration import known_domains
from workgym.tasks.task import Task

__all__ = ["new_domain"]

_MAX_CHARS: Final = 60
"""Of a name: it stands in those of files and folders, and in the lines of the code that is written."""

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
        OSError: the folder is there already, or cannot be written; then nothing is left of it.
    """
    words = _words_of(name)
    folder = out or Path(name)
    texts = {
        folder / Template(path).substitute(words): Template(_template(template)).substitute(words)
        for path, template in _FILES.items()
    }
    try:
        if folder.exists() or folder.is_symlink():
            raise FileExistsError(0, "it is there already")
        _write(folder, texts)
    except OSError as error:
        why = error.strerror or error
        raise type(error)(f"{folder}: {why}, and nothing was written. Name another folder with --out.") from error
    print(f"{folder} holds {words['env_id']}: {words['module']}.py is the domain. Try it:")
    print(f"  cd {folder} && python -m pytest")
    print(f"  pip install --editable {folder} && workgym list environments")


def _template(name: str) -> str:
    return (files("workgym") / "domain_template" / name).read_text(encoding="utf-8")


def _write(folder: Path, texts: Mapping[Path, str]) -> None:
    """Write files into a new folder: all of them, or nothing, the folders above it included.

    Raises:
        OSError: they cannot be written.
    """
    new = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        for above in new[1:]:
            with suppress(OSError):  # it was not made, or somebody else has put something into it
                above.rmdir()
        raise


def _words_of(name: str) -> Mapping[str, str]:
    """What stands in the place of the templates' words.

    Raises:
        ValueError: the name cannot be a package's, or is taken.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} names no package: lower-case letters and digits, in words with hyphens: word-puzzles"
        )
    if len(name) > _MAX_CHARS:
        raise ValueError(f"a name of {len(name)} characters is too long: {_MAX_CHARS} at most")
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
