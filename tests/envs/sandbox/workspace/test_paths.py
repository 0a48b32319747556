"""Which paths a workspace takes, tried before anything is opened."""

from __future__ import annotations

import os

import pytest

from workgym.envs.sandbox.paths import MAX_DEPTH, checked_path

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import strategies as st  # noqa: E402 - a plain user's suite does without it

NAMES = st.text(alphabet=st.sampled_from("ab.\0/ \né\udcff\ud800"), max_size=6) | st.text(max_size=300)
PATHS = st.lists(NAMES | st.sampled_from([".", "..", "", "~", "x" * 255, "x" * 256]), max_size=140).map("/".join)


@hypothesis.given(PATHS)
def test_what_is_let_through_cannot_leave_its_folder(path):
    try:
        parts = checked_path(path)
    except ValueError:
        return

    assert "/".join(parts) == path
    assert not {"", ".", ".."} & set(parts)
    assert os.path.normpath(os.path.join("/box", path)) == "/box/" + path
    assert "\0" not in path
    assert len(os.fsencode(path)) <= 4095
    assert max(len(os.fsencode(part)) for part in parts) <= 255


@hypothesis.given(st.lists(st.text("abc._- é\n\udc80", min_size=1, max_size=20), min_size=1, max_size=20))
def test_relative_paths_of_plain_names_are_let_through(names):
    names = [name + "x" for name in names]

    assert checked_path("/".join(names)) == tuple(names)


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("", "is empty"),
        ("/etc/passwd", "is absolute"),
        ("a\0b", "holds a NUL"),
        ("a//b", "has an empty part"),
        ("a/", "has an empty part"),
        ("./a", "has a part '.'"),
        ("a/../b", "has a part '..'"),
        ("..", "has a part '..'"),
        ("x" * 256, "has a part of more than 255 bytes"),
        ("é" * 128, "has a part of more than 255 bytes"),
        ("/".join(["x" * 255] * 17), "has more than 4095 bytes"),
        ("/".join(["x"] * (MAX_DEPTH + 1)), f"has more than {MAX_DEPTH} parts"),
        ("\ud800", "has a character that no file name can hold"),
    ],
)
def test_a_refusal_says_what_is_wrong(path, problem):
    with pytest.raises(ValueError, match="give a path relative to the workspace") as refused:
        checked_path(path)

    assert f"{path!r} {problem}" in str(refused.value)
