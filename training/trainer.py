"""One optimizer step on one batch."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import torch
from torch import Tensor

from workgym.agents.models import Attend, Llama
from workgym.tasks.errors import PolicyError
from workgym.tasks.naming import unknown_name
from workgym.training.batch import Batch, Layout
from workgym.training.losses.loss import LossSum, Targets, TokenLoss
from workgym.training.sharing import share_prompts

__all__ = ["PRECISIONS", "SCHEDULES", "Trainer", "TrainerConfig", "lr_at"]

SCHEDULES: Final = ("constant", "cosine", "linear")
PRECISIONS: Final = ("float32", "bfloat16")


@dataclass(frozen=True, slots=True)
class TrainerConfig:
    """How the weights are moved.

    Attributes:
        lr: peak learning rate.
        betas: AdamW's decay rates of the first and second moment.
        weight_decay: of matrices; norms are never decayed.
        eps: AdamW's.
        grad_clip: the gradient's norm is cut to this.
        schedule: "constant", "cosine" or "linear" (both down to `lr * lr_floor` at `total_steps`).
        warmup_steps: steps over which the rate rises linearly from 0.
        total_steps: where a falling schedule ends; 0 only with "constant".
        lr_floor: share of `lr` that is left at the end.
        temperature: divides the logits, as the engine's did when it sampled.
        max_tokens: most tokens of a micro-batch, padding included.
        share_prompts: compute a prompt once for all rows that begin with it.
        precision: "float32", or "bfloat16" for matrix products in bfloat16 on float32 weights.

    Raises:
        PolicyError: a value makes no sense.
    """

    lr: float = 3e-4
    betas: tuple[float, float] = (0.9, 0.95)
    weight_decay: float = 0.0
    eps: float = 1e-8
    grad_clip: float = 1.0
    schedule: str = "constant"
    warmup_steps: int = 0
    total_steps: int = 0
    lr_floor: float = 0.0
    temperature: float = 1.0
    max_tokens: int = 1536
    share_prompts: bool = False
    precision: str = "float32"

    def __post_init__(self) -> None:
        if self.schedule not in SCHEDULES:
            raise PolicyError(unknown_name("schedule", self.schedule, SCHEDULES))
        if self.precision not in PRECISIONS:
            raise PolicyError(unknown_name("precision", self.precision, PRECISIONS))
        if self.schedule != "constant" and self.total_steps <= self.warmup_steps:
            raise PolicyError(
                f"schedule {self.schedule!r} falls until total_steps, which is {self.total_steps}; set it above "
                f"warmup_steps, {self.warmup_steps}"
            )
        for name in ("temperature", "grad_clip", "max_tokens"):
            if not getattr(self, name) > 0:
                raise PolicyError(f"{name} {getattr(self, name)} is not above 0")
        if not self.lr >= 0:
            raise PolicyError(f"lr {self.lr} is negative or not a number")


def lr_at(config: TrainerConfig, step: int) -> float:
    """Learning rate of step `step`, counted from 0."""
    if step < config.warmup_steps:
        return config.lr * (step + 1) / config.warmup_steps
    if config.schedule == "constant":
        return config.lr
    done = min(1.0, (step - config.warmup_steps) / (config.total_steps - config.warmup_steps))
    left = 0.5 * (1 + math.cos(math.pi * done)) if config.schedule == "cosine" else 1 - done
    return config.lr * (config.lr_floor + (1 - config.lr_floor) * left)


class Trainer:
    """Moves a model's weights.

    A step either happens as a whole or not at all: a number that is not finite, in the batch, the loss, the
    log-probabilities or the gradient, raises before the optimizer is touched.

    Attributes:
        model: float32 master weights, changed in place.
        config: as given.
        n_steps: steps done.

    Args:
        model: to train.
        config: how.
    """

    def __init__(self, model: Llama, config: TrainerConfig) -> None:
        self.model: Final = model
        self.config: Final = config
        self.n_steps = 0
        self._parameters: Final = list(model.parameters())
        self._device: Final = self._parameters[0].device
        matrices = [parameter for parameter in self._parameters if parameter.dim() >= 2]
        vectors = [parameter for parameter in self._parameters if parameter.dim() < 2]
        self._optimizer: Final = torch.optim.AdamW(
            [{"params": matrices, "weight_decay": config.weight_decay}, {"params": vectors, "weight_decay": 0.0}],
            lr=config.lr,
            betas=config.betas,
            eps=config.eps,
            fused=True,
        )

    def step(self, batch: Batch, loss: TokenLoss) -> dict[str, float]:
        """Take one step.

        Args:
            batch: all that the step learns from; cut into micro-batches here.
            loss: a pure function of the predicted tokens.

        Returns:
            `loss` (per unit of weight), `grad_norm` (before clipping), `lr`, `tokens/action`, `tokens/fed`, and what
            the loss reports.

        Raises:
            PolicyError: nothing to learn from, or a number that is not finite, with the metric and the rollout.
                Weights, optimizer and step count are then as they were.
        """
        _check_batch(batch)
        # Counted before the first backward pass and over all micro-batches: the same gradient for any cut.
        denominator = float(batch.weight.sum(dtype=torch.float64))
        if not denominator > 0:
            raise PolicyError(
                f"a batch of {len(batch)} rows holds no token to learn from: weights sum to {denominator}"
            )
        if self.config.share_prompts:
            batch = share_prompts(batch, self.config.max_tokens)
        self.model.train()
        sums: dict[str, Tensor] = {}
        peaks: dict[str, Tensor] = {}
        try:
            for micro in batch.split(self.config.max_tokens):
                part = self._backward(micro, loss, denominator)
                for name, value in {"loss": part.total, **part.sums}.items():
                    sums[name] = sums[name] + value.double() if name in sums else value.double()
                for name, value in part.peaks.items():
                    peaks[name] = torch.maximum(peaks[name], value) if name in peaks else value
            grad_norm = self._clip(batch.rollout_ids)
            self._update()
        finally:
            self._optimizer.zero_grad(set_to_none=True)
        n_targets = batch.n_targets
        metrics = {name: float(value) / n_targets for name, value in sums.items()}
        metrics |= {name: float(value) for name, value in peaks.items()}
        return metrics | {
            "loss": float(sums["loss"]) / denominator,
            "grad_norm": grad_norm,
            "lr": lr_at(self.config, self.n_steps - 1),
            "tokens/action": float(n_targets),
            "tokens/fed": float(batch.n_tokens),
        }

    def targets(self, batch: Batch) -> Targets:
        """Log-probabilities of a batch's predicted tokens, row by row; call it under `no_grad` to look only."""
        wanted = batch.target.flatten().nonzero()[:, 0]
        with torch.autocast(self._device.type, torch.bfloat16, enabled=self.config.precision == "bfloat16"):
            hidden = self.model(batch.ids.to(self._device), self._attend(batch.layout), wanted.to(self._device))
            logits = self.model.logits(hidden)
        logps = torch.log_softmax(logits.float() / self.config.temperature, dim=-1)
        row, position = wanted // batch.ids.shape[1], wanted % batch.ids.shape[1]
        chosen = batch.ids[row, position + 1].to(self._device)
        with torch.no_grad():
            entropy = -(logps.exp() * logps).sum(dim=-1)

        def of_target(tensor: Tensor) -> Tensor:
            return tensor.flatten()[wanted].to(self._device)

        return Targets(
            logp=logps.gather(1, chosen[:, None])[:, 0],
            entropy=entropy,
            behavior_logp=of_target(batch.behavior_logp),
            advantage=of_target(batch.advantage),
            weight=of_target(batch.weight),
        )

    def _attend(self, layout: Layout | None) -> Attend | None:
        if layout is None:
            return None
        return Attend(layout.positions.to(self._device), layout.mask().to(self._device))

    def state_dict(self) -> dict[str, Any]:
        """All that a bitwise continuation needs: weights, optimizer, step count."""
        return {"model": self.model.state_dict(), "optimizer": self._optimizer.state_dict(), "n_steps": self.n_steps}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from what `state_dict` gave.

        Raises:
            PolicyError: it is of another model.
        """
        try:
            self.model.load_state_dict(state["model"])
            self._optimizer.load_state_dict(state["optimizer"])
        except (KeyError, RuntimeError, ValueError) as error:
            raise PolicyError(f"this trainer cannot continue from that state: {error}") from error
        self.n_steps = int(state["n_steps"])

    def _backward(self, micro: Batch, loss: TokenLoss, denominator: float) -> LossSum:
        """Add the gradient of one micro-batch."""
        targets = self.targets(micro)
        part = loss(targets)
        if not (torch.isfinite(part.total) and torch.isfinite(targets.logp).all()):
            raise PolicyError(_name_broken(micro, targets))
        (part.total / denominator).backward()  # type: ignore[no-untyped-call]
        return replace(part, total=part.total.detach())

    def _clip(self, rollout_ids: Sequence[str]) -> float:
        norm = float(torch.nn.utils.clip_grad_norm_(self._parameters, self.config.grad_clip))
        if not math.isfinite(norm):
            raise PolicyError(f"grad_norm is {norm} on a batch of the rollouts {_some(rollout_ids)}; no step was taken")
        return norm

    def _update(self) -> None:
        for group in self._optimizer.param_groups:
            group["lr"] = lr_at(self.config, self.n_steps)
        self._optimizer.step()
        self.n_steps += 1


def _check_batch(batch: Batch) -> None:
    """Refuse numbers that are not finite before anything is computed with them."""
    named = {"behavior_logp": batch.behavior_logp, "advantage": batch.advantage, "weight": batch.weight}
    for name, tensor in named.items():
        broken = (~torch.isfinite(tensor)).any(dim=1).nonzero()[:, 0].tolist()
        if broken:
            rollouts = [batch.rollout_ids[row] for row in broken]
            raise PolicyError(f"{name} is not finite in the rollouts {_some(rollouts)}; no step was taken")


def _name_broken(micro: Batch, targets: Targets) -> str:
    rows = micro.target.nonzero()[:, 0]
    broken = sorted(set(rows[~torch.isfinite(targets.logp.detach()).cpu()].tolist()))
    if not broken:
        return f"the loss is not finite on the rollouts {_some(micro.rollout_ids)}; no step was taken"
    rollouts = [micro.rollout_ids[row] for row in broken]
    return f"logp is not finite in the rollouts {_some(rollouts)}; no step was taken"


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:3])) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
