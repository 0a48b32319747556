"""Templates of level 2: two or three operations."""

from __future__ import annotations

from typing import Final

from workgym.tasks.modeling.families.block import BLOCK_WORDS, block, within
from workgym.tasks.modeling.shape import box, cylinder, prism
from workgym.tasks.modeling.template import Sizes, Template
from workgym.tasks.modeling.tree import Step

__all__ = ["PARTS"]


def _plate(s: Sizes) -> list[Step]:
    hole = cylinder((s["x"], s["y"], 0), (s["x"], s["y"], s["height"]), s["radius"])
    return [block(s), Step("hole", "cut", hole, ("start", "end"), ways=1)]


def _shaft(s: Sizes) -> list[Step]:
    first, second = s["foot_height"], s["foot_height"] + s["neck_height"]
    return [
        Step("body", "add", cylinder((0, 0, 0), (0, 0, first), s["foot_radius"])),
        Step("neck", "add", cylinder((0, 0, first), (0, 0, second), s["neck_radius"]), ("start",)),
        Step("tip", "add", cylinder((0, 0, second), (0, 0, second + s["tip_height"]), s["tip_radius"]), ("start",)),
    ]


def _bushing(s: Sizes) -> list[Step]:
    top = s["flange_height"] + s["hub_height"]
    return [
        Step("body", "add", cylinder((0, 0, 0), (0, 0, s["flange_height"]), s["flange_radius"])),
        Step("hub", "add", cylinder((0, 0, s["flange_height"]), (0, 0, top), s["hub_radius"]), ("start",)),
        Step("bore", "cut", cylinder((0, 0, 0), (0, 0, top), s["bore_radius"]), ("start", "end"), ways=1),
    ]


def _slotted(s: Sizes) -> list[Step]:
    slot = box((s["x"], 0, s["height"] - s["depth"]), (s["x"] + s["slot"], s["width"], s["height"]))
    return [block(s), Step("slot", "cut", slot, ("y-", "y+", "z+"))]


def _bracket(s: Sizes) -> list[Step]:
    t = s["thickness"]
    # The plane of y has z first: corners are given as z, x.
    outline = [(0, 0), (s["height"], 0), (s["height"], t), (t, t), (t, s["length"]), (0, s["length"])]
    hole = cylinder((s["x"], s["y"], 0), (s["x"], s["y"], t), s["radius"])
    return [
        Step("body", "add", prism([(z, x, 0.0) for z, x in outline], 1, 0, s["width"])),
        Step("hole", "cut", hole, ("start", "end"), ways=1),
    ]


def _pocketed(s: Sizes) -> list[Step]:
    low = (s["x"], s["y"], s["height"] - s["depth"])
    high = (s["x"] + s["pocket_length"], s["y"] + s["pocket_width"], s["height"])
    return [block(s), Step("pocket", "cut", box(low, high), ("z+",))]


