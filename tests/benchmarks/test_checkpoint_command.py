"""`workgym eval --agent checkpoint:PATH`: a model is evaluated, archived, shown and judged again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import toy_domain

from workgym.agents.archive import Archive
from workgym.agents.records import fingerprint
from workgym.agents.surroundings import Surroundings, write_surroundings
from workgym.cli import main

assert toy_domain.make, "importing it registers Toy-v0"


@pytest.fixture(scope="module")
def checkpoint(require_extra: Callable[[str], None], tmp_path_factory: pytest.TempPathFactory) -> Path:
    require_extra("train")
    import torch

    from workgym.agents.models import Llama, LlamaConfig
    from workgym.agents.policies.model import save_policy
    from workgym.agents.tokenizer import CharTokenizer

    tokenizer = CharTokenizer()
    torch.set_num_threads(1)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = Llama(LlamaConfig(tokenizer.n_ids, d_model=16, n_layers=1, n_heads=2, d_ff=16, max_positions=256))
    folder = tmp_path_factory.mktemp("run") / "untrained"
    save_policy(model, tokenizer, folder)
    return folder


def evaluate(checkpoint: Path, out: Path, options: str = "") -> None:
    line = f"eval --agent checkpoint:{checkpoint} --env Toy-v0 --n 3 --max-turn-tokens 12 --out {out} {options}"
    with pytest.raises(SystemExit) as end:
        main(line.split())
    assert end.value.code == 0


def fingerprints(out: Path) -> list[str]:
    with Archive.open(out / "archive") as archive:
        return [fingerprint(one) for one in archive]


def test_a_model_is_evaluated_and_its_tokens_are_counted(checkpoint: Path, tmp_path: Path) -> None:
    evaluate(checkpoint, tmp_path)
    total = json.loads((tmp_path / "report.json").read_text())["total"]
    assert (total["n_valid"], total["n_invalid"]) == (3, 0)
    with Archive.open(tmp_path / "archive") as archive:
        episodes = list(archive)
    assert total["tokens_out"] == pytest.approx(sum(sum(one.action) for one in episodes) / 3)
    assert all(0 < step.stop - step.start <= 12 for one in episodes for step in one.steps)
    assert {one.policy for one in episodes} == {"untrained"}


@pytest.mark.parametrize("options", ["--temperature 1", "--temperature 0"])
def test_an_evaluation_of_a_model_can_be_repeated_exactly(checkpoint: Path, tmp_path: Path, options: str) -> None:
    evaluate(checkpoint, tmp_path / "one", options)
    evaluate(checkpoint, tmp_path / "two", options)
    assert fingerprints(tmp_path / "one") == fingerprints(tmp_path / "two")


def test_the_temperature_and_the_seed_reach_the_model(checkpoint: Path, tmp_path: Path) -> None:
    for name, options in {"a": "", "b": "--temperature 0", "c": "--seed 5"}.items():
        evaluate(checkpoint, tmp_path / name, options)
    assert not set(fingerprints(tmp_path / "a")) & set(fingerprints(tmp_path / "b"))
    assert not set(fingerprints(tmp_path / "a")) & set(fingerprints(tmp_path / "c"))


def test_an_archived_model_is_shown_and_judged_again(
    checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluate(checkpoint, tmp_path)
    capsys.readouterr()
    for line in (f"archive show {tmp_path} eval/00001", f"archive regrade {tmp_path}"):
        with pytest.raises(SystemExit) as end:
            main(line.split())
        assert end.value.code == 0
    out = capsys.readouterr().out
    assert "12 tokens, length" in out
    assert "3 verdicts came out the same, 0 did not" in out


def test_a_folder_that_is_no_checkpoint_is_answered_in_a_line(
    checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["eval", "--agent", f"checkpoint:{checkpoint.parent}", "--env", "Toy-v0", "--out", str(tmp_path)])
    assert end.value.code == 2
    err = capsys.readouterr().err
    assert str(checkpoint.parent) in err
    assert "Traceback" not in err


def test_a_checkpoint_plays_where_it_was_trained_unless_told_otherwise(checkpoint: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(checkpoint, run / "model")
    write_surroundings(Surroundings("Toy-v0", {"turns": 2}, 7), run / "model")
    for name, options in {"home": "", "away": "--set turns=1 --max-turn-tokens 5"}.items():
        with pytest.raises(SystemExit) as end:
            main(f"eval --agent checkpoint:{run} --n 2 --out {tmp_path / name} {options}".split())
        assert end.value.code == 0
    settings = [json.loads((tmp_path / name / "report.json").read_text())["settings"] for name in ("home", "away")]
    assert [one["max_turn_tokens"] for one in settings] == [7, 5]
    assert [one["suite"]["tasks"][0]["env"] for one in settings] == ["Toy-v0", "Toy-v0"]
    assert [one["suite"]["tasks"][0]["kwargs"] for one in settings] == [{"turns": 2}, {"turns": 1}]
