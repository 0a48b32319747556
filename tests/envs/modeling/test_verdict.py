"""What a part is worth."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import made_meshes as made
import plates
import pytest
from plates import ReaderPools, attempt, plate, plate_task, ply, stl

from workgym.envs.modeling.examine import PartFindings
from workgym.envs.modeling.layers import LAYERS
from workgym.envs.modeling.scorer import Scorer
from workgym.envs.sandbox.protocol import SandboxPool
from workgym.envs.verify import Attempt, Verdict, check_layers, judge
from workgym.tasks.errors import VerifierError
from workgym.tasks.task import Task

Judge = Callable[..., Verdict]


@pytest.fixture
def judged(reader_pool: SandboxPool, scorer: Scorer) -> Judge:
    def judged(data: bytes | None, name: str = "out.stl", task: Task | None = None) -> Verdict:
        return judge(LAYERS, PartFindings(attempt(data, name), task or plate_task(), ReaderPools(reader_pool), scorer))

    return judged


def test_the_weights_of_the_layers_are_whole() -> None:
    check_layers(LAYERS)


@pytest.mark.parametrize("segments", [64, 128])
def test_the_exact_plate_is_worth_all_of_it(judged: Judge, segments: int) -> None:
    verdict = judged(stl(plate(segments=segments)))
    assert (verdict.reward, verdict.success) == (1.0, True)


def test_stl_and_ply_of_one_part_are_worth_the_same(judged: Judge) -> None:
    part = plate(hole=5.0)
    assert judged(ply(part), "out.ply").reward == pytest.approx(judged(stl(part)).reward, abs=1e-3)
    assert judged(ply(plate()), "out.ply").success


@pytest.mark.parametrize("name", ["block", "hull", "input", "nothing", "no triangle"])
def test_what_is_to_be_had_without_work_is_worth_nothing(judged: Judge, name: str) -> None:
    given = stl(plate(hole=3.0))
    data = {
        "block": stl(plate(hole=0, fillet=0)),
        "hull": stl(plate(hole=0)),
        "input": given,
        "nothing": None,
        "no triangle": bytes(84),
    }[name]
    verdict = judged(data, task=plate_task(given if name == "input" else b""))
    assert (verdict.reward, verdict.success) == (0.0, False)


def test_two_artifacts_or_one_of_another_name_are_none(reader_pool: SandboxPool, scorer: Scorer) -> None:
    right = stl(plate())
    for files in ({"out.stl": right, "out.ply": ply(plate())}, {"out.obj": right}, {"../out.stl": right}):
        found = PartFindings(Attempt("plate-1", files=files), plate_task(), ReaderPools(reader_pool), scorer)
        assert judge(LAYERS, found).reward == 0.0


def test_near_misses_are_worth_less_the_worse_they_are(judged: Judge) -> None:
    parts = [plate(), plate(fillet=0), plate(shift=1.0), plate(hole=5.0), plate(hole=0)]
    verdicts = [judged(stl(part)) for part in parts]
    rewards = [verdict.reward for verdict in verdicts]
    assert rewards == sorted(rewards, reverse=True), rewards
    assert len(set(rewards)) == len(rewards)
    assert [verdict.success for verdict in verdicts] == [True, False, False, False, False]


def test_a_part_turned_half_around_is_the_same_and_another_turn_or_scale_is_not(judged: Judge) -> None:
    assert judged(stl(plate(turn=180))).reward == 1.0
    for other in (plate(turn=90), plate(scale=1.01), plate(move=1.0), plate(scale=1 / 25.4)):
        assert not judged(stl(other)).success


@pytest.mark.parametrize("wrong", [{"hole": 4.1}, {"hole": 3.9}, {"shift": 0.15}, {"fillet": 5.6}])
def test_a_feature_off_by_twice_its_tolerance_is_no_success(judged: Judge, wrong: dict[str, float]) -> None:
    assert not judged(stl(plate(**wrong))).success


def test_a_feature_within_its_tolerance_is_a_success(judged: Judge) -> None:
    assert judged(stl(plate(hole=4.02))).success


_SCRIPT = """
import json, sys
from dataclasses import asdict
sys.path.insert(0, sys.argv[1])
import plates
from workgym.envs.modeling.examine import PartFindings
from workgym.envs.modeling.layers import LAYERS
from workgym.envs.modeling.reader import READER_SANDBOX
from workgym.envs.modeling.scorer import Scorer
from workgym.envs.sandbox.pool import open_pool
from workgym.envs.verify import judge
scorer = Scorer()
with open_pool("local", READER_SANDBOX) as pool:
    for _ in range(10):
        pools = plates.ReaderPools(pool)
        data = plates.stl(plates.plate(hole=5.0, segments=60))
        found = PartFindings(plates.attempt(data), plates.plate_task(), pools, scorer)
        print(json.dumps(asdict(judge(LAYERS, found)), sort_keys=True))
scorer.close()
"""


def test_ten_judgements_in_each_of_two_processes_are_equal_to_the_bit(judged: Judge) -> None:
    mine = [json.dumps(asdict(judged(stl(plate(hole=5.0, segments=60)))), sort_keys=True) for _ in range(10)]
    here = str(Path(__file__).parent)
    other = subprocess.run([sys.executable, "-c", _SCRIPT, here], capture_output=True, text=True, check=True)
    assert len(set(mine + other.stdout.split("\n")[:10])) == 1


def test_a_corrupted_truth_makes_the_right_part_wrong(judged: Judge) -> None:
    task = plate_task()
    task.hidden["tree"]["steps"][1]["shape"]["radius_start"] = 6.0
    task.hidden["tree"]["steps"][1]["shape"]["radius_end"] = 6.0
    assert not judged(stl(plate()), task=task).success


def test_a_task_that_cannot_be_told_from_its_block_is_a_fault_of_the_task(judged: Judge) -> None:
    task = plate_task()
    task.hidden["groups"][:] = task.hidden["groups"][:1]
    with pytest.raises(VerifierError, match="cannot be judged"):
        judged(stl(plate()), task=task)


def test_the_words_of_a_verdict_give_no_hidden_number_away(judged: Judge) -> None:
    words = " ".join(check.detail for check in judged(stl(plate(hole=4.5))).checks)
    assert not any(secret in words for secret in ("57785", "radius", "holes"))


def test_a_part_of_another_number_of_solids_is_worth_nothing(judged: Judge) -> None:
    crumb = made.moved(made.box((0, 0, 0), (0.5, 0.5, 0.5)), (20, 20, 20))
    assert judged(stl(made.joined(plate(), crumb))).reward == 0.0
    assert plates.SIZE[2] == 10.0
