"""An endpoint that nobody here wrote: `transformers serve` with a model that always makes the same tool call."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import toy_domain

from workgym.agents.play import play
from workgym.agents.policies.openai import Endpoint, OpenAIPolicy
from workgym.agents.rack import EnvRack, Seat
from workgym.agents.trajectory import Trajectory

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("alone")]

CALL = '\n{"name": "submit", "arguments": {"text": "8"}}\n'
TOKENS = ["<|call|>", "<|say|>", "<|end|>", "<tool_call>", CALL, "</tool_call>", "submit 8"]
NEXT = {
    "<|call|>": "<tool_call>",
    "<tool_call>": CALL,
    CALL: "</tool_call>",
    "</tool_call>": "<|end|>",
    "<|say|>": "submit 8",
    "submit 8": "<|end|>",
}
TEMPLATE = (
    "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"
    "{% for tool in tools or [] %}{{ tool.function.name }}\n{% endfor %}{{ '<|call|>' if tools else '<|say|>' }}"
)
PARSING = {
    "defaults": {"role": "assistant"},
    "start_anchor_pattern": r"<\|(?:call|say)\|>",
    "fields": {
        "tool_calls": {
            "open_pattern": r"\s*<tool_call>",
            "close": "</tool_call>",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close_pattern": r"\s*<\|end\|>", "content": "text"},
    },
}


def write_model(folder: Path) -> None:
    """A Llama of one layer in which the last token alone decides the next, as NEXT says, and a tokenizer of bytes."""
    import torch
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    from workgym.agents.chat import save_tokenizer
    from workgym.agents.models import Llama, LlamaConfig, save_model

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    core = Tokenizer(models.BPE({char: number for number, char in enumerate(alphabet)}, []))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    core.add_tokens([AddedToken(token, special=token.startswith("<|"), normalized=False) for token in TOKENS])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, eos_token="<|end|>", chat_template=TEMPLATE, response_template=PARSING
    )
    size = 264
    config = LlamaConfig(size, d_model=size, n_layers=1, n_heads=2, d_ff=8, max_positions=2048, tied=False)
    model = Llama(config)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.zero_()
        model.embedding.weight.copy_(torch.eye(size))
        assert model.head is not None
        for before, after in NEXT.items():
            model.head.weight[core.token_to_id(after), core.token_to_id(before)] = 10.0
    save_model(model, folder)
    save_tokenizer(tokenizer, folder)


@pytest.fixture(scope="module")
def endpoint(require_extra: Callable[[str], None], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    for extra in ("train", "openai"):
        require_extra(extra)
    missing = [name for name in ("fastapi", "uvicorn") if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"transformers serve needs {' and '.join(missing)}: pip install {' '.join(missing)}")
    folder = tmp_path_factory.mktemp("model")
    write_model(folder)
    command = [sys.executable, "-m", "transformers.cli.transformers", "serve", str(folder)]
    server = subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--port", "0", "--device", "cpu"],
        env={**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONUNBUFFERED": "1", "PYTHONWARNINGS": "ignore"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    told: list[str] = []
    known = threading.Event()

    def read() -> None:  # to the end: a server whose pipe is full stands still
        assert server.stdout is not None
        with server.stdout as lines:
            for line in lines:
                told.append(line)
                if "running on http" in line:
                    known.set()
        known.set()

    reader = threading.Thread(target=read)
    reader.start()
    try:
        known.wait(120)
        urls = [line.partition("running on ")[2].split()[0] for line in told if "running on http" in line]
        assert urls, "transformers serve did not start: " + "".join(told)
        yield Endpoint(str(folder), f"{urls[0]}/v1", timeout_s=120.0, retries=0)
    finally:
        server.kill()
        server.wait()
        reader.join()


def played(endpoint: Endpoint) -> list[Trajectory]:
    source = toy_domain.ToyTasks()
    seats = [Seat(f"e/{number}", source.load(f"toy/1/{number}"), number) for number in (4, 7)]
    policy = OpenAIPolicy(endpoint)
    try:
        with EnvRack(toy_domain.make, 2) as rack:
            return play(policy, rack, seats, max_turn_tokens=20)
    finally:
        policy.close()


def test_native_tool_calls_of_a_served_model_are_carried_out(endpoint: Endpoint) -> None:
    right, wrong = played(endpoint)
    assert right.steps[0].action == '{"name": "submit", "arguments": {"text": "8"}}'
    assert (right.success, wrong.success, wrong.valid) == (True, False, True)
    assert right.cost.tokens_out in (3, 4)
    assert right.cost.tokens_in > len("system: You double numbers.")


def test_plain_text_of_a_served_model_is_carried_out(endpoint: Endpoint) -> None:
    right, wrong = played(replace(endpoint, tools="text"))
    assert right.steps[0].action == "submit 8"
    assert (right.success, wrong.success, wrong.valid) == (True, False, True)
