"""A grader as it must not be: it runs what was submitted in its own process, and says there how it went.

`python naive_grader.py REQUEST.json` with `{"expression", "cases"}` or `{"solution", "prompt", "entry_point", "test"}`.
It prints a line of JSON and PASSED, or ends with an AssertionError. The tests keep it to show that a hack would pay.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def judge_expression(request: dict[str, Any]) -> None:
    cases = request["cases"]
    values = [eval(request["expression"], {"x": x}) for x, _ in cases]
    wanted = [value for _, value in cases]
    assert all(value == right for value, right in zip(values, wanted, strict=True))


def judge_function(request: dict[str, Any]) -> None:
    namespace: dict[str, Any] = {}
    exec(request["test"], namespace)
    exec(request["prompt"], namespace)
    exec(request["solution"], namespace)
    namespace["check"](namespace[request["entry_point"]])


def main() -> None:
    with open(sys.argv[1]) as file:
        request = json.load(file)
    results: list[str] = []
    try:
        (judge_expression if "expression" in request else judge_function)(request)
        results.append("passed")
    except Exception as error:  # noqa: BLE001 - SystemExit escapes it, which is one of its faults
        results.append(type(error).__name__)
    passed = results[0] == "passed"
    print(json.dumps({"passed": passed}))
    assert passed
    print("PASSED")


if __name__ == "__main__":
    main()
