"""The agents that `workgym eval` knows: by name, from a checkpoint, from a module of one's own, behind an endpoint."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from workgym.tasks.errors import PolicyError
from workgym.tasks.extras import install_command

if TYPE_CHECKING:
    from workgym.agents.policy import Policy
    from workgym.agents.rack import EnvRack
    from workgym.agents.surroundings import Surroundings
    from workgym.commands.eval_settings import EvalSettings

__all__ = ["home_of", "import_from_here", "open_agent", "priced_name"]

_CHECKPOINT: Final = "checkpoint:"
_OPENAI: Final = "openai:"
_SMOLLM2: Final = "smollm2"


@contextmanager
def open_agent(settings: EvalSettings) -> Iterator[Callable[[EnvRack], Policy]]:
    """Open the agent of an evaluation.

    Args:
        settings: name it, and say how it acts.

    Yields:
        Gives the policy for a rack of environments.

    Raises:
        PolicyError: there is no such agent, or what it needs is missing.
    """
    agent = settings.agent
    if agent.startswith(_CHECKPOINT):
        model = _model(settings)
        yield lambda rack: model
    elif agent.startswith(_OPENAI):
        from workgym.agents.policies.openai import Endpoint, OpenAIPolicy

        endpoint = Endpoint(
            model=agent.removeprefix(_OPENAI),
            base_url=settings.base_url,
            api_key=os.environ.get("OPENAI_API_KEY", "").strip(),
            tools=settings.tools,
            temperature=settings.temperature,
            retries=settings.retries,
            timeout_s=settings.timeout_s,
            price=settings.price,
        )
        with closing(OpenAIPolicy(endpoint)) as asked:
            yield lambda rack: asked
    elif ":" in agent:
        from workgym.agents.policies.callable import CallablePolicy, load_agent

        import_from_here()
        own = CallablePolicy(load_agent(agent), agent, settings.price)
        yield lambda rack: own
    else:
        from workgym.agents.policies.scripted import named_policy

        for one in settings.suite.sets:  # a name that one domain lacks is told before anything is played
            named_policy(one.make_env(), agent)
        yield lambda rack: named_policy(rack.env(0), agent)


def priced_name(agent: str) -> str:
    """The name under which a price table lists an agent: the model of an endpoint, else the agent as it is named."""
    return agent.removeprefix(_OPENAI)


def home_of(agent: str) -> Surroundings | None:
    """Where a checkpoint was trained; None for other agents, and where it does not say.

    Raises:
        PolicyError: there is no such checkpoint.
    """
    from workgym.agents.surroundings import read_surroundings

    return read_surroundings(_checkpoint(agent)) if agent.startswith(_CHECKPOINT) else None


def import_from_here() -> None:
    """Let modules of the current folder be imported, as `python -m` does and an installed command does not."""
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.insert(0, here)


def _checkpoint(agent: str) -> Path:
    """The folder of a checkpoint; that of a run stands for its model, and "smollm2" for that of its package.

    Raises:
        PolicyError: there is none, or what models need is not installed.
    """
    name = agent.removeprefix(_CHECKPOINT)
    path = Path(name)
    if name == _SMOLLM2 and not path.is_dir():
        with _needing_models():
            from workgym.agents.models.smollm2 import smollm2_directory
        return smollm2_directory()
    if not name or not path.is_dir():
        raise PolicyError(f"no checkpoint {name!r}: there is no such folder")
    return path / "model" if (path / "model" / "config.json").exists() else path


@contextmanager
def _needing_models() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        raise PolicyError(f"a checkpoint needs {error.name}: {install_command('train')}") from error


def _model(settings: EvalSettings) -> Policy:
    """The model of a checkpoint.

    Raises:
        PolicyError: there is no such checkpoint, or what models need is not installed.
    """
    path = _checkpoint(settings.agent)
    with _needing_models():
        from workgym.agents.engines.engine import SamplingParams
        from workgym.agents.policies.model import open_policy
    params = SamplingParams(temperature=settings.temperature or 1.0, greedy=settings.temperature == 0)
    return open_policy(path, params, max_rows=settings.at_once)
