"""The tools of a session, as tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, Protocol

from workgym.envs.modeling.pictures import MODES, VIEWS
from workgym.envs.modeling.render.sheet import Mode
from workgym.envs.modeling.report import KINDS
from workgym.envs.tool import End, Tool, ToolTable, one_text
from workgym.tasks.modeling.calls import CALLS

__all__ = ["Maker", "brief_tools", "full_tools"]

_NOTHING: Final[dict[str, Any]] = {"type": "object", "properties": {}, "required": []}
_SCRIPT: Final = (
    "Run Python with manifold3d, trimesh and numpy at hand. It leaves the part in `result`, a manifold3d.Manifold or a "
    "trimesh.Trimesh, or writes out.stl or out.ply itself. Files are kept for the next script, but out.*. 10 seconds "
    "of CPU time, 1 GB of memory, no network."
)


class Maker(Protocol):
    """What the tools need of a session."""

    def run_script(self, code: str) -> str:
        """Run a script."""
        ...

    def edit_script(self, old: str, new: str) -> str:
        """Change the last one, and run it."""
        ...

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Carry out a call of a mesh tool."""
        ...

    def render(self, view: str, mode: Mode = "shaded") -> str:
        """Show a view."""
        ...

    def measure(self, kind: str, file: str = "") -> str:
        """Measure a part."""
        ...

    def show_target(self) -> str:
        """Show what is handed out."""
        ...

    def submit(self, file: str = "") -> End:
        """Hand in a part."""
        ...


def full_tools(session: Maker, *, has_image: bool) -> ToolTable:
    """All tools; `render` where there are pictures. A block of code alone is run as a script."""
    file = {"type": "string", "description": "an .stl or .ply file of the workspace; the part itself if not given"}
    kind = {"type": "string", "enum": list(KINDS), "description": "what to measure"}
    looking = [
        Tool("measure", "Measure a part.", _object(("kind",), kind=kind, file=file), session.measure),
        Tool(
            "show_target",
            "Show again what is asked, and the part that is handed out, if one is.",
            _NOTHING,
            session.show_target,
        ),
    ]
    if has_image:
        view = {"type": "string", "enum": list(VIEWS), "description": "where to look from"}
        mode = {"type": "string", "enum": list(MODES), "description": "shaded if not given"}
        schema = _object(("view",), view=view, mode=mode)
        looking.insert(0, Tool("render", "Show one view of the part, large.", schema, session.render))
    old = {"type": "string", "description": "text that stands once in the last script"}
    new = {"type": "string", "description": "what takes its place"}
    return ToolTable(
        (
            Tool("run_script", _SCRIPT, one_text("code", "Python"), session.run_script),
            Tool(
                "edit_script",
                "Change one place of the last script, and run it.",
                _object(("old", "new"), old=old, new=new),
                session.edit_script,
            ),
            *_mesh_tools(session.call),
            *looking,
            Tool("submit", "Hand in the part and end the episode.", _object((), file=file), session.submit),
        ),
        fenced="run_script",
    )


def _mesh_tools(call: Callable[[str, Mapping[str, Any]], str]) -> list[Tool]:
    """The tools of named bodies."""

    def tool(name: str) -> Tool:
        return Tool(name, CALLS[name]["description"], CALLS[name]["schema"], partial(_called, call, name))

    return [tool(name) for name in CALLS]


def _called(do: Callable[[str, Mapping[str, Any]], str], tool: str, /, **arguments: Any) -> str:
    return do(tool, arguments)


def _object(required: tuple[str, ...], **properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def brief_tools(
    *, make: Callable[[str], str], cut: Callable[[str], str], join: Callable[[str], str], submit: Callable[[], End]
) -> ToolTable:
    """Tools that take one line each, for small models."""
    line = one_text(
        "shape",
        "box X Y Z | cylinder R H | cone R TOP H | sphere R | torus R TUBE | prism H A B A B A B ...; then its axis "
        "(x, y or z), if it is not z; then @ X Y Z, if it does not lie at the origin",
    )
    return ToolTable(
        (
            Tool("make", "Make the part of one shape.", line, make, short="m"),
            Tool("cut", "Cut a shape out of the part.", line, cut, short="c"),
            Tool("join", "Join a shape to the part.", line, join, short="j"),
            Tool("submit", "Hand in the part and end the episode.", _NOTHING, submit, short="s"),
        )
    )
