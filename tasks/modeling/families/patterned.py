"""Templates of level 3: patterns, fillets and chamfers, pockets, and sizes that have to be worked out."""

from __future__ import annotations

from typing import Final

from workgym.tasks.modeling.families.patterned_steps import (
    bolt_flange,
    bracket_fits,
    counterbored,
    counterbored_fits,
    flange_fits,
    heat_sink,
    mounting_plate,
    plate_fits,
    rib_bracket,
    tray,
)
from workgym.tasks.modeling.template import Template

__all__ = ["PATTERNED"]

PATTERNED: Final = (
    Template(
        name="mounting_plate",
        level=3,
        ranges={
            "length": (60, 120, 2),
            "width": (50, 100, 2),
            "height": (6, 20, 1),
            "fillet": (4, 12, 1),
            "inset": (6, 14, 1),
            "radius": (2, 6, 0.5),
            "border": (12, 28, 1),
            "pocket_fillet": (2, 8, 1),
            "depth": (2, 12, 1),
        },
        fits=plate_fits,
        steps=mounting_plate,
        noun="mounting plate",
        words={
            "body": (
                "The plate fills x = 0 to {length}, y = 0 to {width}, z = 0 to {height}; its four vertical edges "
                "are rounded "
                "with radius {fillet}.",
                "A plate {length} (x) by {width} (y) by {height} (z) with its lowest corner, before rounding, at "
                "the origin. "
                "Fillets of radius {fillet} run along its four vertical edges.",
            ),
            "holes": (
                "Four through holes of radius {radius}, one in each corner: their axes, along z, are {inset} away "
                "from the two "
                "nearest sides.",
                "In every corner a hole of radius {radius} goes through along z, centered {inset} from each of the "
                "two sides "
                "that meet there.",
            ),
            "pocket": (
                "In the middle of the top is a rectangular pocket, {depth} deep, that leaves a border {border} wide "
                "on all four "
                "sides; its vertical edges are rounded with radius {pocket_fillet}.",
                "A pocket is sunk {depth} into the top face. It keeps {border} away from each of the four sides, "
                "and its "
                "corners, seen from above, have radius {pocket_fillet}.",
            ),
        },
        short="plate {length} x {width} x {height}, lowest corner (0, 0, 0), vertical fillets {fillet}; 4 corner "
        "through holes "
        "radius {radius} inset {inset}; top pocket depth {depth} border {border} corner radius {pocket_fillet}",
        labels={
            "radius": "the radius of the four holes",
            "depth": "the depth of the pocket",
            "border": "the width of the border around the pocket",
        },
        optional=("pocket", "holes"),
    ),
    Template(
        name="bolt_flange",
        level=3,
        ranges={
            "flange_radius": (25, 60, 1),
            "thickness": (4, 14, 1),
            "hub_radius": (9, 35, 1),
            "hub_height": (5, 30, 1),
            "bore_radius": (4, 25, 0.5),
            "pitch_radius": (16, 54, 1),
            "radius": (1.5, 5, 0.5),
            "count": (3, 10, 1),
        },
        fits=flange_fits,
        steps=bolt_flange,
        noun="bolt flange",
        words={
            "body": (
                "A disc of radius {flange_radius} around the z axis, from z = 0 to z = {thickness}.",
                "It stands on z = 0: a round flange centered on the z axis, radius {flange_radius}, {thickness} thick.",
            ),
            "hub": (
                "A coaxial hub of radius {hub_radius} stands {hub_height} tall on the disc.",
                "From the disc a round hub of radius {hub_radius} rises {hub_height} further along the axis.",
            ),
            "bore": (
                "A bore of radius {bore_radius} goes through disc and hub along the axis.",
                "The whole is bored through along its axis with radius {bore_radius}.",
            ),
            "holes": (
                "{count} through holes of radius {radius} lie equally spaced on a circle of radius {pitch_radius} "
                "around the "
                "axis, the first at ({pitch_radius}, 0).",
                "A bolt circle of radius {pitch_radius} carries {count} holes of radius {radius} through the disc "
                "along z, "
                "evenly spaced, one of them on the +x axis.",
            ),
        },
        short="disc radius {flange_radius} height {thickness} on z = 0 around z; hub radius {hub_radius} height "
        "{hub_height} on "
        "it; bore radius {bore_radius}; {count} through holes radius {radius} on circle radius {pitch_radius}, "
        "first on +x",
        labels={"radius": "the radius of the bolt holes", "bore_radius": "the radius of the bore"},
        optional=("holes", "bore"),
        counts=("count",),
    ),
    Template(
        name="tray",
        level=3,
        ranges={
            "length": (40, 120, 2),
            "width": (30, 100, 2),
            "height": (12, 50, 1),
            "wall": (2, 6, 0.5),
            "floor": (2, 8, 0.5),
            "fillet": (4, 14, 1),
            "drain_radius": (2, 8, 0.5),
        },
        fits=lambda s: (
            s["fillet"] >= s["wall"] + 1
            and s["height"] >= s["floor"] + 6
            and s["width"] >= 2 * s["fillet"] + 8
            and s["length"] >= 2 * s["fillet"] + 8
            and s["width"] >= 2 * (s["wall"] + s["drain_radius"] + 3)
        ),
        steps=tray,
        noun="tray",
        words={
            "body": (
                "Outside it is {length} along x, {width} along y and {height} high, from the origin on, and its "
                "four vertical "
                "edges are rounded with radius {fillet}.",
                "Its outer form fills x = 0 to {length}, y = 0 to {width} and z = 0 to {height}, with vertical "
                "edges of "
                "radius {fillet}.",
            ),
            "cavity": (
                "It is hollow and open at the top: the wall is {wall} thick everywhere, also around the corners, "
                "and the floor "
                "{floor}.",
                "The cavity, open upward, leaves a floor of {floor} and a wall of even thickness {wall}, so that "
                "its vertical "
                "edges are rounded about the same axes as the outer ones.",
            ),
            "drain": (
                "In the middle of the floor a round hole of radius {drain_radius} goes through.",
                "The floor is pierced at its center by a vertical hole, radius {drain_radius}.",
            ),
        },
        short="tray {length} x {width} x {height}, lowest corner (0, 0, 0), vertical fillets {fillet}, wall {wall}, "
        "floor "
        "{floor}, open top; hole radius {drain_radius} in the middle of the floor",
        labels={
            "drain_radius": "the radius of the hole in the floor",
            "wall": "the thickness of the wall (the outside stays)",
            "floor": "the thickness of the floor (the outside stays)",
        },
        optional=("drain",),
    ),
    Template(
        name="heat_sink",
        level=3,
        ranges={
            "length": (40, 110, 2),
            "width": (20, 80, 2),
            "base": (3, 10, 1),
            "fin": (2, 6, 0.5),
            "fin_height": (8, 40, 1),
            "count": (3, 9, 1),
        },
        fits=lambda s: (s["length"] - s["fin"]) / (s["count"] - 1) >= s["fin"] + 3,
        steps=heat_sink,
        noun="heat sink",
        words={
            "body": (
                "Its base is a block {length} along x, {width} along y and {base} along z, the lowest corner at the "
                "origin.",
                "The base plate fills x = 0 to {length}, y = 0 to {width}, z = 0 to {base}.",
            ),
            "fins": (
                "On the base stand {count} equal fins, each {fin} thick in x, {fin_height} tall above the base and "
                "as deep in y "
                "as the base. They are evenly spaced along x; the first and the last are flush with the ends of the "
                "base.",
                "{count} upright fins cross the base along all of y. A fin is {fin} thick and rises {fin_height} "
                "above the "
                "base; the outer faces of the first and the last fin are flush with the two ends of the base in x, "
                "and all "
                "gaps are equal.",
            ),
        },
        short="base {length} x {width} x {base}, lowest corner (0, 0, 0); {count} fins on it across all of y, "
        "thickness {fin}, "
        "height {fin_height}, evenly spaced in x, outer ones flush",
        labels={
            "fin": "the thickness of the fins (the outer ones stay flush, the gaps equal)",
            "base": "the thickness of the base",
        },
        counts=("count",),
    ),
    Template(
        name="rounded_bracket",
        level=3,
        ranges={
            "length": (40, 100, 1),
            "height": (40, 90, 1),
            "width": (24, 80, 2),
            "thickness": (3, 10, 1),
            "fillet": (3, 12, 1),
            "inset": (6, 20, 1),
            "spacing": (8, 60, 2),
            "radius": (2, 6, 0.5),
            "wall_inset": (6, 30, 1),
            "wall_radius": (2, 12, 0.5),
        },
        fits=bracket_fits,
        steps=rib_bracket,
        noun="bracket with a round inner corner",
        words={
            "body": (
                "An L section in the xz plane, drawn along y from y = 0 to y = {width}: a foot on z = 0 from x = 0 to "
                "x = {length}, and a wall on x = 0 up to z = {height}, both {thickness} thick. The inner corner "
                "between them is "
                "filled with a fillet of radius {fillet}.",
                "It is {width} wide (y = 0 to {width}) and has two legs of thickness {thickness}, one along +x with "
                "its underside "
                "on z = 0, {length} long, one along +z with its back on x = 0, {height} high in all. Where they "
                "meet, the inner "
                "edge has a fillet of radius {fillet}.",
            ),
            "feet": (
                "The foot has two vertical through holes of radius {radius}: both axes are {inset} from the foot's "
                "free end, "
                "{spacing} apart in y, and symmetric to the middle of the width.",
                "Two holes of radius {radius} go through the foot along z. Their centers are {inset} short of the "
                "end at "
                "maximal x and {spacing} apart, evenly about the middle of y.",
            ),
            "window": (
                "The wall has one through hole along x, of radius {wall_radius}, in the middle of the width, its axis "
                "{wall_inset} below the wall's upper end.",
                "Through the wall goes a hole along x, radius {wall_radius}, centered in y and {wall_inset} below "
                "the top.",
            ),
        },
        short="L in xz along y 0 to {width}: foot x 0 to {length}, wall z 0 to {height}, both {thickness} thick, "
        "inner fillet "
        "{fillet}; 2 holes along z through the foot radius {radius}, {inset} from its end, {spacing} apart about "
        "mid y; hole "
        "along x through the wall radius {wall_radius}, mid y, {wall_inset} below the top",
        labels={
            "wall_radius": "the radius of the hole in the wall",
            "radius": "the radius of the two holes in the foot",
            "fillet": "the radius of the inner fillet",
        },
        optional=("window", "feet"),
    ),
    Template(
        name="counterbored_plate",
        level=3,
        ranges={
            "length": (50, 120, 2),
            "width": (40, 90, 2),
            "height": (6, 20, 1),
            "chamfer": (3, 12, 1),
            "inset": (6, 18, 1),
            "radius": (1.5, 5, 0.5),
            "head_radius": (3.5, 9, 0.5),
            "head_depth": (2, 12, 1),
            "count": (2, 5, 1),
        },
        fits=counterbored_fits,
        steps=counterbored,
        noun="counterbored plate",
        words={
            "body": (
                "The plate is {length} along x, {width} along y and {height} along z, from the origin on. Its four "
                "vertical edges "
                "are chamfered at 45 degrees, {chamfer} off each side.",
                "A plate that fills x = 0 to {length}, y = 0 to {width}, z = 0 to {height}, except for its four "
                "corners: there a "
                "chamfer takes {chamfer} from either side.",
            ),
            "holes": (
                "It has two rows of {count} counterbored holes along x. The outermost axes are {inset} from the "
                "sides of the "
                "plate in x and in y, and the holes of a row are evenly spaced. Each has a through hole of radius "
                "{radius} and, "
                "from the top, a coaxial counterbore of radius {head_radius}, {head_depth} deep with a flat bottom.",
                "Counterbored holes stand in a grid of {count} in x by two in y, evenly spaced, the outer ones "
                "{inset} in from the "
                "four sides. Each is drilled through with radius {radius} and opened from the top to radius "
                "{head_radius} for "
                "a depth of {head_depth}.",
            ),
        },
        short="plate {length} x {width} x {height}, lowest corner (0, 0, 0), vertical chamfers {chamfer}; holes in "
        "a grid of "
        "{count} (x) by 2 (y), outer ones inset {inset}: through radius {radius}, counterbore radius {head_radius} "
        "depth "
        "{head_depth} from the top",
        labels={"head_radius": "the radius of the counterbores", "head_depth": "the depth of the counterbores"},
        optional=("holes",),
        counts=("count",),
    ),
)
"""Every template of level 3."""
