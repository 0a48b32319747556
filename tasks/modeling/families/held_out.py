"""Templates of every level that only split "test" has: an agent never saw such a part."""

from __future__ import annotations

import math
from typing import Final

from workgym.tasks.modeling.families.block import BLOCK_WORDS, block, within
from workgym.tasks.modeling.families.patterned_steps import link, pulley, strip
from workgym.tasks.modeling.shape import cylinder, prism, torus
from workgym.tasks.modeling.template import Sizes, Template
from workgym.tasks.modeling.tree import Step

__all__ = ["HELD_OUT"]


def _hexagon(s: Sizes) -> list[Step]:
    corners = [
        (s["radius"] * math.cos(k * math.pi / 3), s["radius"] * math.sin(k * math.pi / 3), 0.0) for k in range(6)
    ]
    return [Step("body", "add", prism(corners, 2, 0, s["height"]))]


def _post(s: Sizes) -> list[Step]:
    x, y, top = s["x"], s["y"], s["height"] + s["post_height"]
    return [
        block(s),
        Step("post", "add", cylinder((x, y, s["height"]), (x, y, top), s["post_radius"]), ("start",)),
        Step("socket", "cut", cylinder((x, y, top - s["depth"]), (x, y, top), s["socket_radius"]), ("end",)),
    ]


def _drilled(s: Sizes) -> list[Step]:
    tunnel = cylinder(
        (0, s["tunnel_y"], s["tunnel_z"]), (s["length"], s["tunnel_y"], s["tunnel_z"]), s["tunnel_radius"]
    )
    hole = cylinder((s["x"], s["y"], s["height"] - s["depth"]), (s["x"], s["y"], s["height"]), s["radius"])
    return [
        block(s),
        Step("tunnel", "cut", tunnel, ("start", "end"), ways=1),
        Step("hole", "cut", hole, ("end",)),
    ]


