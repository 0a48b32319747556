"""Sentences of filings: none of them tells an amount, or which way one went.

In a sentence, "[a|b]" stands for one of several wordings, and "{company}" and the like for what a structure tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from workgym.tasks.finance.structure import Structure

__all__ = ["Prose"]

_CHOICE: Final = re.compile(r"\[([^\[\]]*)\]")
_TRADES: Final = {
    "Systems": "control systems",
    "Industries": "industrial components",
    "Foods": "packaged foods",
    "Devices": "medical and measuring devices",
    "Logistics": "freight and storage services",
    "Materials": "coatings and composite materials",
    "Instruments": "laboratory instruments",
    "Brands": "household and personal products",
}
_COASTS: Final = ("Harbor", "Market", "Foundry", "Mill", "Orchard", "Station", "Canal", "Summit")


class Prose:
    """Writes the paragraphs of one filing; no sentence of a pool comes twice.

    Args:
        structure: whose filing it is; its seed decides the words.
        level: of the filing.
    """

    def __init__(self, structure: Structure, level: int) -> None:
        self._rng: Final = np.random.default_rng([structure.seed, level, 3])
        self._words: Final[Mapping[str, str]] = {
            "company": structure.company,
            "year": structure.years[-1],
            "before": structure.years[-2],
            "year_end": structure.year_end,
            "goods": next(goods for trade, goods in _TRADES.items() if f" {trade} " in f" {structure.company} "),
            "segments": f"{', '.join(structure.segments[:-1])} and {structure.segments[-1]}",
            "segment": structure.segments[int(self._rng.integers(len(structure.segments)))],
            "street": _COASTS[int(self._rng.integers(len(_COASTS)))],
        }

    def sentence(self, template: str) -> str:
        """One sentence."""
        return _CHOICE.sub(self._chosen, template).format_map(self._words)

    def paragraphs(self, pool: Sequence[str], most: int = 1_000) -> Iterator[str]:
        """Paragraphs of the sentences of a pool in some order, up to so many."""
        order = [pool[int(number)] for number in self._rng.permutation(len(pool))]
        place = 0
        for _ in range(most):
            size = int(self._rng.integers(3, 6))
            if place >= len(order):
                return
            yield " ".join(self.sentence(template) for template in order[place : place + size])
            place += size

    def _chosen(self, match: re.Match[str]) -> str:
        choices = match[1].split("|")
        return choices[int(self._rng.integers(len(choices)))]
