"""A chat tokenizer of a few hundred ids, trained here, with the template of the reader's choice."""

from __future__ import annotations

from typing import Any

CHATML = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
WITH_TOOLS = "{% if tools %}{{ '<|im_start|>system\n' + (tools | tojson) + '<|im_end|>\n' }}{% endif %}" + CHATML
REWRITES = (
    "{% for message in messages %}{% if loop.last or message['role'] == 'user' %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
    "{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
ENDLESS = "{% for message in messages %}{{ message['role'] + ': ' + message['content'] + '\n' }}{% endfor %}" + (
    "{% if add_generation_prompt %}{{ 'assistant: ' }}{% endif %}"
)


def make_tokenizer(template: str = CHATML) -> Any:
    """A byte-level BPE tokenizer as chat models have them."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    core.train_from_iterator(
        ["system user assistant tool\n def f(x):\n    return x + 1\n", "run submit 0 1 2 3"], trainer
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, eos_token="<|im_end|>", pad_token="<|im_end|>", bos_token="<|im_start|>"
    )
    tokenizer.chat_template = template
    return tokenizer
