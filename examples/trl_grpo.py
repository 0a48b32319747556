"""TRL's GRPOTrainer taking its reward from a workgym domain: the environment asks and judges, TRL trains.

A tiny random Llama sees a sum and writes one character, which is submitted as its answer: with more it would hardly
ever be right. Two steps teach it nothing; put a real model in its place, and more characters and steps.

    pip install 'workgym[train,bench]' && python examples/trl_grpo.py
"""

from __future__ import annotations

import tempfile

import gymnasium as gym
import torch
from datasets import Dataset
from tokenizers import Regex, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

import workgym  # noqa: F401 - importing it registers the ids

N_TASKS = 16


def tiny_model() -> tuple[LlamaForCausalLM, PreTrainedTokenizerFast]:
    """A random model of characters."""
    vocab = {token: i for i, token in enumerate(["<pad>", "<end>", "<unk>", *"0123456789+-*()"])}
    characters = Tokenizer(WordLevel(vocab, unk_token="<unk>"))
    characters.pre_tokenizer = Split(Regex("."), "isolated")
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=characters, pad_token="<pad>", eos_token="<end>", unk_token="<unk>", padding_side="left"
    )
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(vocab), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        pad_token_id=0, eos_token_id=1, bos_token_id=None,
    )  # fmt: skip
    return LlamaForCausalLM(config), tokenizer


def main() -> None:
    env = gym.make("Calculator-v0", level=1, style="short")

    def ask(seed: int) -> dict[str, str]:
        observation, info = env.reset(seed=seed)
        return {"prompt": observation, "task_id": info["task_id"]}

    def reward(completions: list[str], task_id: list[str], **_: object) -> list[float | None]:
        """What the environment says to each answer; None, which TRL leaves out, where infrastructure failed."""
        rewards: list[float | None] = []
        for completion, one in zip(completions, task_id, strict=True):
            env.reset(options={"task_id": one})
            _, paid, _, _, info = env.step({"name": "submit", "arguments": {"answer": completion}})
            rewards.append(float(paid) if info["reward_valid"] else None)
        return rewards

    model, tokenizer = tiny_model()
    with tempfile.TemporaryDirectory() as folder:
        config = GRPOConfig(
            output_dir=folder, max_steps=2, num_generations=16, per_device_train_batch_size=64, max_completion_length=1,
            learning_rate=1e-3, logging_steps=1, save_strategy="no", report_to="none", use_cpu=True, bf16=False,
            disable_tqdm=True,
        )  # fmt: skip
        trainer = GRPOTrainer(
            model, reward, args=config, train_dataset=Dataset.from_list([ask(seed) for seed in range(N_TASKS)]),
            processing_class=tokenizer,
        )  # fmt: skip
        trainer.train()
    env.close()
    for step in trainer.state.log_history:
        if "reward" in step:
            share = 1 - float(step["frac_reward_zero_std"])
            print(f"step {step['step']}: reward {float(step['reward']):.3f}; {share:.0%} of the groups differ within")


if __name__ == "__main__":
    main()
