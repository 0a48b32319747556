"""Templates of level 1: one simple solid, all its numbers given."""

from __future__ import annotations

from typing import Final

from workgym.tasks.modeling.shape import box, cone, cylinder, prism, sphere
from workgym.tasks.modeling.template import Sizes, Template
from workgym.tasks.modeling.tree import Step

__all__ = ["PRIMITIVES"]


def _tube(s: Sizes) -> list[Step]:
    return [
        Step("body", "add", cylinder((0, 0, 0), (0, 0, s["height"]), s["outer"])),
        Step("bore", "cut", cylinder((0, 0, 0), (0, 0, s["height"]), s["inner"]), ("start", "end"), ways=1),
    ]


def _wedge(s: Sizes) -> list[Step]:
    # The plane of y has z first: the triangle's corners are given as z, x.
    corners = [(0, 0, 0.0), (s["height"], 0, 0.0), (0, s["length"], 0.0)]
    return [Step("body", "add", prism(corners, 1, 0, s["depth"]))]


def _trapezoid(s: Sizes) -> list[Step]:
    inset = (s["bottom"] - s["top"]) / 2
    corners = [(0, 0, 0.0), (s["height"], inset, 0.0), (s["height"], inset + s["top"], 0.0), (0, s["bottom"], 0.0)]
    return [Step("body", "add", prism(corners, 1, 0, s["depth"]))]