HELD_OUT: Final = (
    Template(
        name="hexagon",
        level=1,
        ranges={"radius": (5, 50, 1), "height": (4, 80, 1)},
        fits=lambda s: True,
        steps=_hexagon,
        noun="hexagonal bar",
        words={
            "body": (
                "A regular hexagonal prism around the z axis, from z = 0 to z = {height}. The corners of the "
                "hexagon are {radius} "
                "from the axis, and one of them lies on +x.",
                "A hexagonal bar that stands on the plane z = 0, {height} tall, centered on the z axis. Its six "
                "corners lie on a "
                "circle of radius {radius}, the first at ({radius}, 0).",
            )
        },
        short="regular hexagonal prism, corner radius {radius}, first corner ({radius}, 0), height {height}, "
        "base center (0, 0, 0), axis z",
        held_out=True,
    ),
    Template(
        name="ring",
        level=1,
        ranges={"radius": (12, 45, 1), "tube": (3, 16, 1)},
        fits=lambda s: 1.4 * s["tube"] <= s["radius"] <= 3 * s["tube"],
        steps=lambda s: [Step("body", "add", torus((0, 0, 0), s["radius"], s["tube"]), ways=1)],
        noun="ring",
        words={
            "body": (
                "A torus around the z axis, centered at the origin. The circle in the middle of its tube has radius "
                "{radius}, the "
                "tube itself radius {tube}.",
                "A ring in the plane z = 0 around the origin: a tube of radius {tube}, bent so that its center line "
                "is a circle "
                "of radius {radius}.",
            )
        },
        short="torus radius {radius} tube radius {tube}, center (0, 0, 0), axis z",
        held_out=True,
    ),
    Template(
        name="socket_post",
        level=2,
        ranges={
            "length": (24, 100, 2),
            "width": (24, 80, 2),
            "height": (4, 16, 1),
            "x": (8, 90, 1),
            "y": (8, 70, 1),
            "post_radius": (6, 25, 1),
            "post_height": (8, 50, 1),
            "socket_radius": (2, 20, 0.5),
            "depth": (3, 45, 1),
        },
        fits=lambda s: (
            within(s["x"], s["post_radius"], s["length"], 2)
            and within(s["y"], s["post_radius"], s["width"], 2)
            and s["post_radius"] >= s["socket_radius"] + 2
            and s["depth"] + 2 <= s["post_height"]
        ),
        steps=_post,
        noun="base with a post",
        words={
            "body": BLOCK_WORDS,
            "post": (
                "On it stands a round post of radius {post_radius}, {post_height} tall above the block, its axis at "
                "x = {x}, "
                "y = {y}.",
                "A cylinder of radius {post_radius} rises {post_height} from the top of the block, centered at "
                "({x}, {y}).",
            ),
            "socket": (
                "From the top of the post a blind hole of radius {socket_radius} goes down along the same axis, "
                "{depth} deep, with "
                "a flat bottom.",
                "The post has a flat-bottomed socket in its top: coaxial, radius {socket_radius}, depth {depth}.",
            ),
        },
        short="box {length} x {width} x {height}, lowest corner (0, 0, 0); on top a cylinder radius {post_radius} "
        "height "
        "{post_height} at ({x}, {y}); in its top a blind hole radius {socket_radius} depth {depth}",
        labels={"socket_radius": "the radius of the socket", "depth": "the depth of the socket"},
        optional=("socket",),
        held_out=True,
    ),
    Template(
        name="cross_drilled_block",
        level=2,
        ranges={
            "length": (30, 100, 2),
            "width": (24, 80, 2),
            "height": (20, 60, 1),
            "tunnel_y": (6, 70, 1),
            "tunnel_z": (5, 40, 1),
            "tunnel_radius": (2, 12, 0.5),
            "x": (6, 90, 1),
            "y": (6, 70, 1),
            "radius": (2, 12, 0.5),
            "depth": (3, 40, 1),
        },
        fits=lambda s: (
            within(s["tunnel_y"], s["tunnel_radius"], s["width"])
            and within(s["tunnel_z"], s["tunnel_radius"], s["height"])
            and within(s["x"], s["radius"], s["length"])
            and within(s["y"], s["radius"], s["width"])
            and s["height"] - s["depth"] >= s["tunnel_z"] + s["tunnel_radius"] + 2
        ),
        steps=_drilled,
        noun="cross-drilled block",
        words={
            "body": BLOCK_WORDS,
            "tunnel": (
                "A hole of radius {tunnel_radius} goes through it along x, from end to end, at y = {tunnel_y}, z = "
                "{tunnel_z}.",
                "Along x it is drilled through, radius {tunnel_radius}; the axis of that hole is y = {tunnel_y}, z "
                "= {tunnel_z}.",
            ),
            "hole": (
                "From the top a blind hole with a flat bottom goes {depth} deep, of radius {radius}, at x = {x}, y "
                "= {y}.",
                "A flat-bottomed hole of radius {radius} and depth {depth} is sunk into the top at ({x}, {y}).",
            ),
        },
        short="box {length} x {width} x {height}, lowest corner (0, 0, 0); through hole along x radius "
        "{tunnel_radius} at y = "
        "{tunnel_y}, z = {tunnel_z}; blind hole in the top radius {radius} depth {depth} at ({x}, {y})",
        labels={"radius": "the radius of the blind hole", "tunnel_radius": "the radius of the hole along x"},
        optional=("hole", "tunnel"),
        mirrors={"hole": (0, "length")},
        held_out=True,
    ),
    Template(
        name="pulley",
        level=3,
        ranges={
            "radius": (16, 60, 1),
            "bottom_radius": (10, 50, 1),
            "rim": (2, 8, 1),
            "groove": (6, 30, 2),
            "bore_radius": (3, 30, 0.5),
        },
        fits=lambda s: (
            3 <= s["radius"] - s["bottom_radius"] <= s["groove"] and s["bottom_radius"] >= s["bore_radius"] + 3
        ),
        steps=pulley,
        noun="pulley",
        words={
            "body": (
                "A wheel around the z axis, standing on z = 0, of radius {radius}. Around its rim runs a symmetric "
                "V groove: "
                "{groove} wide at the rim, down to radius {bottom_radius} in the middle. On each side of the groove "
                "the rim is "
                "{rim} wide, so the wheel's width follows.",
                "From z = 0 up along the z axis: a cylinder of radius {radius}, {rim} high; then over half of "
                "{groove} a cone down "
                "to radius {bottom_radius}; over the other half a cone back to radius {radius}; and {rim} more of "
                "the cylinder.",
            ),
            "bore": (
                "A bore of radius {bore_radius} goes through it along the axis.",
                "Along its axis it is bored through with radius {bore_radius}.",
            ),
        },
        short="wheel radius {radius} around z from z = 0: rim {rim}, V groove width {groove} down to radius "
        "{bottom_radius}, rim "
        "{rim}; bore radius {bore_radius}",
        labels={"bore_radius": "the radius of the bore"},
        optional=("bore",),
        held_out=True,
    ),
    Template(
        name="link",
        level=3,
        ranges={
            "distance": (30, 90, 2),
            "radius": (8, 24, 1),
            "thickness": (4, 12, 1),
            "boss_radius": (6, 22, 1),
            "boss_height": (2, 12, 1),
            "hole_radius": (2, 16, 0.5),
        },
        fits=lambda s: (
            s["distance"] >= 2 * s["radius"] + 4
            and s["radius"] >= s["boss_radius"] + 2
            and s["boss_radius"] >= s["hole_radius"] + 2
        ),
        steps=link,
        noun="link",
        words={
            "body": (
                "A flat link from z = 0 to z = {thickness}. Seen from above it is a slot form: two half circles of "
                "radius {radius} "
                "around (0, 0) and ({distance}, 0), joined by straight sides.",
                "A bar {thickness} thick on the plane z = 0 with round ends of radius {radius}, whose centers are "
                "the origin and "
                "the point {distance} along +x.",
            ),
            "bosses": (
                "Above each of the two centers stands a round boss of radius {boss_radius}, {boss_height} tall "
                "above the link.",
                "On its top, coaxial with the round ends, are two bosses: radius {boss_radius}, height {boss_height}.",
            ),
            "holes": (
                "Through each boss and the link below a hole of radius {hole_radius} goes along z, on the same two "
                "centers.",
                "At both centers it is drilled through along z, boss and all, with radius {hole_radius}.",
            ),
        },
        short="link thickness {thickness} on z = 0, round ends radius {radius} around (0, 0) and ({distance}, 0); "
        "on both centers "
        "a boss radius {boss_radius} height {boss_height} and a through hole radius {hole_radius}",
        labels={"hole_radius": "the radius of the two holes", "boss_radius": "the radius of the two bosses"},
        optional=("holes",),
        held_out=True,
    ),
    Template(
        name="perforated_strip",
        level=3,
        ranges={
            "length": (60, 120, 2),
            "width": (14, 40, 2),
            "height": (3, 10, 1),
            "fillet": (2, 6, 1),
            "inset": (7, 16, 1),
            "radius": (2, 6, 0.5),
            "count": (3, 9, 1),
        },
        fits=lambda s: (
            s["inset"] >= s["radius"] + 3
            and s["width"] >= 2 * max(s["radius"], s["fillet"]) + 6
            and (s["length"] - 2 * s["inset"]) / (s["count"] - 1) >= 2 * s["radius"] + 2
        ),
        steps=strip,
        noun="perforated strip",
        words={
            "body": (
                "A strip {length} along x, {width} along y and {height} along z, from the origin on, its four "
                "vertical edges "
                "rounded with radius {fillet}.",
                "It fills x = 0 to {length}, y = 0 to {width}, z = 0 to {height}; fillets of radius {fillet} round "
                "its vertical "
                "edges.",
            ),
            "holes": (
                "Along the middle of its width lie {count} through holes of radius {radius}, evenly spaced in x; "
                "the axes of the "
                "first and the last are {inset} from the ends.",
                "A row of {count} holes goes through along z at half the width: radius {radius}, equal distances, "
                "the outer axes "
                "{inset} in from either end.",
            ),
        },
        short="strip {length} x {width} x {height}, lowest corner (0, 0, 0), vertical fillets {fillet}; {count} "
        "through holes "
        "radius {radius} along mid y, evenly spaced, outer ones inset {inset}",
        labels={"radius": "the radius of the holes"},
        optional=("holes",),
        counts=("count",),
        held_out=True,
    ),
)
"""Every template that is held out."""
