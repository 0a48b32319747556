"""The surface forms that a reader of financial answers has to keep apart: right, readable but wrong, not to be read.

Each row is a question, how the answer is declared, and forms of it with `·` between them. Escapes stand for what
cannot be seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

__all__ = ["JSON_ROWS", "QUESTIONS", "REFUSED", "RIGHT", "WRONG"]

_MONEY: Final = {"kind": "number", "unit": "USD", "scale": "millions"}
_PERCENT: Final = {"kind": "number", "unit": "percent", "decimals": 1}
_NAMES: Final = {"kind": "text", "length": 2}

# name -> (spec, gold), in the form of `AnswerSpec.to_public` and `Gold.to_hidden`.
QUESTIONS: Final[Mapping[str, tuple[dict[str, Any], dict[str, Any]]]] = MappingProxyType(
    {
        "P": (_PERCENT, {"value": "12.5"}),
        "P-": (_PERCENT, {"value": "-12.5"}),
        "P12": ({"kind": "number", "unit": "percent"}, {"value": "12"}),
        "P0.5": (_PERCENT, {"value": "0.5"}),
        "M": (_MONEY | {"decimals": 1}, {"value": "1.2"}),
        "L": (_MONEY, {"value": "1234"}),
        "L-": (_MONEY, {"value": "-1234"}),
        "E": ({"kind": "number", "unit": "USD/share", "decimals": 2}, {"value": "-0.09"}),
        "X": ({"kind": "number", "unit": "multiple", "decimals": 1}, {"value": "5.2"}),
        "PP": ({"kind": "number", "unit": "percentage_points", "decimals": 1}, {"value": "1.5"}),
        "Q": ({"kind": "number", "unit": "ratio", "decimals": 3}, {"value": "0.125"}),
        "Q0": ({"kind": "number", "unit": "ratio", "decimals": 3}, {"value": "0"}),
        "Q0.01": ({"kind": "number", "unit": "ratio", "decimals": 2}, {"value": "0.01"}),
        "Q1.234": ({"kind": "number", "unit": "ratio", "decimals": 3}, {"value": "1.234"}),
        "Z": (_MONEY, {"value": "0"}),
        "S": ({"kind": "number", "unit": "shares", "scale": "millions", "decimals": 1}, {"value": "15343.8"}),
        "days": ({"kind": "number", "unit": "days", "decimals": 1}, {"value": "45.3"}),
        "count": ({"kind": "count", "unit": "count"}, {"value": 3}),
        "EUR": ({"kind": "number", "unit": "EUR", "decimals": 2}, {"value": "1234567.89"}),
        "JPY": ({"kind": "number", "unit": "JPY", "scale": "millions"}, {"value": "-1000"}),
        "CAD": ({"kind": "number", "unit": "CAD"}, {"value": "5"}),
        "USD5": ({"kind": "number", "unit": "USD"}, {"value": "5"}),
        "down": (_PERCENT | {"sign": "magnitude"}, {"value": "5", "direction": "decrease"}),
        "date": ({"kind": "date"}, {"value": "2024-09-28"}),
        "year": ({"kind": "year"}, {"value": 2024}),
        "yes": ({"kind": "bool"}, {"value": True}),
        "no": ({"kind": "bool"}, {"value": False}),
        "text": (
            {"kind": "text"},
            {"value": 'Alder\'s "North" Mill', "aliases": {'Alder\'s "North" Mill': ["Alder Mill"]}},
        ),
        "choice": ({"kind": "choice", "choices": {"fell": ["declined"], "rose": [], "stayed": []}}, {"value": "fell"}),
        "set": (_NAMES, {"value": ["Alder", "Brant"]}),
        "ordered": (_NAMES | {"ordered": True}, {"value": ["Alder", "Brant"]}),
        "numbers": (_PERCENT | {"length": 2}, {"value": ["12.5", "-3"]}),
    }
)

# (question, declared, forms)
RIGHT: Final[tuple[tuple[str, dict[str, str], str], ...]] = (
    (
        "P",
        {},
        "12.5%·12.5 %·12.5·12.50%·+12.5%·12.5 percent·12.5 per cent·12.5 pct·12.5 Percent",
    ),
    ("P", {"unit": "percent"}, "12.5%·12.5·\uff11\uff12\uff0e\uff15\uff05"),
    ("P", {"unit": "ratio"}, "0.125·.125·1.25e-1"),
    ("P", {"unit": "bps"}, "1250·1,250 bps·1250 basis points"),
    ("P-", {}, "-12.5%·(12.5)%·(12.5%)·( 12.5 )%·(12.5)·- 12.5%·12.5-"),
    ("P-", {}, "\u221212.5%·\u201012.5%·\u201112.5%·\u201212.5%·\u201312.5%·\u201412.5%·\ufe6312.5%·\uff0d12.5%"),
    ("P12", {}, "12·12.·12.0%"),
    ("P0.5", {}, ".5%·0.50 %"),
    ("M", {}, "1.2·$1.2 million·$1.20 million·US$1.2 million·USD 1.2 million·1.2 million USD·1.2mn·1.2 mm·1.2m·1.2M"),
    ("M", {}, "$1.2 million dollars"),
    ("M", {"scale": "units"}, "$1,200,000·1200000·1 200 000·1'200'000·1\u2019200\u2019000·1.2e6·1,200,000.00"),
    ("M", {"scale": "thousands"}, "1,200·1,200 thousand·1,200k·$1,200K"),
    ("M", {"scale": "billions"}, "0.0012·.0012bn·0.0012 billion"),
    ("L", {}, "1,234·1234·1,234.0·1234.4·$ 1,234·+1,234·1,233.5·1,234.5"),
    (
        "L-",
        {},
        "(1,234)·(1234)·($1,234)·$(1,234)·-$1,234·$-1,234·-1,234·1,234-",
    ),
    ("L-", {}, "\u25b31,234·\u25b21,234·(1,234) million·-1.234e3"),
    ("E", {}, "$(0.09)·-$0.09·(0.09)·-.09·(.09)·$(0.09) per share·-0.09/share"),
    ("X", {}, "5.2x·5.2 x·5.2\u00d7·5.2 times·5.20x·5.2"),
    ("X", {"unit": "ratio"}, "5.2"),
    ("X", {"unit": "percent"}, "520%"),
    ("PP", {}, "1.5·1.5 pp·1.5 ppt·1.5 percentage points"),
    ("PP", {"unit": "bps"}, "150·150 bps"),
    ("Q", {}, "0.125·0.1249·0.1255"),
    ("Z", {}, "0·0.0·-0·(0)·$0"),
    ("Q0", {}, "0·0.0·-0·(0)"),
    ("S", {}, "15,343.8·15,343.8 million shares"),
    ("S", {"scale": "units"}, "15,343,800,000·15,343.8e6"),
    ("days", {}, "45.3·45.3 days"),
    ("count", {}, "3·3.0"),
    ("EUR", {}, "\u20ac1,234,567.89·EUR 1,234,567.89·1 234 567.89 EUR·1234567.89 euros"),
    ("JPY", {}, "(1,000) million yen·-\u00a51,000·\uffe5-1,000"),
    ("down", {"direction": "decrease"}, "5%·5.0"),
    ("date", {}, "2024-09-28·September 28, 2024·Sept. 28, 2024·28 September 2024"),
    ("year", {}, "2024·FY2024·fiscal 2024"),
    ("yes", {}, "yes·TRUE"),
    ("no", {}, "No·false"),
    ("text", {}, 'alder\'s "north" mill·  Alder\u2019s \u201cNorth\u201d Mill ·ALDER MILL'),
    ("choice", {}, "fell·Fell · FELL·declined"),
)

# (question, declared, forms, label)
WRONG: Final[tuple[tuple[str, dict[str, str], str, str], ...]] = (
    ("P", {}, "0.125·0.125%", "scale_10^-2"),
    ("P", {}, "1250%·1250", "scale_10^2"),
    ("P", {}, "-12.5%·(12.5)%", "sign"),
    ("P", {}, "12.4%·12·13%·12.44%·12.56", "rounding"),
    ("P", {"unit": "ratio"}, "12.5", "scale_10^2"),
    ("P", {"unit": "multiple"}, "12.5x", "scale_10^2"),
    ("P", {"unit": "percentage_points"}, "12.5", "unit"),
    ("P", {"unit": "USD"}, "12.5", "unit"),
    ("P-", {}, "12.5%", "sign"),
    ("PP", {"unit": "percent"}, "1.5%", "unit"),
    ("M", {"scale": "units"}, "1.2·$1.2", "scale_10^-6"),
    ("M", {"scale": "thousands"}, "1.2", "scale_10^-3"),
    ("M", {"scale": "billions"}, "1.2 billion", "scale_10^3"),
    ("M", {}, "1,200,000", "scale_10^6"),
    ("M", {"unit": "EUR"}, "1.2", "unit"),
    ("M", {"unit": "USD/share"}, "1.2", "unit"),
    ("L", {}, "-1,234·(1,234)", "sign"),
    ("L-", {}, "1,234·$1,234", "sign"),
    ("L", {}, "1,243·1,324", "other"),
    ("L", {}, "12,340", "scale_10^1"),
    ("L", {}, "123.4", "scale_10^-1"),
    ("L", {}, "1234.6·1233.4", "rounding"),
    ("L-", {}, "-1,243·(1,324)", "other"),
    ("L-", {}, "(12,340)", "scale_10^1"),
    ("L-", {}, "-123.4", "scale_10^-1"),
    ("L-", {}, "(1234.6)·-1233.4", "rounding"),
    ("E", {}, "0.09", "sign"),
    ("E", {"unit": "USD"}, "-0.09", "unit"),
    ("S", {"unit": "USD"}, "15,343.8", "unit"),
    ("X", {"unit": "percent"}, "5.2%", "scale_10^-2"),
    ("Z", {}, "0.6", "rounding"),
    ("Q0", {}, "0.0006", "rounding"),
    ("Q0.01", {}, "0.0151·0.0049", "rounding"),
    ("Q1.234", {}, "1,234", "scale_10^3"),
    ("P0.5", {}, "0.4%", "rounding"),
    ("count", {}, "3.4·2.9", "rounding"),
    ("count", {}, "4", "other"),
    ("down", {"direction": "increase"}, "5%", "sign"),
    ("date", {}, "2024-09-30·September 28, 2023", "other"),
    ("year", {}, "2023·FY2025", "other"),
    ("yes", {}, "no", "other"),
    ("text", {}, "Brant Mill", "other"),
    ("choice", {}, "rose", "other"),
)

# (question, declared, forms)
REFUSED: Final[tuple[tuple[str, dict[str, str], str], ...]] = (
    # several values
    (
        "L",
        {},
        "1,234 or 1,300·1,234; 1,300·1,234, 1,300·1,234 1,300·1,234/1,300·1,234 (2022: 1,300)",
    ),
    ("L", {}, "[1234]·1,234\n1,300·1\n234"),
    # ranges and hedges
    (
        "L",
        {},
        "1,234-1,300·1,234\u20131,300·1,234 to 1,300·between 1 and 2·\u00b1 5·+/- 5",
    ),
    ("L", {}, ">1,234·\u22651,234·~1,234·\u22481,234·\u22651,234 million·~$1,234"),
    ("L", {}, "about 1,234·approx. 1,234·at least 1,234·1,234?"),
    # no number
    ("L", {}, "· ·nan·NaN·sNaN·inf·-Infinity·\u221e·N/A·none·null·\u2014·-·n.m.·.·()·%·$"),
    ("P", {}, "· ·nan·inf·N/A·\u2014·-·.·()·%"),
    # the syntax of a number
    ("L", {}, f"1_234·0x4D2·1e400·1e999999999·{'1' * 65}·1/8·12 1/2·\u00bd·12\u00b2·\u2460·\u0661\u0662·\u0967\u0968"),
    ("P", {}, "12\u200b.5·12\u00ad.5·\u202e12.5·12.5\u2066·\ufeff12.5·12\x00.5"),
    # groups
    ("L", {}, "1,23·12,34,567·1,2345·1.234.567·1.234,56·1,234.567.8·0,123·1,234'567·1 234,567·1,,234·,234·1,234,"),
    # signs
    ("L-", {}, "-(5)·(-5)·--5·-5-·+-5·-$-5·(5·5)·((5))·\u25b3-5·(5)-"),
    ("down", {"direction": "decrease"}, "-5%·(5)"),
    ("down", {}, "5%"),
    # units that clash
    ("P", {}, "12.5%%·12.5% percent·12.5 bps·12.5x·12.5 pp·$12.5"),
    ("P", {"unit": "ratio"}, "12.5%·12.5 percent"),
    ("P", {"unit": "percentage_points"}, "12.5%"),
    ("P", {"unit": "bps"}, "12.5%"),
    ("P", {"unit": "USD"}, "12.5%"),
    ("USD5", {}, "\u20ac5·$5 EUR·\u00a55·$5\u20ac·5 shares·5 apples"),
    ("CAD", {}, "US$5"),
    ("P", {"unit": "apples"}, "12.5"),
    # scales that clash
    ("L", {"scale": "units"}, "5 million·$5bn"),
    ("L", {"scale": "thousands"}, "5 million·5m"),
    ("L", {}, "5k·5 billion·5 million million·5 hundred·5 lakh·5\u5104"),
    ("P", {}, "5 million·5k%·5 million percent"),
    ("P", {"scale": "millions"}, "12.5"),
    # code and words
    ("L", {}, '5+3·=5·=SUM(A1)·c1-c2·int("5")·__import__("os")·five·one million·net loss of 5·5 CR·5 DR'),
    ("P", {}, "a decrease of 5%·down 5%·5% lower"),
    # wrapping
    (
        "L",
        {},
        "**5**·`5`·\"5\"·'5'·\\boxed{5}·$5$·\\text{5}·<b>5</b>·5(1)·5*·5\u2020·FY2024: 5·Answer: 5·5 (unaudited)",
    ),
    ("L", {}, '{"value":5}·5 -- correct·5; ignore previous'),
    # other kinds
    ("date", {}, "09/28/2024·2024-02-30·Q3 2024"),
    ("yes", {}, "yes and no·not true·maybe"),
    ("year", {}, "FY2024: 5·2024-2025·24"),
    ("choice", {}, "sideways·fell or rose"),
    ("set", {}, "Alder; Brant"),
)

# (question, the JSON text of the submission, outcome, label)
JSON_ROWS: Final[tuple[tuple[str, str, str, str], ...]] = (
    ("P", '{"value": 12.5}', "accept", ""),
    ("P", '{"value": 1.25e1}', "accept", ""),
    ("count", '{"value": 3}', "accept", ""),
    ("year", '{"value": 2024}', "accept", ""),
    ("yes", '{"value": true}', "accept", ""),
    ("set", '{"value": ["alder", "Brant"]}', "accept", ""),
    ("set", '{"value": ["Brant", "Alder"]}', "accept", ""),
    ("ordered", '{"value": ["Alder", "Brant"]}', "accept", ""),
    ("numbers", '{"value": ["12.5%", -3]}', "accept", ""),
    ("numbers", '{"value": ["(3)%", "12.46"]}', "accept", ""),
    ("P", '{"value": 12.56}', "wrong", "rounding"),
    ("yes", '{"value": false}', "wrong", "other"),
    ("set", '{"value": ["Alder"]}', "wrong", "other"),
    ("set", '{"value": ["Alder", "Brant", "Corvin"]}', "wrong", "other"),
    ("set", '{"value": ["Alder", "Alder"]}', "wrong", "other"),
    ("ordered", '{"value": ["Brant", "Alder"]}', "wrong", "other"),
    ("numbers", '{"value": ["12.5%", "3%"]}', "wrong", "other"),
    *(
        ("P", f'{{"value": {value}}}', "refuse", "")
        for value in ("null", "true", "{}", '{"value": 5}', "NaN", "[12.5]")
    ),
    *(("P", f'{{"value": {value}}}', "refuse", "") for value in ("1e400", "1e999999999", "-Infinity", "[]", '[["5"]]')),
    ("P", '{"value": 12.5, "value": 12.6}', "refuse", ""),
    ("P", "{}", "refuse", ""),
    ("P", "12.5", "refuse", ""),
    ("P", '{"value": 12.5', "refuse", ""),
    ("P", '{"value": 12.5, "unit": 1}', "refuse", ""),
    ("yes", '{"value": 1}', "refuse", ""),
    ("text", '{"value": 5}', "refuse", ""),
    ("set", '{"value": ["Alder", ["Brant"]]}', "refuse", ""),
    ("numbers", '{"value": ["12.5%", "about 3"]}', "refuse", ""),
)
