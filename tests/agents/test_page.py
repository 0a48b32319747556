"""The page of an episode, opened in a real browser: it shows everything, and nothing of it is obeyed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from browser import Page, browser
from episodes import make_trajectory

from workgym.agents.message import Call, Message, Text, message
from workgym.agents.page import episode_page
from workgym.agents.page_actions import Code, Said, UsedTool, read_action
from workgym.agents.trajectory import Step, Trajectory
from workgym.envs.verify import Attempt, Check, Verdict

# One browser serves all tests of this file: they stay in one worker.
pytestmark = pytest.mark.xdist_group("browser")

ATTACKS = (
    "</script><script>window.pwned = 1</script>",
    "<img src=x onerror='window.pwned = 1'>",
    "\"><svg onload=\"window.pwned = 1\">",
    "</title></style></pre><iframe src='javascript:parent.pwned = 1'></iframe>",
    "<!--<script>", "]]>", "&lt;b&gt; &amp;amp; \\u003c",
    "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'>",
    "<link rel=stylesheet href=http://127.0.0.1:9/a.css>",
)  # fmt: skip
ODD = "\x00\x1b[2J\x7f\r\u202eevil\u2066\ud800\udfff \ufeff\u200b\ue000"


@pytest.fixture(scope="module")
def tab(require_browser: Callable[[], str]) -> Iterator[Page]:
    with browser(require_browser()) as page:
        yield page


@pytest.fixture
def show(tab: Page, tmp_path: Path) -> Callable[..., Page]:
    """`show(page)` opens it from a file."""

    def open_page(text: str, part: str = "", **look: object) -> Page:
        file = tmp_path / "page.html"
        file.write_text(text, encoding="utf-8")
        tab.look(**{"width": 1000, **look})
        tab.open(file.as_uri() + part)
        return tab

    return open_page


def episode(action: str = "look", observation: str = "seen", said: Message | None = None) -> Trajectory:
    return Trajectory(
        "eval/1",
        task_id="toy/1",
        policy="p",
        messages=[message("user", "double 21"), said or message("assistant", action), message("tool", observation)],
        steps=[Step(action, observation, 1.0, True)],
        attempt=Attempt("toy/1", "42"),
        verdict=Verdict(1.0, True, (Check("right", 1.0, "compared with the double"),)),
        end_reason="submitted",
    )


def hostile(text: str) -> Trajectory:
    """An episode in which every text is this one."""
    return replace(
        make_trajectory(1),
        **dict.fromkeys(("rollout_id", "task_id", "domain", "family", "split", "policy", "env", "error"), text),
        messages=[message(text, text), message("user", text), message("assistant", text), message("tool", text)],
        steps=[Step(text, text, 0.0, False, 0, 1, text)],
        attempt=Attempt(text, text, {text: text.encode("utf-8", "replace")}, {text: [text]}),
        verdict=Verdict(0.0, False, (Check(text, 0.0, text, text),)),
    )


# ---- what it shows


def test_a_page_shows_what_was_asked_done_answered_and_judged(show: Callable[..., Page]) -> None:
    page = show(episode_page(make_trajectory(1)))
    text = page.ask("document.body.innerText")
    parts = ["toy/1", "0.3", "success", "scripted", "11 in, 7 out", "Be brief.", "turn 1", "turn 3", "tests"]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert all(part in text for part in ("1 of 3 tests pass", "file a.py (256 bytes)", "x + 1", "0.0010 US dollars"))
    assert page.ask("document.title") == "toy/1: rl/00001"


def test_texts_stand_as_they_were_written(show: Callable[..., Page]) -> None:
    text = "\n\n  two\tlines & <b>tags</b> \U0001f40d\n"
    page = show(episode_page(episode(observation=text)))
    assert page.ask("document.querySelector('pre.answer').textContent") == text


def test_an_episode_without_a_verdict_says_that_it_counts_nowhere(show: Callable[..., Page]) -> None:
    failed = replace(episode(), verdict=Verdict.invalid(), attempt=None, error="SandboxError: the toy broke")
    text = show(episode_page(failed)).ask("document.body.innerText")
    assert all(part in text for part in ("no reward", "counts nowhere", "the toy broke", "No layer judged it."))


def test_a_breach_is_said(show: Callable[..., Page]) -> None:
    caught = replace(episode(), verdict=Verdict(0.0, False, (Check("r", 0.0, breach=True),), integrity=False))
    assert "breach of integrity" in show(episode_page(caught)).ask("document.body.innerText")


def test_tool_calls_are_set_apart(show: Callable[..., Page]) -> None:
    said = Message("assistant", (Text("Let me see."), Call("run", '{"code": "1 < 2"}', "c1"), Call("stop", "")))
    page = show(episode_page(episode("[...]", said=said)))
    shown = page.ask(
        "[...document.querySelectorAll('.said, .call')].map(e => e.innerText.split(/\\s+/).join(' ').trim())"
    )
    assert shown == ["Let me see.", "run native call c1 code 1 < 2", "stop native call"]


@pytest.mark.parametrize(
    ("action", "valid", "pieces"),
    [
        ("run 17*x", True, [UsedTool("run", (("", "17*x"),), "text call")]),
        ("submit", True, [UsedTool("submit", (), "text call")]),
        ("I think so", False, [Said("I think so")]),
        ('{"name": "add", "arguments": {"by": 2}}', True, [UsedTool("add", (("by", "2"),), "JSON call")]),
        ('{"name": "add", "arguments": "{oops"}', False, [UsedTool("add", (("", "{oops"),), "JSON call")]),
        ('{"name": 3}', False, [Said('{"name": 3}')]),
        ("[" * 5000, False, [Said("[" * 5000)]),
        ("Here:\n```python\nx = 1\n```\nDone.", True, [Said("Here:"), Code("python", "x = 1"), Said("Done.")]),
        ("", False, []),
    ],
)  # fmt: skip
def test_an_action_is_taken_apart(action: str, valid: bool, pieces: list[object]) -> None:
    assert read_action(Step(action, "", 0.0, valid)) == pieces


def test_tokens_that_an_agent_did_not_report_are_not_0_on_the_page() -> None:
    silent = episode()
    silent.cost = replace(silent.cost, money_usd=None)
    assert "<dt>tokens</dt><dd>not reported</dd>" in episode_page(silent)
    assert "<dt>tokens</dt><dd>0 in, 0 out</dd>" in episode_page(episode())  # a scripted player uses none


# ---- tokens


def test_the_token_mask_is_shown_on_demand(show: Callable[..., Page]) -> None:
    trajectory = make_trajectory(1)
    page = show(episode_page(trajectory))
    assert page.ask("document.getElementById('tokens').hidden")
    assert page.ask("document.querySelectorAll('.row .token').length") == 0

    page.ask("document.getElementById('show-tokens').click()")

    mask = page.ask("[...document.querySelectorAll('.row .token')].map(e => e.classList.contains('act'))")
    ids = page.ask("[...document.querySelectorAll('.row .token')].map(e => Number(e.textContent))")
    assert (ids, mask) == (trajectory.ids, trajectory.action)
    assert page.ask("document.querySelectorAll('.row').length") == trajectory.n_splits + 1
    page.ask("document.getElementById('show-tokens').click()")
    assert page.ask("document.getElementById('tokens').hidden")


def test_pointing_at_a_token_tells_its_log_probability_and_version(show: Callable[..., Page]) -> None:
    trajectory = make_trajectory(1)
    first = trajectory.action.index(True)
    page = show(episode_page(trajectory), "#tokens")
    page.point_at(".row .token.act")
    told = page.ask("document.querySelector('.readout').textContent")
    assert f"id {trajectory.ids[first]}: sampled, log-probability {trajectory.logp[first]:.5g} (p 0." in told
    assert told.endswith(f"weights version {trajectory.version[first]}")
    page.point_at(".row .token:not(.act)")
    assert "fed to the policy, carries no loss" in page.ask("document.querySelector('.readout').textContent")


def test_tokens_are_texts_where_the_tokenizer_is_known(show: Callable[..., Page]) -> None:
    trajectory = Trajectory("one")
    trajectory.observe([60])
    trajectory.act([1, 2], [-0.5, float("-inf")], 0)
    page = show(episode_page(trajectory, {60: "</script>", 1: "\n", 2: "\u202e"}.__getitem__), "#tokens")
    assert page.ask("[...document.querySelectorAll('.row .token')].map(e => e.textContent)") == [
        "</script>", "\u21b5\n", "\\u202e",
    ]  # fmt: skip


def test_an_episode_without_tokens_has_no_toggle(show: Callable[..., Page]) -> None:
    assert show(episode_page(episode())).ask("document.getElementById('show-tokens')") is None


# ---- what it does not do


def test_the_browser_would_run_a_script_that_was_let_in(show: Callable[..., Page]) -> None:
    assert show(f"<p>{ATTACKS[0]}</p>").ask("window.pwned") == 1


def test_nothing_that_was_written_is_obeyed(show: Callable[..., Page]) -> None:
    page = show(episode_page(hostile(" ".join(ATTACKS)), lambda token: ATTACKS[token % len(ATTACKS)]), "#tokens")
    assert page.ask("typeof window.pwned") == "undefined"
    assert page.ask("document.querySelectorAll('script').length") == 2  # the tokens' data, the page's own, and no other
    assert page.ask("document.querySelectorAll('img, iframe, b b, link, svg[onload]').length") == 0
    assert page.ask("document.querySelectorAll('.row').length") > 0
    assert all(attack in page.ask("document.querySelector('pre.answer').textContent") for attack in ATTACKS)
    assert _troubles(page) == []


def test_a_page_asks_no_network_for_anything(show: Callable[..., Page]) -> None:
    page = show(episode_page(hostile(" ".join(ATTACKS))), "#tokens")
    asked = [event["request"]["url"] for event in page.names("Network.requestWillBeSent")]
    assert [url for url in asked if not url.startswith("file://")] == []
    assert len(asked) == 1


def test_the_policy_of_a_page_stops_what_escaping_would_miss(show: Callable[..., Page]) -> None:
    whole = episode_page(episode())
    fetch = "<script>window.pwned = 1; fetch('http://127.0.0.1:9/')</script><img src='http://127.0.0.1:9/a.png'>"
    page = show(whole.replace("<footer>", f"{fetch}<footer>"))
    assert page.ask("typeof window.pwned") == "undefined"
    assert len([entry for entry in page.names("Log.entryAdded") if "Content Security Policy" in str(entry)]) == 2


def test_characters_that_would_be_obeyed_stand_as_escapes(show: Callable[..., Page]) -> None:
    page = show(episode_page(hostile(ODD)), "#tokens")
    shown = "\\x00\\x1b[2J\\x7f\\r\\u202eevil\\u2066\\ud800\\udfff \\ufeff\\u200b\\ue000"
    assert page.ask("document.querySelector('pre.answer').textContent") == shown
    assert not re.search("[\x00\x1b\u202e\ufffd]", page.ask("document.documentElement.outerHTML"))
    assert _troubles(page) == []


def test_a_huge_observation_is_held_whole_and_breaks_nothing(show: Callable[..., Page]) -> None:
    page = show(episode_page(episode(observation="W" * 1_000_000)), width=400)
    assert page.ask("document.querySelector('pre.answer').textContent.length") == 1_000_000
    assert page.ask("document.querySelector('pre.answer').clientHeight") < 600
    assert page.ask("document.scrollingElement.scrollWidth") <= 400


def test_state_that_is_nested_deeply_does_not_break_the_page() -> None:
    state = json.loads("[" * 900 + "]" * 900)
    assert "evidence" in episode_page(replace(episode(), attempt=Attempt("t", state={"deep": state})))


# ---- how it looks


@pytest.mark.parametrize("width", [360, 1000])
def test_a_page_fits_the_window(show: Callable[..., Page], width: int) -> None:
    page = show(episode_page(hostile("W" * 300)), "#tokens", width=width)
    assert page.ask("document.scrollingElement.scrollWidth") <= width


def test_a_page_is_dark_where_dark_is_preferred_and_can_be_turned(show: Callable[..., Page]) -> None:
    color = "getComputedStyle(document.body).backgroundColor"
    page = show(episode_page(episode()), scheme="light")
    light = page.ask(color)
    page.ask("document.getElementById('theme').click()")
    turned = page.ask(color)
    dark = show(episode_page(episode()), scheme="dark").ask(color)
    assert turned == dark
    assert sum(map(int, re.findall(r"\d+", light))) > 600 > 200 > sum(map(int, re.findall(r"\d+", dark)))


def _troubles(page: Page) -> list[object]:
    """What a page was refused, and what went wrong in its script."""
    return [*page.names("Log.entryAdded"), *page.names("Runtime.exceptionThrown")]
