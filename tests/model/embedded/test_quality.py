"""The committed weights answer: a floor that broken weights cannot reach, far below what the model card states."""

from __future__ import annotations

import pytest

from model.embedded.askers import ScorerAsker
from model.embedded.measuring import measure, read_sets
from model.embedded.reader import Embedded

FLOORS = {"refund": 0.7, "phishing": 0.65, "legal_threat": 0.65, "team": 0.55, "urgency": 0.0}


def test_the_floor(scorer: Embedded) -> None:
    asker = ScorerAsker(scorer)
    sets = [s for s in read_sets(None, None, rows=30, seed=3) if s.name in FLOORS]
    assert len(sets) == len(FLOORS)
    for evaluation in sets:
        result = measure(evaluation, asker)
        assert result.figure >= FLOORS[result.name], result
        if result.off is not None and result.middle is not None:
            assert result.off < result.middle, result


@pytest.mark.parametrize("text", ["", "x" * 400])
def test_nonsense_gives_probabilities(scorer: Embedded, text: str) -> None:
    evaluation = next(s for s in read_sets(None, None, rows=1, seed=3) if s.name == "team")
    for p in ScorerAsker(scorer).ask(text, evaluation.questions).values():
        assert sum(p) == pytest.approx(1)
