"""A transformers model with a LoRA adapter of PEFT, evaluated on the suite `core`: a policy has `act` and `forget`.

The model here is tiny and random and solves nothing. Load your own in its place:

    model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained("base"), "adapter")

    pip install 'workgym[train]' && python examples/peft_lora.py
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

from workgym.agents.policy import Conversation, Turn
from workgym.benchmarks.evaluation import evaluate_suite
from workgym.benchmarks.report import make_report
from workgym.benchmarks.suite import find_suite

MAX_NEW_TOKENS = 8
PAD = 256  # the tokens are bytes, and one more


class LoraPolicy:
    """Continues the conversation, byte by byte."""

    name = "tiny-lora"

    def __init__(self, model: PeftModel) -> None:
        self.model = model.eval()

    @torch.inference_mode()
    def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
        """Take one turn in each conversation, all in one batch."""
        prompts = [self._prompt(one) for one in conversations]
        width = max(map(len, prompts))
        ids = torch.tensor([[PAD] * (width - len(prompt)) + list(prompt) for prompt in prompts])  # [B, T], left-padded
        out = self.model.generate(
            input_ids=ids, attention_mask=(ids != PAD).long(), max_new_tokens=MAX_NEW_TOKENS, do_sample=True
        )
        said = [[token for token in row if token != PAD] for row in out[:, width:].tolist()]
        return [
            Turn(bytes(tokens).decode(errors="replace"), tokens_in=len(prompt), tokens_out=len(tokens))
            for prompt, tokens in zip(prompts, said, strict=True)
        ]

    def forget(self, rollout_ids: Sequence[str]) -> None:
        """Nothing is kept from turn to turn."""

    def _prompt(self, conversation: Conversation) -> bytes:
        """The end of the conversation as bytes; a chat template would take `conversation.tools` as well."""
        lines = [f"{message.role}: {message.text}" for message in conversation.trajectory.messages]
        return "\n".join([*lines, "assistant: "]).encode()[-256:]


def main() -> None:
    torch.manual_seed(0)
    base = LlamaForCausalLM(
        LlamaConfig(vocab_size=257, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
                    pad_token_id=PAD, eos_token_id=10, bos_token_id=None)
    )  # fmt: skip
    policy = LoraPolicy(get_peft_model(base, LoraConfig(r=4, target_modules="all-linear", task_type="CAUSAL_LM")))
    episodes = evaluate_suite(lambda rack: policy, find_suite("core"))
    report = make_report(episodes, title="a LoRA policy on core")
    print(report.markdown())
    assert report.total.n_invalid == 0


if __name__ == "__main__":
    main()
