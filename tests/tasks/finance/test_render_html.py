from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from workgym.tasks.errors import TaskError
from workgym.tasks.finance.filing import plan_filing
from workgym.tasks.finance.ledger import draw_ledger
from workgym.tasks.finance.render.html import render_html
from workgym.tasks.finance.statements import cells_by_address
from workgym.tasks.finance.structure import draw_structure


def _html(seed, level=2, value_seed=3):
    structure = draw_structure(seed).at_level(level)
    return render_html(plan_filing(structure, level), draw_ledger(structure, value_seed))


LONG = [_html(seed) for seed in range(24)]


class _Seen(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.attributes, self.comments, self.words, self.styles, self.open = set(), [], [], set(), []
        self.feed(html.decode("ascii"))
        self.close()

    def handle_starttag(self, tag, attrs):
        self.attributes |= {(tag, name) for name, _ in attrs}
        self.styles |= {value for name, value in attrs if name == "style"}
        if tag not in ("meta", "hr"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.attributes |= {(tag, name) for name, _ in attrs}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_comment(self, data):
        self.comments.append(data)

    def handle_data(self, data):
        if data.strip():
            self.words.append(data.strip())


def test_nothing_but_looks_stands_beside_the_words():
    for html in (*LONG, _html(0, level=1)):
        seen = _Seen(html)
        assert {name for _, name in seen.attributes} <= {"style", "colspan", "charset", "cellpadding", "cellspacing"}
        assert seen.comments == []
        assert seen.open == []
        assert b"ix:" not in html
        assert not [style for style in seen.styles if re.search(r"(?<!#)\b\d{4}|display|hidden", style)]


def test_every_amount_of_a_filing_is_written():
    structure = draw_structure(4)
    filing, ledger = plan_filing(structure, 2), draw_ledger(structure, 1)
    written = set(_Seen(render_html(filing, ledger)).words)

    digits = {cell.text(ledger).rstrip(")%") for cell in cells_by_address(filing.tables).values()}

    assert digits <= {words.lstrip("$").rstrip(")%") for words in written}


def test_what_a_blank_cell_would_show_is_not_written():
    for seed in range(12):
        structure = draw_structure(seed)
        whole = replace(structure, blanks=frozenset())
        ledger = draw_ledger(structure, 2)
        without, with_it = (render_html(plan_filing(one, 2), ledger) for one in (structure, whole))
        lines = zip(without.splitlines(), with_it.splitlines(), strict=True)
        assert len([one for one, other in lines if one != other]) == 1


def test_filings_look_different():
    def share(pattern):
        return sum(re.search(pattern, html) is not None for html in LONG) / len(LONG)

    assert 0.1 < share(rb"<th[ >]") < 0.9
    assert 0.05 < share(rb"<thead>") < 0.9
    assert 0.3 < share(rb'<td style="[^"]*">\)</td>') < 1
    assert 0.3 < share(rb"<hr style=.page-break-after:always") < 1
    assert 0.1 < share(rb"padding-left") < 1
    assert 0.1 < share(rb"<t[dh][^>]*>\((?:In|Fiscal)") < 0.9


def test_the_first_level_always_looks_the_same():
    def looks(html):
        return re.sub(rb">[^<]+<", b"><", html.split(b"<table")[1].split(b"<tr>")[1])

    assert len({looks(_html(seed, level=1)) for seed in range(10)}) == 1
    assert b"colspan" in _html(0, level=1)  # of rows of text alone


def test_words_are_escaped():
    structure = replace(draw_structure(3), company="A<b>&\u2014\u201cCo\u201d Foods Inc.")
    html = render_html(plan_filing(structure, 2), draw_ledger(structure, 0))

    assert b"A&lt;b&gt;&amp;&#8212;&#8220;Co&#8221; Foods Inc." in html
    assert b"<b>" not in html


def test_other_amounts_change_nothing_but_digits():
    one, other = (re.sub(rb"[$]?[(]?[0-9][0-9,.]*|&#8212;|[)%]", b"", _html(2, value_seed=seed)) for seed in (0, 1))

    assert one == other


def test_the_same_seeds_give_the_same_bytes_whatever_the_hashes_of_strings():
    program = (
        "import hashlib\n"
        "from workgym.tasks.finance.filing import plan_filing\n"
        "from workgym.tasks.finance.ledger import draw_ledger\n"
        "from workgym.tasks.finance.render.html import render_html\n"
        "from workgym.tasks.finance.structure import draw_structure\n"
        "s = draw_structure(0)\n"
        "print(hashlib.sha256(render_html(plan_filing(s, 2), draw_ledger(s, 3))).hexdigest())\n"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout.strip()
        for seed in ("1", "2")
    }

    assert told == {hashlib.sha256(LONG[0]).hexdigest()}


def test_amounts_of_another_company_are_refused():
    structure, other = draw_structure(0), draw_structure(2)
    ledger = replace(draw_ledger(other, 0), structure=structure)

    with pytest.raises(TaskError, match="have no"):
        render_html(plan_filing(structure, 2), ledger)


@pytest.mark.xdist_group("alone")
def test_300_pages_are_written_within_a_second():
    started, pages, longest = time.process_time(), 0, 0.0
    seed = 0
    while pages < 300:
        before = time.process_time()
        structure = draw_structure(seed)
        filing = plan_filing(structure, 2)
        render_html(filing, draw_ledger(structure, 0))
        pages, seed = pages + len(filing.pages), seed + 1
        longest = max(longest, (time.process_time() - before) / len(filing.pages) * 20)

    assert time.process_time() - started < 1
    assert longest < 0.1  # 20 pages cost 10 ms; a collection of garbage may fall into them
