"""The committed weights answer: a floor that broken weights cannot reach, far below what the model card states."""

from __future__ import annotations

import pytest

from model.embedded.askers import ScorerAsker
from model.embedded.measuring import measure, read_sets
from model.embedded.reader import Embedded

YES_NO = ("medical_question", "phishing", "insult", "personal_data")


def test_the_floor(scorer: Embedded) -> None:
    asker = ScorerAsker(scorer)
    sets = {s.name: s for s in read_sets(None, None, rows=24, seed=3)}
    areas = [measure(sets[name], asker).figure for name in YES_NO]
    assert sum(areas) / len(areas) >= 0.68, areas
    assert measure(sets["team"], asker).figure >= 0.5


@pytest.mark.parametrize("text", ["", "x" * 400])
def test_nonsense_gives_probabilities(scorer: Embedded, text: str) -> None:
    evaluation = next(s for s in read_sets(None, None, rows=1, seed=3) if s.name == "team")
    for p in ScorerAsker(scorer).ask(text, evaluation.questions).values():
        assert sum(p) == pytest.approx(1)
