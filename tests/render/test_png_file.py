"""A PNG that is written here is read by others as the picture that it was made of."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from PIL import Image

from arrowproof.render.png_file import write_png

RANDOM = Random(5)


@pytest.mark.parametrize("size", [(1, 1), (7, 3), (2, 40), (300, 200)])
def test_a_picture_is_read_as_it_was_written(tmp_path: Path, size: tuple[int, int]) -> None:
    made = Image.frombytes("RGB", size, RANDOM.randbytes(3 * size[0] * size[1]))
    write_png(made, tmp_path / "made.png")
    with Image.open(tmp_path / "made.png") as found:
        found.verify()  # the sums of its parts
    with Image.open(tmp_path / "made.png") as found:
        assert (found.format, found.mode, found.size) == ("PNG", "RGB", size)
        assert found.tobytes() == made.tobytes()


def test_a_picture_of_flat_colours_is_small(tmp_path: Path) -> None:
    write_png(Image.new("RGB", (2000, 1000), (226, 229, 232)), tmp_path / "flat.png")
    assert (tmp_path / "flat.png").stat().st_size < 60_000
