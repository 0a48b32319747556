"""An episode as one HTML page that needs nothing beside itself.

Whatever an agent or a program wrote is text on this page and nothing else. It is escaped; should an escape ever be
missing, the page's security policy still runs no script but the page's own, by its hash, and nothing reaches a network.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
from collections.abc import Callable, Iterator, Mapping
from importlib import resources
from typing import Any, Final

from workgym.agents.message import Call, Image, Message
from workgym.agents.outcomes import lacks_tokens
from workgym.agents.page_actions import Code, Said, UsedTool, in_words, read_action
from workgym.agents.readable import is_odd, readable
from workgym.agents.trajectory import Step, Trajectory
from workgym.envs.verify import Check

__all__ = ["episode_page"]

_MAX_FILE_CHARS: Final = 100_000

TokenText = Callable[[int], str]
"""The text of one token id."""


def episode_page(trajectory: Trajectory, token_text: TokenText | None = None) -> str:
    """Lay out an episode as a page: what was asked, said, answered and judged; its tokens on demand.

    Args:
        trajectory: the episode.
        token_text: the text of one token id, where the tokenizer is at hand; the ids are shown without.

    Returns:
        HTML that can be encoded as UTF-8, whatever the episode holds.
    """
    style, script = _own_file("page.css"), _own_file("page.js")
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    )
    title = f"{trajectory.task_id or 'episode'}: {trajectory.rollout_id}"
    body = "\n".join(
        (
            _header(trajectory),
            _facts(trajectory),
            "<h2>Conversation</h2>",
            *_conversation(trajectory),
            "<h2>Verdict</h2>",
            *_verdict(trajectory),
            *_tokens(trajectory, token_text),
        )
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{html.escape(readable(title))}</title>
<style>{style}</style>
</head>
<body>
<main>
{body}
<footer>written by workgym {_text(trajectory.versions.env)}</footer>
</main>
<script>{script}</script>
</body>
</html>
"""


# ---- head


def _header(trajectory: Trajectory) -> str:
    where = f"{trajectory.domain}, {trajectory.family}, level {trajectory.level}, {trajectory.split}"
    verdict = trajectory.verdict
    if verdict is None or not verdict.valid:
        outcome = '<b>no reward</b><span class="badge odd">infrastructure failed: counts nowhere</span>'
    else:
        badge = (
            '<span class="badge good">success</span>'
            if verdict.success
            else '<span class="badge bad">no success</span>'
        )
        outcome = f"<b>{verdict.reward:.4g}</b>{badge}"
        outcome += "" if verdict.integrity else '<span class="badge bad">breach of integrity</span>'
    ended = f'<span class="badge">ended: {_text(trajectory.end_reason or "not at all")}</span>'
    error = f'<span class="error">{_text(trajectory.error)}</span>' if trajectory.error else ""
    return f"""<header>
<div><h1>{_text(trajectory.task_id or "an episode")}</h1><p>{_text(where)}</p></div>
<button id="theme" type="button" hidden>Light / dark</button>
</header>
<div class="card outcome">{outcome}{ended}{error}</div>"""


def _facts(trajectory: Trajectory) -> str:
    cost, versions = trajectory.cost, trajectory.versions
    money = "price unknown" if cost.money_usd is None else f"{cost.money_usd:.4f} US dollars" if cost.money_usd else ""
    facts = {
        "policy": trajectory.policy,
        "rollout": trajectory.rollout_id,
        "seed": str(trajectory.seed),
        "turns": str(len(trajectory.steps)),
        "tokens": "not reported" if lacks_tokens(trajectory) else f"{cost.tokens_in} in, {cost.tokens_out} out",
        "time": f"{cost.wall_s:.2f} s, {cost.cpu_s:.3f} CPU-s",
        "money": money,
        "versions": f"task {versions.task or '-'}, verifier {versions.verifier or '-'}, workgym {versions.env or '-'}",
        "environment": trajectory.env,
    }
    rows = (
        f"<div{' class=wide' if name == 'environment' else ''}><dt>{name}</dt><dd>{_text(fact)}</dd></div>"
        for name, fact in facts.items()
        if fact
    )
    return f'<dl class="card">{"".join(rows)}</dl>'


# ---- conversation


def _conversation(trajectory: Trajectory) -> Iterator[str]:
    messages = trajectory.messages
    opening = max(0, len(messages) - 2 * len(trajectory.steps))
    for message in messages[:opening]:
        yield f'<article><p class="who"><strong>{_text(_ROLES.get(message.role, message.role))}</strong></p>'
        yield f'<pre class="asked">\n{_parts(message)}</pre></article>'
    for number, step in enumerate(trajectory.steps):
        place = opening + 2 * number
        said = messages[place] if place < len(messages) else None
        yield _turn(number + 1, step, said)


_ROLES: Final[Mapping[str, str]] = {"system": "instructions", "user": "task"}


def _turn(number: int, step: Step, said: Message | None) -> str:
    notes = [f"reward {step.reward:g}"] if step.reward else []
    if step.stop > step.start:
        notes.append(f"{step.stop - step.start} tokens, {step.finish or 'open'}")
    notes.append(f"policy {step.policy_s:.3f} s, environment {step.env_s:.3f} s")
    wrong = "" if step.valid else '<span class="wrong">could not be carried out</span>'
    notes_html = "".join(f"<span>{_text(note)}</span>" for note in notes)
    action = "".join(map(_piece, read_action(step, said))) or '<p class="said nothing">nothing was said</p>'
    answer = _pre(step.observation, "answer") if step.observation else '<p class="answer nothing">no answer</p>'
    return f"""<article class="turn">
<p class="who"><strong>turn {number}</strong>{wrong}{notes_html}</p>
{action}
{answer}
</article>"""


