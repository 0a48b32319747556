"""The command line. It knows the commands by name; a command's own file is imported when it is asked for.

So `workgym --help` loads no torch and costs a fraction of a second, and `workgym train --help` costs what training's
options cost. A command's file keeps its heavy imports inside its function for the same reason.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, NoReturn

import typer
from gymnasium.error import Error as GymnasiumError

from workgym import __version__
from workgym.tasks.errors import SandboxError, WorkgymError

__all__ = ["COMMANDS", "app", "command_of", "main"]

COMMANDS: Final = {
    "list": ("workgym.commands.listing:list_names", "Show environments, levels, players, suites and recipes."),
    "train": ("workgym.commands.train:train", "Run a training recipe, or go on with a run that was stopped."),
    "eval": ("workgym.commands.evaluate:evaluate", "Measure what a policy can do, and what it costs."),
    "play": ("workgym.commands.play:play", "Solve a task yourself, in the terminal, and see the verdict."),
    "new-domain": ("workgym.commands.new_domain:new_domain", "Write a package with a domain, to start your own from."),
    "compare": ("workgym.commands.compare:compare_runs", "Say which of two evaluations is better, beyond noise."),
    "archive": ("workgym.commands.archive:app", "Look into archived episodes, and judge them again."),
    "doctor": ("workgym.commands.doctor:doctor", "Say what this machine offers, lacks, and how to mend it."),
}
"""Name -> where it is implemented (a function with typer's annotations, or a typer app), and what it does."""

# Rich's help is prettier, and would take the larger half of the time that `--help` may cost.
app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

# The words after a command's name go to the command as they are, `--help` among them.
_PASS_ON: Final = {"allow_extra_args": True, "ignore_unknown_options": True, "allow_interspersed_args": False}


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit.

    Exit codes: 0 done; 1 the machinery failed; 2 what was asked for does not exist or makes no sense.

    Args:
        arguments: the words after `workgym`; those of the process if None.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        app(words, prog_name="workgym")
    except (WorkgymError, ValueError, OverflowError, OSError, GymnasiumError) as error:
        if words[0] == "--traceback":
            raise
        print(f"workgym: {error}", file=sys.stderr)
        sys.exit(1 if isinstance(error, (SandboxError, OSError)) else 2)
    sys.exit(0)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"workgym {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
    traceback: Annotated[bool, typer.Option("--traceback", help="Show where in the code an error arose.")] = False,
) -> None:
    """Environments in which language-model agents learn to work, and the trainer that learns from them."""


def command_of(name: str) -> Any:
    """Import a command's file.

    Args:
        name: one of COMMANDS.

    Returns:
        The command, as typer runs it.

    Raises:
        KeyError: there is no such command.
    """
    module, _, attribute = COMMANDS[name][0].partition(":")
    found = getattr(importlib.import_module(module), attribute)
    if not isinstance(found, typer.Typer):
        single = typer.Typer(add_completion=False)
        single.command(help=_description(found))(found)
        found = single
    found.rich_markup_mode = None
    found.pretty_exceptions_enable = False
    return typer.main.get_command(found)


def _late(name: str) -> Callable[[typer.Context], None]:
    def run(context: typer.Context) -> None:
        command_of(name).main(args=list(context.args), prog_name=f"workgym {name}")

    return run


def _description(command: Callable[..., object]) -> str:
    """A docstring up to its sections: the options tell of themselves."""
    return re.split(r"\n\n(?:Args|Raises|Returns):", inspect.getdoc(command) or "")[0]


for _name, (_target, _summary) in COMMANDS.items():
    app.command(_name, help=_summary, add_help_option=False, context_settings=_PASS_ON)(_late(_name))
