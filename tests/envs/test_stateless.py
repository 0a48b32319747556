"""A session that holds nothing but its task."""

from __future__ import annotations

import numpy as np
import pytest

from workgym.envs.calculator.session import CalculatorSession
from workgym.envs.stateless import StatelessSession
from workgym.tasks.calculator.source import CalculatorTasks

ONE, OTHER = (CalculatorTasks().sample(level, np.random.default_rng(0)) for level in (1, 2))


def test_what_is_submitted_is_all_that_is_judged() -> None:
    attempt = StatelessSession(ONE).attempt("7")
    assert (attempt.task_id, attempt.submission, attempt.files, attempt.state) == (ONE.id, "7", {}, {})


def test_a_snapshot_of_the_same_task_is_taken_back_and_one_of_another_is_refused() -> None:
    snapshot = StatelessSession(ONE).snapshot()
    assert snapshot is not None
    StatelessSession(ONE).restore(snapshot)
    with pytest.raises(ValueError, match=r"the snapshot is of task .*, this session of "):
        StatelessSession(OTHER).restore(snapshot)


def test_what_is_forked_goes_on_after_its_origin_was_closed() -> None:
    session = CalculatorSession(ONE)
    left, right = session.fork(2)
    session.close()
    left.tools.do("calculate 1+2")
    assert left.observe() == right.observe() == CalculatorSession(ONE).observe()
    assert right.tools.do("calculate 2+3") == "2+3 = 5"
