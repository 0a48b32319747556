"""The features of the parts of level 3, and which sizes of theirs go together."""

from __future__ import annotations

import math

from workgym.tasks.modeling.profile import Corner
from workgym.tasks.modeling.shape import box, cone, cylinder, prism
from workgym.tasks.modeling.template import Sizes
from workgym.tasks.modeling.tree import Step, circle, grid

__all__ = [
    "bolt_flange",
    "bracket_fits",
    "counterbored",
    "counterbored_fits",
    "flange_fits",
    "heat_sink",
    "link",
    "mounting_plate",
    "plate_fits",
    "pulley",
    "rib_bracket",
    "strip",
    "tray",
]


def _rounded(low: tuple[float, float], high: tuple[float, float], radius: float) -> list[Corner]:
    return [(low[0], low[1], radius), (high[0], low[1], radius), (high[0], high[1], radius), (low[0], high[1], radius)]


def mounting_plate(s: Sizes) -> list[Step]:
    """A plate with round corners, a hole in each and a pocket within a border."""
    length, width, top, inset, border = s["length"], s["width"], s["height"], s["inset"], s["border"]
    pocket = _rounded((border, border), (length - border, width - border), s["pocket_fillet"])
    hole = cylinder((inset, inset, 0), (inset, inset, top), s["radius"])
    return [
        Step("body", "add", prism(_rounded((0, 0), (length, width), s["fillet"]), 2, 0, top)),
        Step("holes", "cut", hole, ("start", "end"), grid(2, 2, length - 2 * inset, width - 2 * inset), ways=1),
        Step("pocket", "cut", prism(pocket, 2, top - s["depth"], top), ("end",)),
    ]


def plate_fits(s: Sizes) -> bool:
    """Whether a mounting plate's holes keep off its corners, its edges and its pocket."""
    from_corner = s["fillet"] - math.sqrt(2) * (s["fillet"] - s["inset"]) if s["fillet"] > s["inset"] else s["inset"]
    return (
        from_corner >= s["radius"] + 2
        and s["border"] >= s["inset"] + s["radius"] + 2
        and min(s["length"], s["width"]) - 2 * s["border"] >= 2 * s["pocket_fillet"] + 6
        and s["depth"] + 2 <= s["height"]
    )


def bolt_flange(s: Sizes) -> list[Step]:
    """A disc with a hub, a bore and a circle of holes."""
    thick, top, pitch = s["thickness"], s["thickness"] + s["hub_height"], s["pitch_radius"]
    hole = cylinder((pitch, 0, 0), (pitch, 0, thick), s["radius"])
    return [
        Step("body", "add", cylinder((0, 0, 0), (0, 0, thick), s["flange_radius"])),
        Step("hub", "add", cylinder((0, 0, thick), (0, 0, top), s["hub_radius"]), ("start",)),
        Step("bore", "cut", cylinder((0, 0, 0), (0, 0, top), s["bore_radius"]), ("start", "end"), ways=1),
        Step("holes", "cut", hole, ("start", "end"), circle(int(s["count"]), (0, 0)), ways=1),
    ]


def flange_fits(s: Sizes) -> bool:
    """Whether a flange's holes keep off its hub, its rim and each other."""
    return (
        s["hub_radius"] >= s["bore_radius"] + 3
        and s["pitch_radius"] >= s["hub_radius"] + s["radius"] + 2
        and s["flange_radius"] >= s["pitch_radius"] + s["radius"] + 2
        and 2 * s["pitch_radius"] * math.sin(math.pi / s["count"]) >= 2 * s["radius"] + 2
    )


def tray(s: Sizes) -> list[Step]:
    """A box with round corners, open at the top, with a hole in the middle of its floor."""
    length, width, wall, top = s["length"], s["width"], s["wall"], s["height"]
    cavity = _rounded((wall, wall), (length - wall, width - wall), s["fillet"] - wall)
    drain = cylinder((length / 2, width / 2, 0), (length / 2, width / 2, s["floor"]), s["drain_radius"])
    return [
        Step("body", "add", prism(_rounded((0, 0), (length, width), s["fillet"]), 2, 0, top)),
        Step("cavity", "cut", prism(cavity, 2, s["floor"], top), ("end",)),
        Step("drain", "cut", drain, ("start", "end"), ways=1),
    ]


def heat_sink(s: Sizes) -> list[Step]:
    """A base with fins, the outer ones flush with its ends."""
    count, base = int(s["count"]), s["base"]
    fin = box((0, 0, base), (s["fin"], s["width"], base + s["fin_height"]))
    return [
        Step("body", "add", box((0, 0, 0), (s["length"], s["width"], base)), ("z+",)),
        Step("fins", "add", fin, ("z-",), grid(count, 1, (s["length"] - s["fin"]) / (count - 1), 0)),
    ]