def _piece(piece: Said | Code | UsedTool) -> str:
    if isinstance(piece, Said):
        return _pre(piece.text, "said")
    if isinstance(piece, Code):
        return _call("code", piece.language, _pre(piece.text))
    arguments = ((f"<label>{_text(name)}</label>" if name else "") + _pre(value) for name, value in piece.arguments)
    return _call(piece.name, piece.form, "".join(arguments))


def _call(name: str, note: str, inside: str) -> str:
    return f'<div class="call"><p><b>{_text(name)}</b><small>{_text(note)}</small></p>{inside}</div>'


def _parts(message: Message) -> str:
    shown = []
    for part in message.parts:
        if isinstance(part, Image):
            shown.append(f'<i class="escape">[picture {_text(part.sha256)}]</i>')
        elif isinstance(part, Call):
            shown.append(_text(f"{part.name} {part.arguments}"))
        else:
            shown.append(_text(part.text))
    return "".join(shown)


# ---- verdict


def _verdict(trajectory: Trajectory) -> Iterator[str]:
    verdict, attempt = trajectory.verdict, trajectory.attempt
    if verdict is not None and verdict.checks:
        heads = "".join(f"<th>{head}</th>" for head in ("layer", "score", "label", "found"))
        yield f'<div class="card scroll"><table class="checks"><tr>{heads}</tr>'
        yield from map(_check, verdict.checks)
        yield "</table></div>"
    else:
        yield '<p class="nothing">No layer judged it.</p>'
    if attempt is None:
        return
    yield '<div class="card more">'
    submission = "nothing was submitted" if attempt.submission is None else attempt.submission
    yield _details("what was submitted", submission, opened=True)
    for name, data in attempt.files.items():
        yield _details(f"file {name} ({len(data)} bytes)", _file(data))
    if attempt.state:
        yield _details("evidence", in_words(attempt.state))
    yield "</div>"


def _check(check: Check) -> str:
    low = "" if check.score >= 0.5 else " low"
    width = f"{100 * check.score:.4g}%"
    bar = f'<svg class="bar{low}" aria-hidden="true"><rect width="{width}" height="100%"/></svg>'
    label = f'<span class="badge">{_text(check.label)}</span>' if check.label else ""
    label += '<span class="badge bad">breach</span>' if check.breach else ""
    score = f'<td class="number">{bar}{check.score:.4g}</td>'
    return f"<tr><td>{_text(check.name)}</td>{score}<td>{label}</td><td>{_text(check.detail)}</td></tr>"


def _details(title: str, text: str, *, opened: bool = False) -> str:
    return f"<details{' open' if opened else ''}><summary>{_text(title)}</summary>{_pre(text)}</details>"


def _file(data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return "(not text)"
    if len(text) <= _MAX_FILE_CHARS:
        return text
    return f"{text[:_MAX_FILE_CHARS]}\n(the first {_MAX_FILE_CHARS} of {len(text)} characters)"


# ---- tokens


def _tokens(trajectory: Trajectory, token_text: TokenText | None) -> Iterator[str]:
    """The rows as data, from which the page's script draws them when they are asked for."""
    if not trajectory.ids:
        return
    rows = [
        {
            "ids": row.ids,
            "mask": "".join("1" if sampled else "0" for sampled in row.action),
            "logp": [_rounded(logp) for logp, sampled in zip(row.logp, row.action, strict=True) if sampled],
            "version": [version for version, sampled in zip(row.version, row.action, strict=True) if sampled],
        }
        for row in trajectory.rows()
    ]
    data: dict[str, Any] = {"rows": rows}
    if token_text is not None:
        data["texts"] = {token: readable(token_text(token)) for token in sorted(set(trajectory.ids))}
    held = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c").replace("&", "\\u0026")
    legend = "".join(
        f'<span><span class="token act p{number}">{words}</span></span>'
        for number, words in enumerate(("p below 0.1", "below 0.35", "below 0.65", "below 0.9", "up to 1"))
    )
    yield f"""<h2>Tokens</h2>
<button id="show-tokens" type="button" aria-expanded="false" aria-controls="tokens" hidden>Show tokens</button>
<div id="tokens" class="card more" hidden>
<p class="readout more" aria-live="polite">Point at a token: its id, log-probability and weights version stand here.</p>
<p class="legend">underlined: sampled by the policy, carries loss; colored by probability {legend}</p>
</div>
<script type="application/json" id="token-data">{held}</script>"""


def _rounded(logp: float) -> float | None:
    return float(f"{logp:.5g}") if math.isfinite(logp) else None


# ---- text


class _Characters(dict[int, str]):
    """Code point -> how it stands on the page; filled as characters are met."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        shown = f'<i class="escape">{char.encode("unicode_escape").decode()}</i>' if is_odd(char) else html.escape(char)
        self[code] = shown
        return shown


_CHARACTERS: Final = _Characters()


def _text(text: str) -> str:
    """A text as HTML: what a browser would obey or cannot show stands as a marked escape."""
    return text.translate(_CHARACTERS)


def _pre(text: str, kind: str = "") -> str:
    """A text with its lines as they are; a browser drops the first line break in the element, so that one is ours."""
    return f'<pre class="{kind}">\n{_text(text)}</pre>' if kind else f"<pre>\n{_text(text)}</pre>"


def _own_file(name: str) -> str:
    return resources.files("workgym.agents").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """The source expression of a security policy that allows this inline text alone."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
