"""No program makes a fault of the machinery out of its own end: such an episode would not be scored."""

from __future__ import annotations

from workgym.envs.sandbox.protocol import Sandbox
from workgym.envs.sandbox.spec import PythonCode

LONG_S = 30.0

NAME_ITSELF = """
import ctypes
ctypes.CDLL(None).prctl(15, b"\\xff) \\xfe(\\n", 0, 0, 0)
"""
CHILD_NAMES_ITSELF = f"""
import os
if os.fork() == 0:
    {NAME_ITSELF.strip().splitlines()[0]}
    {NAME_ITSELF.strip().splitlines()[1]}
    while True: pass
os.wait()
"""


def test_a_name_that_is_no_text_hides_no_cpu_time(box: Sandbox) -> None:
    assert box.exec(PythonCode(NAME_ITSELF + "while True: pass"), timeout_s=LONG_S).status == "timeout_cpu"


def test_a_childs_name_that_is_no_text_hides_no_cpu_time(box: Sandbox) -> None:
    assert box.exec(PythonCode(CHILD_NAMES_ITSELF), timeout_s=LONG_S).status == "timeout_cpu"
