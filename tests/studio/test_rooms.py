"""The navigation is made of the rooms that there are, and each of them answers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from model.engine import Engine
from studio import look, rooms
from studio.server import build
from studio.settings import Settings
from tests.api.hash_scorer import HashScorer

LINK = re.compile(r'<a href="([^"]*)"([^>]*)>([^<]*)</a>')


def links(page: str) -> list[tuple[str, str, str]]:
    bar = re.search(r'<div class="cs-nav-links">(.*?)</div>', page)
    assert bar is not None
    return LINK.findall(bar.group(1))


def test_every_page_links_all_rooms_and_marks_its_own() -> None:
    for room in rooms.ROOMS:
        found = links(rooms.template(room.name))
        assert [title for _, _, title in found] == [other.title for other in rooms.ROOMS]
        assert [title for _, here, title in found if "aria-current" in here] == [room.title]


def test_every_link_leads_to_a_page(tmp_path: Path) -> None:
    engine = Engine(lambda _: HashScorer())
    with TestClient(build(Settings(data=tmp_path), engine=engine), base_url="http://localhost") as client:
        for address, _, title in links(rooms.template("design")):
            reply = client.get("/" + address.removeprefix("./"))
            assert reply.status_code == 200
            # The page's own template is in it, and no other room's.
            marks = {room.title: f'"elem_id":"{room.name}"' in reply.text for room in rooms.ROOMS}
            assert [name for name, there in marks.items() if there] == [title]


def test_every_icon_that_is_used_is_there() -> None:
    there = set(re.findall(r'<symbol id="([^"]+)"', (look.ASSETS / "icons.html").read_text(encoding="utf-8")))
    for room in rooms.ROOMS:
        source = (
            rooms.template(room.name)
            + b"".join(script for name, script in rooms.scripts().items() if name.startswith(f"{room.name}/")).decode()
        )
        assert set(re.findall(r'"#(i-[a-z]+)"', source)) <= there
    assert len(there) > 20


def test_templates_hold_nothing_that_gradio_would_fill_in() -> None:
    for room in rooms.ROOMS:
        page = rooms.template(room.name)
        assert "${" not in page
        assert "{{" not in page
        assert "<!--" not in page


def test_a_page_without_its_marks_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "page.html").write_text("<!--icons--><nav></nav>")
    (tmp_path / "icons.html").write_text("<svg></svg>")
    monkeypatch.setattr(rooms, "ASSETS", tmp_path)
    with pytest.raises(ValueError, match="<!--rooms--> once"):
        rooms.template("odd")


def test_scripts_have_an_address_that_changes_with_them() -> None:
    assert {"design/main.js", "label/main.js", "calibration/main.js"} <= set(rooms.scripts())
    assert re.fullmatch(r"[0-9a-f]{12}", rooms.version())


def test_a_page_starts_in_its_colours(tmp_path: Path) -> None:
    engine = Engine(lambda _: HashScorer())
    with TestClient(build(Settings(data=tmp_path), engine=engine), base_url="http://localhost") as client:
        for room in rooms.ROOMS:
            reply = client.get(f"/{rooms.path(room)}")
            early = reply.text.partition("</head>")[0]
            assert int(reply.headers["content-length"]) == len(reply.content)
            assert look.THEME_SCRIPT in early
            assert "--ground:" in early
        assert look.THEME_SCRIPT not in client.get("/studio/examples").text


def test_no_room_keeps_gradio_s_own_padding() -> None:
    sheet = look.sheet("gradio")
    assert [room.name for room in rooms.ROOMS if f"#{room.name}" not in sheet] == []
