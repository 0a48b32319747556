"""The engine in this process: sampling in lock step, with keys and values kept between the turns of an episode."""

from __future__ import annotations

import copy
import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from workgym.agents.engines.decode import Decoding
from workgym.agents.engines.engine import Completion, Request, SamplingParams
from workgym.agents.engines.kv import KVBlock
from workgym.agents.engines.rows import Plan, RowTable
from workgym.agents.models import Attend, Llama
from workgym.tasks.errors import PolicyError

__all__ = ["LocalEngine"]

_PREFILL_TOKENS = 8192
"""Most tokens, filler included, that one prefill pass computes; bounds its memory."""

_COMPACT_BELOW = 0.9
"""Rows that have stopped are moved out of the way once fewer than this share of a pass still samples."""


class LocalEngine:
    """Samples from a copy of a model.

    All rows of a call advance together, one token a pass, so the same requests after the same history give the same
    bits. What is sampled for a request does not depend on the others; the last bits of its log-probabilities may, as
    matrix kernels add in an order that depends on the number of rows.

    A context may grow to `max_len` tokens: a turn that reaches it finishes with "length"; a request whose context is
    that long already gets no token and "length".

    Args:
        model: is copied; later changes of it are seen through `publish` alone.
        max_rows: episodes whose keys and values are kept at once, and rows of a pass; more requests are sampled in
            waves, and the episodes longest unused are computed anew when they come back.
        max_len: longest context in tokens; 0 for the model's longest.
        version: version of the model's weights.
        dtype: precision of the copy. In bfloat16 a large model samples twice as fast, and its log-probabilities are off
            by a few hundredths: a trainer then needs the ratio to what was sampled.

    Raises:
        PolicyError: `max_len` is above what the model's positions allow.
    """

    def __init__(
        self,
        model: Llama,
        *,
        max_rows: int = 128,
        max_len: int = 0,
        version: int = 0,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        longest = model.config.max_positions
        if not 0 <= max_len <= longest or max_rows < 1:
            raise PolicyError(
                f"max_len {max_len} with {max_rows} rows: the model's contexts hold 1 to {longest} tokens"
            )
        self.max_rows, self.max_len = max_rows, max_len or longest
        self._model = copy.deepcopy(model).cast_(dtype).eval().requires_grad_(False)
        self._device = next(model.parameters()).device
        self._rows = RowTable(max_rows)
        # One position more than a context has: rows that have stopped write there until they are moved away.
        self._block = KVBlock(model.config, max_rows, self.max_len + 1, self._device, dtype)
        self._version = version
        self._lock = threading.Lock()

    @property
    def version(self) -> int:
        """Version of the weights."""
        return self._version

    def sample(self, requests: Sequence[Request], params: SamplingParams, stop_ids: Sequence[int]) -> list[Completion]:
        """Sample one turn for each request.

        Raises:
            PolicyError: an empty context, an id outside the vocabulary, an episode twice, no token allowed; or
                probabilities that are not finite, after which nothing computed so far is kept.
        """
        self._check(requests)
        completions = [Completion((), (), self._version, "length")] * len(requests)
        fitting = [i for i, request in enumerate(requests) if len(request.ids) < self.max_len]
        with self._lock, torch.inference_mode():
            for first in range(0, len(fitting), self.max_rows):
                wave = fitting[first : first + self.max_rows]
                with self._dropping_on_failure():
                    sampled = self._sample_wave([requests[i] for i in wave], params, stop_ids)
                for i, completion in zip(wave, sampled, strict=True):
                    completions[i] = completion
        return completions

    def publish(self, weights: Mapping[str, Tensor], version: int) -> None:
        """Take over new weights; waits for a sample in progress; stored keys and values are dropped.

        Raises:
            PolicyError: the version does not rise, or the weights do not fit the model.
        """
        with self._lock, torch.no_grad():
            if version <= self._version:
                raise PolicyError(f"version {version} was published after {self._version}; versions must rise")
            own = self._model.state_dict()
            if own.keys() != weights.keys() or any(own[name].shape != weights[name].shape for name in own):
                raise PolicyError("the published weights are of another model: names or shapes differ")
            for name, tensor in own.items():
                tensor.copy_(weights[name])
            self._version = version
            self._rows.drop_stored()

    def forget(self, rollout_ids: Sequence[str]) -> None:
        """Free the rows of episodes that have ended."""
        with self._lock:
            self._rows.free(rollout_ids)

    def n_stored(self, rollout_id: str) -> int:
        """How many tokens of an episode need not be computed again."""
        return self._rows.n_stored(rollout_id)

    @contextmanager
    def _dropping_on_failure(self) -> Iterator[None]:
        """A wave that failed half-way leaves rows that the table does not describe, and perhaps a NaN.

        A NaN would reach later rows even from masked positions.
        """
        try:
            yield
        except BaseException:
            self._rows.drop_stored()
            self._block.clear()
            raise

    def _check(self, requests: Sequence[Request]) -> None:
        vocab = self._model.config.vocab
        if len({request.rollout_id for request in requests}) != len(requests):
            raise PolicyError("two requests are of the same episode; an episode samples one turn at a time")
        for request in requests:
            if not request.ids or request.max_tokens < 1:
                raise PolicyError(
                    f"episode {request.rollout_id!r} feeds {len(request.ids)} tokens and may sample "
                    f"{request.max_tokens}; both must be at least 1"
                )
            if not 0 <= min(request.ids) <= max(request.ids) < vocab:
                raise PolicyError(
                    f"episode {request.rollout_id!r} feeds a token id outside 0 to {vocab - 1}: "
                    "its ids are of another tokenizer"
                )

    def _sample_wave(
        self, requests: Sequence[Request], params: SamplingParams, stop_ids: Sequence[int]
    ) -> list[Completion]:
        plan = self._rows.plan(requests)
        if plan.sources:
            sources = torch.tensor(plan.sources, device=self._device)
            self._block.copy(sources, torch.tensor(plan.targets, device=self._device), plan.moved_length)
        ordered = [requests[i] for i in plan.order]
        decoding = self._decode(ordered, self._prefill(plan), params, stop_ids)
        completions: list[Completion] = [Completion((), (), self._version, "")] * len(requests)
        stored: list[list[int]] = []
        for i, request, (ids, logps) in zip(plan.order, ordered, decoding.results(), strict=True):
            if not all(map(math.isfinite, logps)):
                raise PolicyError(
                    f"the log-probabilities in episode {request.rollout_id!r}, turn {request.turn}, are not finite: "
                    f"the weights of version {self._version} are broken; go back to an earlier checkpoint"
                )
            finish = "stop" if ids[-1] in stop_ids else "length"
            completions[i] = Completion(tuple(ids), tuple(logps), self._version, finish)
            # The last sampled token was chosen and never fed: its keys and values come with the next turn.
            stored.append([*request.ids, *ids[:-1]])
        self._rows.settle(stored, decoding.request_of.tolist(), [request.rollout_id for request in ordered])
        return completions

    def _prefill(self, plan: Plan) -> Tensor:
        """Compute what is not stored yet; return the logits after each context [n, V], in the plan's order."""
        parts: list[Tensor] = []
        for start, stop in _chunks([len(new) for new in plan.new], _PREFILL_TOKENS):
            parts.append(self._prefill_rows(plan, start, stop))
        logits = self._model.logits(torch.cat(parts))
        if plan.copied_from:
            n_computed = len(plan.new)
            sources = torch.tensor(plan.copied_from, device=self._device)
            targets = torch.arange(n_computed, n_computed + len(sources), device=self._device)
            self._block.copy(sources, targets, plan.copied_length)
            logits = torch.cat((logits, logits[sources]))
        return logits

    def _prefill_rows(self, plan: Plan, start: int, stop: int) -> Tensor:
        """Hidden states of the last new token of the rows `start` to `stop` [B, d_model]."""
        new = plan.new[start:stop]
        width = max(map(len, new))
        ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in new], device=self._device)
        n_new = torch.tensor([len(row) for row in new], device=self._device)[:, None]
        begin = torch.tensor(plan.n_kept[start:stop], device=self._device)[:, None]
        steps = torch.arange(width, device=self._device)[None]
        positions = (begin + steps).clamp(max=self.max_len - 1)
        length = max(kept + len(row) for kept, row in zip(plan.n_kept[start:stop], new, strict=True))
        self._block.reserve(length)
        store = self._block.window(start, stop, length, positions, steps < n_new)
        mask = torch.arange(length, device=self._device) <= positions[:, None, :, None]
        last = torch.arange(len(new), device=self._device) * width + n_new[:, 0] - 1
        return self._model(ids, Attend(positions, mask, store), last)  # type: ignore[no-any-return]

    def _decode(
        self, requests: Sequence[Request], logits: Tensor, params: SamplingParams, stop_ids: Sequence[int]
    ) -> Decoding:
        """Sample until every row has stopped; the rows are the first of the block, in the order of the requests.

        Rows that have stopped stay in the pass until they are too many: what they write then lies behind their context,
        where nothing looks before it is overwritten.
        """
        decoding = Decoding(requests, self.max_len, stop_ids, self._device)
        longest = max(len(request.ids) for request in requests)
        while True:
            chosen = decoding.take(logits, params)
            n_active = int(decoding.active.sum())
            if not n_active:
                return decoding
            length = min(longest + decoding.step, self.max_len + 1)
            if n_active <= _COMPACT_BELOW * len(decoding.active):
                sources, targets = decoding.swap()
                self._block.copy(sources, targets, length)
                chosen[targets] = chosen[sources]
                chosen = chosen[:n_active]
            logits = self._step(chosen, decoding.positions().clamp(max=self.max_len), length)

    def _step(self, chosen: Tensor, positions: Tensor, length: int) -> Tensor:
        """Feed one token to each of the first rows; chosen [B], positions [B, 1]; returns logits [B, V]."""
        self._block.reserve(length)
        store = self._block.window(0, len(chosen), length, positions)
        mask = torch.arange(length, device=self._device) <= positions[:, :, None, None]
        attend = Attend(positions.clamp(max=self.max_len - 1), mask, store)
        return self._model.logits(self._model(chosen[:, None], attend)[:, 0])


def _chunks(widths: Sequence[int], most: int) -> list[tuple[int, int]]:
    """Cut rows into runs whose number times their greatest width is at most `most`, or one row."""
    chunks: list[tuple[int, int]] = []
    start = widest = 0
    for i, width in enumerate(widths):
        widest = max(widest, width)
        if i > start and widest * (i + 1 - start) > most:
            chunks.append((start, i))
            start, widest = i, width
    return [*chunks, (start, len(widths))]
