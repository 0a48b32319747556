"""What tests need of the machine: a part that is missing skips the test, or fails it where the part was required.

WORKGYM_REQUIRE_BACKENDS=local,...   sandbox backends that must work
WORKGYM_REQUIRE_EXTRAS=train,...     extras that must be installed
WORKGYM_REQUIRE_BROWSER=1             a browser must be there; WORKGYM_CHROMIUM names one
WORKGYM_TEST_DATA=FOLDER             real data for importers; default ../shared/data beside the repository
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

# Two workers share two cores: libraries that start a thread for each core would only be in each other's way. They read
# this when they are loaded, so it is set before any test is.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# A loaded machine makes any example slow; the same examples in every run make a failure worth reading.
hypothesis.settings.register_profile("workgym", deadline=None, derandomize=True, database=None, print_blob=False)
hypothesis.settings.load_profile("workgym")


@functools.cache
def _what_is_missing(part: str) -> str:
    """The doctor's words on a part of this machine; "" where it works."""
    from workgym.commands.doctor import explain
    from workgym.commands.machine import look_at

    seen = look_at(part)
    return explain(seen) if seen.state == "missing" else ""


def _required(variable: str) -> list[str]:
    return [name for name in os.environ.get(variable, "").split(",") if name]


def _demand(part: str, variable: str) -> None:
    missing = _what_is_missing(part)
    if missing and {part, "1"} & set(_required(variable)):
        pytest.fail(f"{variable} requires it: {missing}")
    if missing:
        pytest.skip(missing)


@pytest.fixture(scope="session")
def require_backend() -> Callable[[str], None]:
    """`require_backend("local")` goes on only where that sandbox works."""
    return lambda name: _demand(name, "WORKGYM_REQUIRE_BACKENDS")


@pytest.fixture(scope="session")
def require_extra() -> Callable[[str], None]:
    """`require_extra("train")` goes on only where that extra is installed."""
    return lambda name: _demand(name, "WORKGYM_REQUIRE_EXTRAS")


@pytest.fixture(scope="session")
def require_browser() -> Callable[[], str]:
    """`require_browser()` is the path of a browser, and goes on only where there is one."""

    def find() -> str:
        from workgym.commands.machine import find_browser

        _demand("browser", "WORKGYM_REQUIRE_BROWSER")
        return find_browser()

    return find


@pytest.fixture(scope="session")
def data_folder(pytestconfig: pytest.Config) -> Path:
    """Where real data lies, if there is any."""
    return Path(os.environ.get("WORKGYM_TEST_DATA", pytestconfig.rootpath / ".." / "shared" / "data"))


@pytest.fixture(scope="session")
def test_data(data_folder: Path) -> Callable[[str], Path]:
    """`test_data("humaneval")` is that folder of real data; the test skips where it is absent."""

    def find(name: str) -> Path:
        if not (data_folder / name).exists():
            pytest.skip(f"no {name} in {data_folder}. WORKGYM_TEST_DATA names the folder that holds it.")
        return (data_folder / name).resolve()

    return find