PARTS: Final = (
    Template(
        name="drilled_plate",
        level=2,
        ranges={
            "length": (30, 120, 2),
            "width": (24, 90, 2),
            "height": (4, 20, 1),
            "x": (5, 110, 1),
            "y": (5, 80, 1),
            "radius": (3, 15, 0.5),
        },
        fits=lambda s: within(s["x"], s["radius"], s["length"]) and within(s["y"], s["radius"], s["width"]),
        steps=_plate,
        noun="drilled plate",
        words={
            "body": BLOCK_WORDS,
            "hole": (
                "A round hole of radius {radius} goes straight through it along z; its axis is at x = {x}, y = {y}.",
                "It has one through hole along z, of radius {radius}, centered at ({x}, {y}).",
            ),
        },
        short="box {length} x {width} x {height}, lowest corner (0, 0, 0); through hole along z radius {radius} at "
        "({x}, {y})",
        labels={
            "radius": "the radius of the hole",
            "x": "the x position of the hole's axis",
            "height": "the plate's height (z)",
        },
        optional=("hole",),
        mirrors={"hole": (0, "length")},
    ),
    Template(
        name="stepped_shaft",
        level=2,
        ranges={
            "foot_radius": (10, 40, 1),
            "foot_height": (4, 40, 1),
            "neck_radius": (6, 36, 1),
            "neck_height": (4, 40, 1),
            "tip_radius": (3, 32, 1),
            "tip_height": (4, 40, 1),
        },
        fits=lambda s: s["foot_radius"] - 2 >= s["neck_radius"] >= s["tip_radius"] + 2,
        steps=_shaft,
        noun="stepped shaft",
        words={
            "body": (
                "The shaft stands on the plane z = 0 and is centered on the z axis. Its foot has radius "
                "{foot_radius} and is "
                "{foot_height} tall.",
                "Around the z axis, from z = 0 up: first a cylinder of radius {foot_radius} and height {foot_height}.",
            ),
            "neck": (
                "On the foot stands a second cylinder on the same axis, of radius {neck_radius} and height "
                "{neck_height}.",
                "Next, right above it, a cylinder of radius {neck_radius}, {neck_height} tall.",
            ),
            "tip": (
                "The third and last cylinder on top of that, again on the axis, has radius {tip_radius} and height "
                "{tip_height}.",
                "On top of that, coaxial, a cylinder of radius {tip_radius} that is {tip_height} tall.",
            ),
        },
        short="cylinders on the z axis stacked from z = 0: radius {foot_radius} height {foot_height}; radius "
        "{neck_radius} height "
        "{neck_height}; radius {tip_radius} height {tip_height}",
        labels={
            "tip_height": "the height of the topmost cylinder",
            "tip_radius": "the radius of the topmost cylinder",
            "foot_radius": "the radius of the lowest cylinder",
        },
        optional=("tip",),
    ),
    Template(
        name="flanged_bushing",
        level=2,
        ranges={
            "flange_radius": (14, 50, 1),
            "flange_height": (3, 15, 1),
            "hub_radius": (8, 40, 1),
            "hub_height": (5, 50, 1),
            "bore_radius": (3, 30, 0.5),
        },
        fits=lambda s: s["flange_radius"] - 3 >= s["hub_radius"] >= max(s["bore_radius"] + 3, 1.25 * s["bore_radius"]),
        steps=_bushing,
        noun="flanged bushing",
        words={
            "body": (
                "The flange is a disc of radius {flange_radius} around the z axis, from z = 0 to z = {flange_height}.",
                "It stands on the plane z = 0, centered on the z axis, with a round flange of radius {flange_radius}, "
                "{flange_height} thick.",
            ),
            "hub": (
                "On the flange stands a round hub on the same axis: radius {hub_radius}, and {hub_height} tall "
                "above the flange.",
                "A coaxial cylinder of radius {hub_radius} rises {hub_height} from the top of the flange.",
            ),
            "bore": (
                "A bore of radius {bore_radius} goes through flange and hub along the axis.",
                "Along its axis it is bored through from end to end, radius {bore_radius}.",
            ),
        },
        short="disc radius {flange_radius} height {flange_height} on z = 0 around the z axis; on it a cylinder "
        "radius {hub_radius} "
        "height {hub_height}; bore through both radius {bore_radius}",
        labels={"bore_radius": "the radius of the bore", "flange_radius": "the radius of the flange"},
        optional=("bore",),
    ),
    Template(
        name="slotted_block",
        level=2,
        ranges={
            "length": (30, 120, 2),
            "width": (12, 80, 2),
            "height": (10, 60, 1),
            "x": (4, 100, 1),
            "slot": (3, 40, 1),
            "depth": (3, 50, 1),
        },
        fits=lambda s: s["x"] + s["slot"] + 4 <= s["length"] and s["depth"] + 3 <= s["height"],
        steps=_slotted,
        noun="slotted block",
        words={
            "body": BLOCK_WORDS,
            "slot": (
                "A straight slot runs along y over the whole top: it is open at the top and at both ends, {slot} "
                "wide from "
                "x = {x} on toward +x, and {depth} deep.",
                "Into the top face a groove is cut along the whole of y, from x = {x}, {slot} wide in x, and "
                "{depth} deep from "
                "the top.",
            ),
        },
        short="box {length} x {width} x {height}, lowest corner (0, 0, 0); slot along all of y in the top, from x = "
        "{x}, width "
        "{slot}, depth {depth}",
        labels={"depth": "the depth of the slot", "slot": "the width of the slot (its lower x stays)"},
        optional=("slot",),
        mirrors={"slot": (0, "length")},
    ),
    Template(
        name="angle_bracket",
        level=2,
        ranges={
            "length": (30, 100, 1),
            "height": (20, 90, 1),
            "width": (16, 80, 1),
            "thickness": (3, 12, 1),
            "x": (10, 90, 1),
            "y": (6, 70, 1),
            "radius": (2, 10, 0.5),
        },
        fits=lambda s: (
            s["x"] - s["radius"] - 3 >= s["thickness"] * 1.5
            and within(s["x"], s["radius"], s["length"])
            and within(s["y"], s["radius"], s["width"])
            and s["height"] >= 3 * s["thickness"]
        ),
        steps=_bracket,
        noun="angle bracket",
        words={
            "body": (
                "An L section in the xz plane, drawn along y from y = 0 to y = {width}. The foot lies on z = 0 from "
                "x = 0 to "
                "x = {length}, the wall stands on x = 0 up to z = {height}; both are {thickness} thick, and the "
                "inner corner is "
                "sharp.",
                "A bracket {width} wide (y = 0 to {width}) with two legs of thickness {thickness}: one along +x, "
                "{length} long, "
                "whose underside is z = 0, and one along +z, {height} high in all, whose back is x = 0.",
            ),
            "hole": (
                "The foot has a vertical through hole of radius {radius} at x = {x}, y = {y}.",
                "Through the leg along x goes a hole along z, radius {radius}, centered at ({x}, {y}).",
            ),
        },
        short="L in xz along y 0 to {width}: foot x 0 to {length}, wall z 0 to {height}, both {thickness} thick; "
        "hole along z "
        "through the foot radius {radius} at ({x}, {y})",
        labels={"radius": "the radius of the hole", "y": "the y position of the hole's axis"},
        optional=("hole",),
    ),
    Template(
        name="pocketed_block",
        level=2,
        ranges={
            "length": (30, 120, 2),
            "width": (24, 90, 2),
            "height": (8, 40, 1),
            "x": (3, 80, 1),
            "y": (3, 60, 1),
            "pocket_length": (6, 90, 1),
            "pocket_width": (6, 70, 1),
            "depth": (3, 35, 1),
        },
        fits=lambda s: (
            s["x"] + s["pocket_length"] + 3 <= s["length"]
            and s["y"] + s["pocket_width"] + 3 <= s["width"]
            and s["depth"] + 3 <= s["height"]
        ),
        steps=_pocketed,
        noun="pocketed block",
        words={
            "body": BLOCK_WORDS,
            "pocket": (
                "In its top is a rectangular pocket with sharp corners. Its corner with the lowest x and y is at x "
                "= {x}, y = {y}; "
                "it is {pocket_length} long in x, {pocket_width} wide in y and {depth} deep from the top.",
                "A box-shaped pocket is sunk {depth} into the top face, from ({x}, {y}) on: {pocket_length} in x by "
                "{pocket_width} in y.",
            ),
        },
        short="box {length} x {width} x {height}, lowest corner (0, 0, 0); pocket in the top from ({x}, {y}), "
        "{pocket_length} x "
        "{pocket_width}, depth {depth}",
        labels={
            "depth": "the depth of the pocket",
            "pocket_length": "the length of the pocket in x (its lower x stays)",
        },
        optional=("pocket",),
        mirrors={"pocket": (0, "length")},
    ),
)
"""Every template of level 2."""
