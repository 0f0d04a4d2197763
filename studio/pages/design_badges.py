"""The Design page's badges: whether the probabilities of the questions as they stand can be trusted.

Contract
--------
Figures belong to exactly these questions and this scorer: a question that was reworded has no labels yet, and gets no
badge. A question without any label gets none either. The words are those of `studio.calibration.badge`.
"""

from __future__ import annotations

from collections.abc import Callable

from pydantic import BaseModel, Field

from model.questions import Json
from storage.cases import questions_of
from storage.errors import NotFound
from studio.pages.calibration_data import Place, Shelf
from studio.pages.calibration_figures import badge_json, question_badge
from studio.pages.design_schemas import told


class Asked(BaseModel):
    """Which questions (their hash), and who answers (fingerprint)."""

    questions: str = Field(max_length=64)
    scorer: str = Field(max_length=64)


def badge_functions(shelf: Shelf) -> list[Callable[[Json], Json]]:
    """The function, under its name."""

    @told
    def badges(payload: Json) -> Json:
        given = Asked.model_validate(payload)
        try:
            asked = questions_of(shelf.database, given.questions)
        except NotFound:
            return {"badges": {}}
        found = {}
        for question in asked:
            loaded = shelf.load(Place(given.questions, given.scorer, question))
            if loaded.sampled.n:
                found[question] = badge_json(question_badge(shelf, loaded), loaded)
        return {"badges": found}

    return [badges]