def rib_bracket(s: Sizes) -> list[Step]:
    """An angle with a round inner corner, two holes in its foot and one in its wall."""
    t, length, height, width = s["thickness"], s["length"], s["height"], s["width"]
    # The plane of y has z first: corners are given as z, x.
    outline = [(0, 0, 0.0), (height, 0, 0.0), (height, t, 0.0), (t, t, s["fillet"]), (t, length, 0.0), (0, length, 0.0)]
    foot = (length - s["inset"], width / 2 - s["spacing"] / 2)
    wall = (width / 2, height - s["wall_inset"])
    foot_hole = cylinder((*foot, 0), (*foot, t), s["radius"])
    return [
        Step("body", "add", prism([(float(z), float(x), r) for z, x, r in outline], 1, 0, width)),
        Step("feet", "cut", foot_hole, ("start", "end"), grid(1, 2, 0, s["spacing"]), ways=1),
        Step("window", "cut", cylinder((0, *wall), (t, *wall), s["wall_radius"]), ("start", "end"), ways=1),
    ]


def bracket_fits(s: Sizes) -> bool:
    """Whether a bracket's holes keep off its edges, its inner corner and each other."""
    inner = s["thickness"] + s["fillet"]
    return (
        s["inset"] >= s["radius"] + 2
        and s["length"] - s["inset"] - s["radius"] >= inner + 2
        and s["width"] >= s["spacing"] + 2 * s["radius"] + 4
        and s["spacing"] >= 2 * s["radius"] + 2
        and s["wall_inset"] >= s["wall_radius"] + 2
        and s["height"] - s["wall_inset"] - s["wall_radius"] >= inner + 2
        and s["width"] / 2 >= s["wall_radius"] + 2
    )


def counterbored(s: Sizes) -> list[Step]:
    """A plate without its corners, with two rows of counterbored holes."""
    length, width, top = s["length"], s["width"], s["height"]
    c, inset = s["chamfer"], s["inset"]
    cut = [(c, 0), (length - c, 0), (length, c), (length, width - c)]
    outline = [*cut, (length - c, width), (c, width), (0, width - c), (0, c)]
    count, floor = int(s["count"]), top - s["head_depth"]
    places = grid(count, 2, (length - 2 * inset) / (count - 1), width - 2 * inset)
    bore = cylinder((inset, inset, 0), (inset, inset, floor), s["radius"])
    head = cylinder((inset, inset, floor), (inset, inset, top), s["head_radius"])
    return [
        Step("body", "add", prism([(x, y, 0.0) for x, y in outline], 2, 0, top)),
        Step("holes", "cut", bore, ("start", "end"), places, ways=1),
        Step("holes.head", "cut", head, ("end",), places),
    ]


def counterbored_fits(s: Sizes) -> bool:
    """Whether the counterbores keep off the edges, the chamfers and each other."""
    head = s["head_radius"]
    return (
        s["radius"] + 2 <= head
        and s["inset"] >= head + 2
        and 2 * s["inset"] - s["chamfer"] >= math.sqrt(2) * (head + 2)
        and (s["length"] - 2 * s["inset"]) / (s["count"] - 1) >= 2 * head + 2
        and s["width"] - 2 * s["inset"] >= 2 * head + 2
        and s["head_depth"] + 2 <= s["height"]
    )


def pulley(s: Sizes) -> list[Step]:
    """A wheel with a groove like a V around its rim, and a bore."""
    rim, middle, outer, bottom = s["rim"], s["rim"] + s["groove"] / 2, s["radius"], s["bottom_radius"]
    end = 2 * s["rim"] + s["groove"]
    return [
        Step("body", "add", cylinder((0, 0, 0), (0, 0, rim), outer), ("end",)),
        Step("body.in", "add", cone((0, 0, rim), (0, 0, middle), outer, bottom), ("start", "end")),
        Step("body.out", "add", cone((0, 0, middle), (0, 0, end - rim), bottom, outer), ("start", "end")),
        Step("body.rim", "add", cylinder((0, 0, end - rim), (0, 0, end), outer), ("start",)),
        Step("bore", "cut", cylinder((0, 0, 0), (0, 0, end), s["bore_radius"]), ("start", "end"), ways=1),
    ]


def link(s: Sizes) -> list[Step]:
    """A flat link with two bosses and a hole through each."""
    reach, radius, top = s["distance"], s["radius"], s["thickness"] + s["boss_height"]
    both = grid(2, 1, reach, 0)
    outline = _rounded((-radius, -radius), (reach + radius, radius), radius)
    boss = cylinder((0, 0, s["thickness"]), (0, 0, top), s["boss_radius"])
    return [
        Step("body", "add", prism(outline, 2, 0, s["thickness"])),
        Step("bosses", "add", boss, ("start",), both),
        Step("holes", "cut", cylinder((0, 0, 0), (0, 0, top), s["hole_radius"]), ("start", "end"), both, ways=1),
    ]


def strip(s: Sizes) -> list[Step]:
    """A strip with round corners and a row of holes."""
    length, width, top, inset, count = s["length"], s["width"], s["height"], s["inset"], int(s["count"])
    hole = cylinder((inset, width / 2, 0), (inset, width / 2, top), s["radius"])
    return [
        Step("body", "add", prism(_rounded((0, 0), (length, width), s["fillet"]), 2, 0, top)),
        Step("holes", "cut", hole, ("start", "end"), grid(count, 1, (length - 2 * inset) / (count - 1), 0), ways=1),
    ]
