"""Units-v0: convert a quantity to a smaller unit. A whole domain: tasks, session, judgment, players, `make`."""

import re

from workgym.envs.domain import Domain, Observation
from workgym.envs.env import WorkEnv
from workgym.envs.tool import End, Tool, ToolTable
from workgym.envs.verify import Attempt, Check, Layer
from workgym.tasks.errors import ActionError, TaskError
from workgym.tasks.source import split_of
from workgym.tasks.task import LEVELS, Budget, Task

SMALLER = {"km": ("m", 1000), "m": ("cm", 100), "cm": ("mm", 10), "kg": ("g", 1000), "h": ("min", 60)}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


class UnitTasks:
    """Numbers of as many digits as the level. The id is the question, so that `load` can make any task again."""

    version = "1"
    levels = LEVELS

    def sample(self, level, rng, split="train"):
        while True:  # what is asked decides the split: no seed gets a test question into training
            number = rng.integers(10 ** (level - 1), 10**level)
            task = self.load(f"units-{level}-{number}-{list(SMALLER)[rng.integers(len(SMALLER))]}")
            if task.split == split:
                return task

    def load(self, task_id):
        match = re.fullmatch(rf"units-([1-5])-([1-9][0-9]{{0,4}})-({'|'.join(SMALLER)})", task_id)
        if not match:
            raise TaskError(f"no units task has the id {task_id!r}; ids look like units-1-7-km")
        level, number, unit = match.groups()
        smaller, factor = SMALLER[unit]
        question = f"{number} {unit} in {smaller}"
        parts = {
            "public": {"number": int(number), "unit": unit},  # the agent may know it
            "hidden": {"answer": str(int(number) * factor)},  # the agent never sees it
            "budget": Budget(turns=4, tokens=512),
        }
        split = split_of(question)
        return Task(task_id, "units", "smaller", int(level), split, prompt=question, structure=question, **parts)


class UnitSession:
    """What the agent can do: look factors up, then submit. There is no state to copy or to close."""

    def __init__(self, task):
        self.task = task
        factor = Tool("factor", "Say what one of a unit is, such as km.", TEXT, self.factor, short="f")
        submit = Tool("submit", "Hand in a whole number.", TEXT, lambda text: End("submitted", text.strip()), short="s")
        self.tools = ToolTable((factor, submit))

    def factor(self, text):
        if text.strip() not in SMALLER:
            raise ActionError(f"the units are {', '.join(SMALLER)}")  # a mistake of the agent is an observation
        smaller, factor = SMALLER[text.strip()]
        return f"{factor} {smaller}"

    def observe(self):
        return Observation(self.task.prompt)

    def attempt(self, submission):
        return Attempt(self.task.id, submission)

    def snapshot(self):
        return self.task.id

    def restore(self, snapshot):
        pass

    def fork(self, n):
        return [UnitSession(self.task) for _ in range(n)]

    def close(self):
        pass


def is_right(findings):  # a verifier: a pure function of what `examine` found
    attempt, task = findings
    return Check("right", float(attempt.submission == task.hidden["answer"]))


def oracle(observation, info, env):
    return f"submit {env.task.hidden['answer']}" if info["turn"] else f"factor {env.task.public['unit']}"


PLAYERS = {
    "oracle": oracle,
    "noop": lambda observation, info, env: "submit 0",
    "random": lambda observation, info, env: f"submit {sum(map(ord, env.task.id))}",
    "half-right": lambda *seen: "submit 1" if seen[2].task.public["number"] % 2 else oracle(*seen),
}


def make(level=1, split="train", **options):
    domain = Domain(
        name="units",
        version="1",
        source=UnitTasks(),
        open_session=lambda task, pools: UnitSession(task),
        examine=lambda attempt, task, pools: (attempt, task),
        layers=(Layer(is_right, weight=1.0),),
        players=PLAYERS,
        instructions="You convert units. Call one tool a turn: factor UNIT, then submit NUMBER.",
    )
    return WorkEnv(domain, level=level, split=split, **options)