PRIMITIVES: Final = (
    Template(
        name="block",
        level=1,
        ranges={"x": (5, 100, 1), "y": (5, 100, 1), "z": (5, 100, 1)},
        fits=lambda s: True,
        steps=lambda s: [Step("body", "add", box((0, 0, 0), (s["x"], s["y"], s["z"])))],
        noun="block",
        words={
            "body": (
                "A rectangular block, {x} along x, {y} along y and {z} along z. Its lowest corner is the origin.",
                "A box from (0, 0, 0) to ({x}, {y}, {z}).",
                "A cuboid {x} long (x), {y} wide (y) and {z} high (z), with one corner at the origin and the rest "
                "of it at "
                "positive coordinates.",
            )
        },
        short="box {x} x {y} x {z}, lowest corner (0, 0, 0)",
    ),
    Template(
        name="cylinder",
        level=1,
        ranges={"radius": (3, 50, 1), "height": (4, 100, 1)},
        fits=lambda s: True,
        steps=lambda s: [Step("body", "add", cylinder((0, 0, 0), (0, 0, s["height"]), s["radius"]))],
        noun="cylinder",
        words={
            "body": (
                "A cylinder of radius {radius} and height {height} that stands on the plane z = 0, its axis the z "
                "axis.",
                "A round pin: its base is a circle of radius {radius} around the origin in the plane z = 0, and it "
                "is {height} "
                "tall along +z.",
                "A solid cylinder along z from z = 0 to z = {height}, radius {radius}, centered on x = y = 0.",
            )
        },
        short="cylinder radius {radius} height {height}, base center (0, 0, 0), axis z",
    ),
    Template(
        name="rod",
        level=1,
        ranges={"radius": (2, 30, 1), "length": (10, 120, 1)},
        fits=lambda s: s["length"] > s["radius"],
        steps=lambda s: [Step("body", "add", cylinder((0, 0, 0), (s["length"], 0, 0), s["radius"]))],
        noun="rod",
        words={
            "body": (
                "A round rod of radius {radius} along the x axis, from x = 0 to x = {length}.",
                "A cylinder that lies along x: its axis runs from (0, 0, 0) to ({length}, 0, 0), its radius is "
                "{radius}.",
            )
        },
        short="cylinder radius {radius} height {length}, base center (0, 0, 0), axis x",
    ),
    Template(
        name="frustum",
        level=1,
        ranges={"bottom": (4, 50, 1), "top": (2, 45, 1), "height": (5, 80, 1)},
        fits=lambda s: abs(s["bottom"] - s["top"]) >= 2 and s["height"] >= 0.3 * max(s["bottom"], s["top"]),
        steps=lambda s: [Step("body", "add", cone((0, 0, 0), (0, 0, s["height"]), s["bottom"], s["top"]))],
        noun="cone frustum",
        words={
            "body": (
                "A cone frustum around the z axis: radius {bottom} at z = 0, radius {top} at z = {height}.",
                "A truncated cone that stands on the plane z = 0, centered on the z axis. Its base has radius "
                "{bottom}, its top "
                "radius {top}, and it is {height} tall.",
            )
        },
        short="cone radius {bottom} top radius {top} height {height}, base center (0, 0, 0), axis z",
    ),
    Template(
        name="tube",
        level=1,
        ranges={"outer": (6, 50, 1), "inner": (2, 46, 1), "height": (5, 100, 1)},
        fits=lambda s: 0.3 * s["outer"] <= s["inner"] <= min(0.8 * s["outer"], s["outer"] - 2),
        steps=_tube,
        noun="tube",
        words={
            "body": (
                "A straight tube around the z axis from z = 0 to z = {height}: outer radius {outer}, inner radius "
                "{inner}.",
                "A hollow cylinder, open at both ends, {height} tall. It stands on the plane z = 0 and is centered "
                "on the z axis. "
                "The outside has radius {outer}, the bore radius {inner}.",
            )
        },
        short="tube outer radius {outer} inner radius {inner} height {height}, base center (0, 0, 0), axis z",
    ),
    Template(
        name="wedge",
        level=1,
        ranges={"length": (10, 80, 1), "height": (6, 60, 1), "depth": (5, 80, 1)},
        fits=lambda s: 0.3 <= s["height"] / s["length"] <= 3,
        steps=_wedge,
        noun="wedge",
        words={
            "body": (
                "A wedge. Seen along y it is a right triangle with corners (x, z) = (0, 0), ({length}, 0) and (0, "
                "{height}); it "
                "reaches from y = 0 to y = {depth}.",
                "A triangular prism: the triangle in the xz plane has its right angle at the origin, a leg of "
                "{length} along +x "
                "and a leg of {height} along +z, and it is drawn along +y by {depth}.",
            )
        },
        short="wedge: triangle (x, z) (0, 0) ({length}, 0) (0, {height}), from y = 0 to y = {depth}",
    ),
    Template(
        name="trapezoid",
        level=1,
        ranges={"bottom": (14, 80, 2), "top": (6, 70, 2), "height": (5, 50, 1), "depth": (5, 80, 1)},
        fits=lambda s: 4 <= s["bottom"] - s["top"] <= 4 * s["height"],
        steps=_trapezoid,
        noun="bar",
        words={
            "body": (
                "A bar of symmetric trapezoidal section. In the xz plane its bottom edge runs from x = 0 to x = "
                "{bottom} at "
                "z = 0; its top edge, {top} long, lies at z = {height} above the middle of the bottom edge. The bar "
                "reaches from "
                "y = 0 to y = {depth}.",
                "A dovetail-like prism along y, from y = 0 to y = {depth}. Its section is a symmetric trapezoid: "
                "the lower side is "
                "{bottom} wide, from the origin along +x, the upper side {top} wide, and they are {height} apart in "
                "z.",
            )
        },
        short="bar: symmetric trapezoid in xz, bottom {bottom} from x = 0 at z = 0, top {top} at z = {height}, "
        "from y = 0 to y = {depth}",
    ),
    Template(
        name="ball",
        level=1,
        ranges={"x": (-40, 40, 1), "y": (-40, 40, 1), "z": (-40, 40, 1), "radius": (4, 40, 1)},
        fits=lambda s: True,
        steps=lambda s: [Step("body", "add", sphere((s["x"], s["y"], s["z"]), s["radius"]))],
        noun="ball",
        words={
            "body": (
                "A solid sphere of radius {radius}, centered at ({x}, {y}, {z}).",
                "A ball around the point x = {x}, y = {y}, z = {z}; its radius is {radius}.",
            )
        },
        short="sphere radius {radius}, center ({x}, {y}, {z})",
    ),
)
"""Every template of level 1."""
