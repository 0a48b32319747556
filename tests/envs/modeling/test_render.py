"""Pictures of parts: they show what is there, from where it is said, at the scale of the task."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from drawn_parts import (
    FRAME,
    NOTHING,
    PLATE_FRAME,
    a_server,
    block,
    differs,
    inside_out,
    plate,
    together,
)

from workgym.envs.modeling.render.cameras import SHEET, VIEWS, Camera
from workgym.envs.modeling.render.marks import bar_mm
from workgym.envs.modeling.render.protocol import BACKENDS
from workgym.envs.modeling.render.server import RenderServer
from workgym.envs.modeling.render.shading import CUT, INSIDE
from workgym.tasks.errors import ActionError, TaskError
from workgym.tasks.modeling.solid import Solid

ORANGE, RED = np.array(CUT), np.array(INSIDE)


@pytest.fixture(scope="module", params=BACKENDS)
def server(request: pytest.FixtureRequest) -> Iterator[RenderServer]:
    with a_server(request.param) as one:
        yield one


def _has_hue(picture, color) -> np.ndarray:
    """Pixels of this color, lit or dark."""
    shares = picture / np.maximum(picture.sum(axis=2, keepdims=True), 1)
    return np.abs(shares - color / color.sum()).max(axis=2) < 0.03


def _gray(picture, row: int, column: int) -> int:
    red, green, blue = picture[row, column].tolist()
    assert red == green == blue
    return red


def test_a_sheet_is_a_picture_of_512_times_768(server):
    sheet = server.sheet(block(), FRAME)

    assert (sheet.shape, sheet.dtype, sheet.flags.writeable) == ((512, 768, 3), np.uint8, True)


def test_the_same_part_gives_the_same_bytes_twice_and_in_another_process(server):
    part = plate()
    first = server.sheet(part, PLATE_FRAME)
    section = server.view(part, PLATE_FRAME, "front", "section")
    with a_server(server.drawn_by[0]) as other:
        assert np.array_equal(first, server.sheet(part, PLATE_FRAME))
        assert np.array_equal(first, other.sheet(part, PLATE_FRAME))
        assert np.array_equal(section, other.view(part, PLATE_FRAME, "front", "section"))


# A block in the corner of large x, small y and z: where in the picture it must be, to the right and up, from -1 to 1.
PLACES = {
    "front": (1, -1),
    "right": (-1, -1),
    "top": (1, -1),
    "iso": (0, -1),
    "iso_back": (0, 0),
    "bottom": (1, 1),
    "back": (-1, -1),
    "left": (1, -1),
}


@pytest.mark.parametrize("view", VIEWS)
def test_each_view_looks_from_where_its_name_says(server, view):
    picture = server.view(block((7, 0, 0), (10, 3, 3)), FRAME, view)

    rows, columns = np.nonzero(differs(picture, server.view(NOTHING, FRAME, view)))

    place = ((columns.mean() - 383.5) / 145, (255.5 - rows.mean()) / 145)
    assert place == pytest.approx(PLACES[view], abs=0.35)


def test_a_sheet_has_the_views_in_its_order(server):
    corner = block((7, 0, 0), (10, 3, 3))
    shown = differs(server.sheet(corner, FRAME), server.sheet(NOTHING, FRAME))
    for number, view in enumerate(SHEET):
        row, column = divmod(number, 3)
        rows, columns = np.nonzero(shown[row * 256 : row * 256 + 256, column * 256 : column * 256 + 256])
        place = ((columns.mean() - 127.5) / 72, (127.5 - rows.mean()) / 72)
        assert place == pytest.approx(PLACES[view], abs=0.35), view


def test_a_part_of_twice_the_size_looks_twice_the_size(server):
    small, empty = block((0, 0, 0), (4, 4, 4)), server.sheet(NOTHING, FRAME)
    large = Solid(small.vertices * 2, small.faces)

    areas = [differs(server.sheet(one, FRAME), empty)[:256, :256].sum() for one in (small, large)]

    assert areas[1] / areas[0] == pytest.approx(4, rel=0.2)


def test_a_part_of_twice_the_size_of_the_frame_gives_another_sheet(server):
    part = plate()

    shown = differs(server.sheet(part, PLATE_FRAME), server.sheet(Solid(part.vertices * 2, part.faces), PLATE_FRAME))

    assert all(shown[r : r + 256, c : c + 256].mean() > 0.05 for r in (0, 256) for c in (0, 256, 512))


def test_what_lies_far_off_the_frame_moves_no_camera(server):
    part = together(block((2, 2, 2), (8, 8, 8)), block((9000, 9000, 9000), (9001, 9001, 9001)))

    assert not differs(server.sheet(part, FRAME), server.sheet(block((2, 2, 2), (8, 8, 8)), FRAME)).any()


def test_what_is_nearer_hides_what_is_farther(server):
    near, far = block((4, 0, 4), (6, 2, 6)), block((2, 6, 2), (8, 8, 8))

    picture = server.view(together(near, far), FRAME, "front", "depth")

    assert _gray(picture, 256, 384) > _gray(picture, 256, 384 + 70) + 80


@pytest.mark.parametrize(("depth", "gray"), [(0.0, 235), (2.5, 188), (5.0, 140), (10.0, 45)])
def test_depth_goes_from_light_to_dark_through_the_frame(server, depth, gray):
    picture = server.view(block((0, depth, 0), (10, depth + 1, 10)), FRAME, "front", "depth")

    assert _gray(picture, 200, 384) == pytest.approx(gray, abs=1)


def test_a_section_shows_material_and_the_hollow_within(server):
    hollow = together(block(), inside_out(block((3, 3, 3), (7, 7, 7))))

    picture = server.view(hollow, FRAME, "front", "section")
    cut = _has_hue(picture, ORANGE)

    assert cut.sum() / differs(picture, server.view(NOTHING, FRAME, "front", "section")).sum() == pytest.approx(
        0.84, abs=0.03
    )
    assert not cut[256, 384]
    assert cut[256 - 130, 384]


def test_a_section_cuts_away_what_lies_before_the_middle(server):
    picture = server.view(block((0, 0, 0), (10, 4, 10)), FRAME, "front", "section")

    assert not differs(picture, server.view(NOTHING, FRAME, "front", "section")).any()


def test_a_pocket_with_a_flat_floor_is_seen_from_straight_above(server):
    import manifold3d as m3
    from made_meshes import of_manifold

    pocketed = of_manifold(m3.Manifold.cube((10, 10, 10)) - m3.Manifold.cube((4, 4, 2)).translate((3, 3, 9)))
    picture = server.view(Solid(pocketed[0], pocketed[1].astype(np.int32)), FRAME, "top")

    row = differs(picture, server.view(block(), FRAME, "top"))[256, :]

    assert 2 <= row.sum() <= 6  # a line where each wall stands


def test_a_mesh_that_is_inside_out_is_red_and_a_right_one_is_not(server):
    right, wrong = (server.sheet(one, FRAME) for one in (block(), inside_out(block())))

    assert not _has_hue(right, RED)[30:220, 40:220].any()
    assert _has_hue(wrong, RED)[30:220, 40:220].mean() > 0.4


def test_through_a_missing_face_the_inner_side_is_seen(server):
    closed = block()
    faces = [face for face in closed.faces if not np.all(closed.vertices[face][:, 2] == 10)]

    picture = server.view(Solid(closed.vertices, np.array(faces, dtype=np.int32)), FRAME, "top")

    assert _has_hue(picture, RED)[256, 384]


@pytest.mark.parametrize("mode", ["shaded", "depth", "section"])
def test_nothing_is_drawn_as_a_frame_without_a_part(server, mode):
    picture = server.view(NOTHING, FRAME, "iso", mode)

    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 3  # the axes and the scale bar are there all the same


def test_triangles_without_area_are_left_out(server):
    cube = block()
    flat = np.array([[0, 0, 1], [2, 2, 2]], dtype=np.int32)

    assert np.array_equal(
        server.sheet(Solid(cube.vertices, np.concatenate([cube.faces, flat])), FRAME), server.sheet(cube, FRAME)
    )


@pytest.mark.parametrize("size", [0.013, 1.0, 7.3, 420.0, 9e4])
def test_the_scale_bar_is_a_round_length_and_as_long_as_it_says(server, size):
    camera = Camera(VIEWS["front"], np.zeros(3), np.full(3, size), 768, 512)
    length_px = bar_mm(camera) * camera.scale
    assert 0.08 * 768 <= length_px <= 0.25 * 768
    assert f"{bar_mm(camera):.0e}"[0] in "125"

    row = server.view(NOTHING, ([0.0] * 3, [size] * 3), "front")[512 - 10, 768 - 200 :]

    assert (row.max(axis=1) < 90).sum() == pytest.approx(length_px, abs=2)


def test_a_frame_as_flat_as_a_sheet_of_paper_can_be_looked_at(server):
    flat = ((0.0, 0.0, 0.0), (100.0, 60.0, 0.0))

    assert differs(server.sheet(block((0, 0, 0), (100, 60, 1)), flat), server.sheet(NOTHING, flat)).any()


def test_two_hundred_thousand_triangles_are_drawn(server):
    import manifold3d as m3
    from made_meshes import of_manifold

    vertices, faces = of_manifold(m3.Manifold.sphere(5, 620).translate((5, 5, 5)))
    assert 180_000 < len(faces) <= 200_000

    assert differs(server.sheet(Solid(vertices, faces.astype(np.int32)), FRAME), server.sheet(NOTHING, FRAME)).any()


def test_both_renderers_show_the_same():
    with a_server("pyrender") as one, a_server("raycast") as other:
        sheets = [each.sheet(plate(), PLATE_FRAME) for each in (one, other)]

    assert differs(*sheets).mean() < 0.02
    assert differs(*sheets).any()  # what differs is why the renderer is part of what is recorded


WRONG = {
    "a number that is none": Solid(np.full((3, 3), np.nan), np.array([[0, 1, 2]], dtype=np.int32)),
    "a huge number": Solid(np.full((3, 3), 1e300), np.array([[0, 1, 2]], dtype=np.int32)),
    "a vertex beyond the last": Solid(np.zeros((3, 3)), np.array([[0, 1, 3]], dtype=np.int32)),
    "a vertex before the first": Solid(np.zeros((3, 3)), np.array([[0, 1, -1]], dtype=np.int32)),
    "faces of four": Solid(np.zeros((4, 3)), np.array([[0, 1, 2, 3]], dtype=np.int32)),
    "too many": Solid(np.zeros((3, 3)), np.zeros((200_001, 3), dtype=np.int32)),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mesh_that_is_none_is_refused_in_the_name_of_the_phase(name):
    with pytest.raises(ActionError, match=r"^render: "):
        RenderServer("raycast").sheet(WRONG[name], FRAME)


def test_an_unknown_view_or_mode_is_told_the_nearest():
    with pytest.raises(ActionError, match=r"^render: unknown view 'fron'. Did you mean 'front'\?"):
        RenderServer("raycast").view(block(), FRAME, "fron")
    with pytest.raises(ActionError, match=r"^render: unknown mode 'shade'. Did you mean 'shaded'\?"):
        RenderServer("raycast").view(block(), FRAME, "front", "shade")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "frame", [((0, 0), (1, 1)), ((1, 1, 1), (0, 0, 0)), ((0, 0, 0), (0, 0, 0)), ((0, 0, 0), (1, 1, np.inf))]
)
def test_a_frame_box_that_is_none_is_an_error_of_the_task(frame):
    with pytest.raises(TaskError, match=r"^render: the frame box"):
        RenderServer("raycast").sheet(block(), frame)


def test_an_unknown_renderer_is_told_the_nearest():
    with pytest.raises(ValueError, match="unknown renderer 'raycaster'. Did you mean 'raycast'"):
        RenderServer("raycaster")  # type: ignore[arg-type]
