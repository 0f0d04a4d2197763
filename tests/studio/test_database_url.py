"""The whole server on PostgreSQL: a decision is recorded, labelled, found again, and its picture lies in the folder."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

from fastapi.testclient import TestClient

from model.engine import Engine
from storage.cases import list_places
from storage.search import Filter, find
from studio.server import build
from studio.settings import parse
from tests.api.hash_scorer import HashScorer
from tests.api.requests import THREE, body, picture, text
from tests.storage.postgres import MADE, running


def test_record_label_and_find(tmp_path: Path) -> None:
    with running() as server:
        url = server.database(like=MADE)
        engine = Engine(lambda _: HashScorer())
        assert engine.wait_ready(30).phase == "ready"
        app = build(parse(["--record", "--data", str(tmp_path)], {"CLEF_STUDIO_DATABASE": url}), engine=engine)
        with TestClient(app, base_url="http://localhost") as client:
            assert client.get("/label").status_code == 200
            asked = body(questions=THREE, state={"word": f"Überweisung {uuid4().hex}"}, images=[text(picture())])
            decided = client.post("/v1/systemone", json=asked)
            assert decided.status_code == 200, decided.text
            question = next(iter(THREE))
            said = {"decision_id": decided.json()["x_decision_id"], "question": question, "verdict": "right"}
            assert client.post("/v1/feedback", json=said).status_code == 200
            database = app.state.studio.database
            (place,) = list_places(database)
            (found,) = find(
                database,
                questions=place.questions,
                scorer=place.scorer,
                question=question,
                wanted=Filter(text="uberweis", labelled=True),
            )
        assert found.id == said["decision_id"]
        assert [label[1] for label in found.labels] == ["right"]
    files = {path.relative_to(tmp_path).parts[0] for path in tmp_path.rglob("*") if path.is_file()}
    assert "pictures" in files
    assert not {name for name in files if name.endswith(".db")}
