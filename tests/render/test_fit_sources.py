from __future__ import annotations

from pathlib import Path

import pytest

from arrowproof.errors import InputError
from arrowproof.render.fit_sources import read_sources


def test_a_page_of_32_mib_is_read_and_a_byte_more_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_bytes(b"<!doctype html>")
    with page.open("r+b") as file:
        file.truncate(32 * 2**20)
        assert len(read_sources([page])[0].content) == 32 * 2**20
        file.truncate(32 * 2**20 + 1)
    with pytest.raises(InputError, match=r"page\.html is larger than 32 MiB, the most that is checked"):
        read_sources([page])


def test_an_empty_file_is_said_to_be_empty(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.touch()
    with pytest.raises(InputError, match=r"page\.html is no HTML file, since it is empty"):
        read_sources([page])


def test_pages_of_one_name_get_names_of_their_own_for_their_pictures(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "page.html").write_text("<!doctype html>")
    sources = read_sources([tmp_path / "a" / "page.html", tmp_path / "b" / "page.html"])
    assert [source.stem for source in sources] == ["page", "page-2"]
