"""One episode: make a part by scripts or by mesh tools, look at it, measure it, and hand it in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from workgym.envs.domain import Observation
from workgym.envs.modeling.bodies import Bodies
from workgym.envs.modeling.pictures import draw_part
from workgym.envs.modeling.render.sheet import Mode
from workgym.envs.modeling.report import Seen, look_at_part, measured, report_lines
from workgym.envs.modeling.scorer import shared_scorer
from workgym.envs.modeling.script import OUTPUTS, Ran, make_bodies, run_script
from workgym.envs.modeling.state import Picture, State
from workgym.envs.modeling.tools import full_tools
from workgym.envs.sandbox.protocol import Pools
from workgym.envs.tool import End, ToolTable
from workgym.envs.verify import Attempt
from workgym.tasks.errors import ActionError
from workgym.tasks.modeling.prompts import INPUT
from workgym.tasks.naming import unknown_name
from workgym.tasks.task import Task

__all__ = ["ModelingSession"]

_MAX_LISTED: Final = 20


class ModelingSession:
    """Holds the files and the calls of an episode; every script runs in a sandbox of its own, and so does the reader.

    Args:
        task: what is asked.
        pools: `agent` of `MESH_SANDBOX`, `grader` of `READER_SANDBOX`.
        has_image: whether pictures are wanted.
    """

    def __init__(self, task: Task, pools: Pools, *, has_image: bool = True) -> None:
        self.task: Final = task
        self.has_image: Final = has_image
        self._pools: Final = pools
        self._frame: Final = tuple(map(tuple, task.public["frame"]))
        self._seen: dict[str, Seen] = {}  # by content: of the input and of the last part
        self._drawn: tuple[object, npt.NDArray[np.uint8]] | None = None  # what, and its picture
        start = Picture(INPUT) if INPUT in task.files else Picture()
        # A part to be edited is sound, and may be a body; one to be repaired is no solid.
        bodies = Bodies(has_given=task.family == "edit")
        self.state = State(dict(task.files), bodies, picture=start)
        self._tools = full_tools(self, has_image=has_image)

    @property
    def tools(self) -> ToolTable:
        """What the agent can do."""
        return self._tools

    def observe(self) -> Observation:
        """The task, what is known of the part that is handed out, and the picture that stands now."""
        lines = [self.task.prompt, *self._target_lines(), f"You have {self.task.budget.turns} turns."]
        return Observation("\n".join(lines), self._image())

    # ------------------------------------------------------------------ making

    def run_script(self, code: str) -> str:
        """Run a script and report on the part that it leaves.

        Raises:
            ActionError: it is too long.
            SandboxError: infrastructure failed.
        """
        ran = run_script(self._pools.agent, code, self.state.files)
        self.state = replace(self.state, files=ran.files, script=code, picture=Picture())
        return "\n".join(_told(ran, "the script ran") + ([] if ran.phase else self._report()))

    def edit_script(self, old: str, new: str) -> str:
        """Change one place of the last script and run it.

        Raises:
            ActionError: there is none yet, or the text does not stand in it once.
        """
        if not self.state.script:
            raise ActionError("edit_script: no script was run yet")
        found = self.state.script.count(old) if old else 0
        if found != 1:
            raise ActionError(f"edit_script: the old text stands {found} times in the script; it must stand there once")
        return self.run_script(self.state.script.replace(old, new))

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Carry out a call of a mesh tool and report on what is left; a call that fails changes nothing.

        Raises:
            ActionError: an argument does not fit.
            SandboxError: infrastructure failed.
        """
        ran = self._made(self.state.bodies.after(name, arguments))
        if ran is not None:
            return "\n".join(_told(ran, ""))
        names = self.state.bodies.names
        return "\n".join([f"bodies: {', '.join(names)}" if names else "no body is left", *self._report()])

    def _made(self, bodies: Bodies) -> Ran | None:
        """Make bodies and keep them; what became of it where that failed."""
        files = {path: data for path, data in self.state.files.items() if path not in OUTPUTS}
        given = (
            {INPUT: self.task.files[INPUT]} if bodies.has_given else {}
        )  # as handed out, whatever a script did to it
        if bodies.names:
            ran = make_bodies(self._pools.agent, bodies.calls, given)
            if ran.phase:
                return ran
            files |= {path: ran.files[path] for path in OUTPUTS if path in ran.files}
        self.state = replace(self.state, files=files, bodies=bodies, picture=Picture())
        return None

    # ----------------------------------------------------------------- looking

    def render(self, view: str, mode: Mode = "shaded") -> str:
        """Show one view in the picture of this observation.

        Raises:
            ActionError: there is nothing to be seen.
        """
        path = self.state.output or (INPUT if INPUT in self.state.files else "")
        if not path:
            raise ActionError("render: there is no part yet")
        self.state = replace(self.state, picture=Picture(path, view, mode))
        return f"the picture shows {path} from {view}, {mode}"

    def measure(self, kind: str, file: str = "") -> str:
        """One measure of a file, of the part itself if none is named.

        Raises:
            ActionError: there is no such file, or it is no mesh.
        """
        path = self._mesh_path("measure", file)
        return f"{path}: {measured(self._look(path), kind)}"

    def show_target(self) -> str:
        """What the pictures are fitted to, and what is handed out."""
        self.state = replace(self.state, picture=Picture(INPUT) if INPUT in self.state.files else Picture())
        return "\n".join([self.task.prompt, *self._target_lines()])

    def submit(self, file: str = "") -> End:
        """Hand in a file, the part itself if none is named.

        Raises:
            ActionError: there is no such file.
        """
        return End("submitted", self._mesh_path("submit", file.strip()))

    def _mesh_path(self, tool: str, file: str) -> str:
        if not file and self.state.n_outputs > 1:
            raise ActionError(f"{tool}: {' and '.join(OUTPUTS)} are both there: name one of them")
        path = file or self.state.output
        if not path:
            raise ActionError(f"{tool}: there is no part yet: run a script, or use the mesh tools")
        if not self.state.is_mesh(path):
            meshes = sorted(one for one in self.state.files if self.state.is_mesh(one))
            raise ActionError(f"{tool}: {unknown_name('mesh file', path[:100], meshes)}")
        return path

    # -------------------------------------------------------------- what is told

    def _target_lines(self) -> list[str]:
        low, high = (", ".join(f"{one:g}" for one in corner) for corner in self._frame)
        lines = [f"Pictures are fitted to the box ({low}) to ({high})."] if self.has_image else []
        if INPUT in self.task.files:
            content = self.task.files[INPUT]
            lines += [f"{INPUT}:", *report_lines(self._look_at(INPUT, content), None)]
        return lines

    def _report(self) -> list[str]:
        """The report on the part; its volume is what the next one is compared with."""
        path = self.state.output
        if not path:
            return ["there is no part"]
        if self.state.n_outputs > 1:
            return [f"failed in phase export: {' and '.join(OUTPUTS)} are both there; submit one of them by its name"]
        seen = self._look(path)
        flaw = seen.facts["flaw"]
        head = f"{path} is written" if flaw is None else f"failed in phase validate: {path} is no sound part"
        before = self.state.volume
        if before is None and INPUT in self.task.files:
            before = self._look_at(INPUT, self.task.files[INPUT]).volume
        lines = [head, *report_lines(seen, before)]
        if seen.volume is not None:
            self.state = replace(self.state, volume=seen.volume)
        return lines

    def _look(self, path: str) -> Seen:
        return self._look_at(path, self.state.files[path])

    def _look_at(self, path: str, content: bytes) -> Seen:
        key = f"{PurePosixPath(path).suffix.lower()} {sha256(content).hexdigest()}"
        if key not in self._seen:
            while len(self._seen) > 2:
                self._seen.pop(next(iter(self._seen)))
            self._seen[key] = look_at_part(self._pools.grader, shared_scorer(), path, content)
        return self._seen[key]

    def _image(self) -> npt.NDArray[np.uint8] | None:
        if not self.has_image:
            return None
        shown = self.state.picture
        path = shown.path or self.state.output
        content = self.state.files.get(path, b"")
        what = (shown.view, shown.mode, path, content)
        if self._drawn is None or self._drawn[0] != what:
            solid = self._look(path).solid if content else None
            self._drawn = (what, draw_part(solid, self._frame, shown.view, shown.mode))
        return self._drawn[1].copy()

    # ------------------------------------------------------------------ its life

    def attempt(self, submission: str | None) -> Attempt:
        """What will be judged: the file that was handed in, or the part as it stands."""
        if submission is None:
            files = {path: self.state.files[path] for path in OUTPUTS if path in self.state.files}
        else:
            files = {f"out{PurePosixPath(submission).suffix.lower()}": self.state.files[submission]}
        return Attempt(self.task.id, submission, files)

    def snapshot(self) -> object:
        """The workspace and the bodies: they never change, they are replaced."""
        return (self.task.id, self.state)

    def restore(self, snapshot: Any) -> None:
        """Go back to a snapshot of the same task.

        Raises:
            ValueError: it is of another task.
        """
        task_id, state = snapshot
        if task_id != self.task.id:
            raise ValueError(f"the snapshot is of task {task_id!r}, this session of {self.task.id!r}")
        self.state = state

    def fork(self, n: int) -> Sequence[Self]:
        """Make n sessions in the same state, independent from then on."""
        copies = [type(self)(self.task, self._pools, has_image=self.has_image) for _ in range(n)]
        for copy in copies:
            copy.restore(self.snapshot())
        return copies

    def close(self) -> None:
        """Nothing is held between two actions."""


def _told(ran: Ran, done: str) -> list[str]:
    """What is said of a run before its part is looked at."""
    lines = [f"failed in phase {ran.phase}: {ran.words}" if ran.phase else done]
    lines += [f"printed: {line}" for line in ran.printed.splitlines()]
    dropped = list((ran.dropped or {}).items())
    lines += [f"{path!r:.100} is not kept: {why}" for path, why in dropped[:_MAX_LISTED]]
    if ran.phase:
        lines.append("this leaves no part" if done else "the call changes nothing")
    return lines
