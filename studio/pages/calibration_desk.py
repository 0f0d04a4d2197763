"""The Calibration page's functions of the threshold desk: what thresholds do, and the policies that are kept."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from uuid import UUID

from pydantic import BaseModel, Field

from model.questions import Json
from storage.policies import Policy, check_thresholds, list_policies, save_policy, withdraw_policy
from studio import person
from studio.calibration.sampling import effective_n
from studio.calibration.thresholds import CONFIDENCE, Costs, Guarantee, cheapest, guarantee, zones
from studio.pages.calibration_data import Loaded, Shelf
from studio.pages.calibration_figures import budget_options, desk, plain
from studio.pages.calibration_review import Where
from studio.pages.design_schemas import Told, told

MONEY = Field(ge=0, le=1e12, allow_inf_nan=False)


class GivenCosts(BaseModel):
    """What things cost, in any one currency. `minutes` is how long a human looks at a case."""

    wrong_act: float = MONEY
    wrong_refusal: float = MONEY
    minute: float = MONEY
    minutes: float = Field(1.0, ge=0, le=10_000, allow_inf_nan=False)

    @property
    def costs(self) -> Costs:
        """Per case."""
        return Costs(self.wrong_act, self.wrong_refusal, self.minute * self.minutes)


class Priced(Where):
    """A question, and what things cost."""

    costs: GivenCosts


class Budgeted(Where):
    """A question, and the share of acted answers that may be wrong."""

    budget: float = Field(gt=0, lt=1, allow_inf_nan=False)


class GivenPolicy(Budgeted):
    """A policy to be kept. The server works out what it rests on."""

    id: UUID
    act: float | None = Field(gt=0, le=1, allow_inf_nan=False)
    refuse: float | None = Field(ge=0, le=1, allow_inf_nan=False)
    costs: GivenCosts | None = None


class Withdrawn(Where):
    """A question whose policy shall not count any more; `id` names the withdrawal."""

    id: UUID


def desk_functions(shelf: Shelf) -> list[Told]:
    """The functions, each under its own name."""

    @told
    def thresholds(payload: Json) -> Json:
        place = Where.model_validate(payload).place
        loaded = shelf.load(place)
        return shelf.kept(("desk", place), place, lambda: desk(loaded))

    @told
    def budget(payload: Json) -> Json:
        given = Budgeted.model_validate(payload)
        return budget_options(shelf.load(given.place).sampled, given.budget)

    @told
    def cheapest_thresholds(payload: Json) -> Json:
        given = Priced.model_validate(payload)
        cases = shelf.load(given.place).sampled
        if not cases.n:
            return {"refuse": None, "act": None}
        refuse, act = cheapest(cases.top, cases.right, cases.weights, costs=given.costs.costs)
        return {"refuse": refuse, "act": act}

    @told
    def policies(payload: Json) -> Json:
        return {"policies": [policy_json(p) for p in list_policies(shelf.database, **_asked(payload))]}

    @told
    def keep_policy(payload: Json) -> Json:
        given = GivenPolicy.model_validate(payload)
        check_thresholds(given.act, given.refuse)
        basis = policy_basis(shelf.load(given.place), given)
        saved = save_policy(
            shelf.database,
            id=str(given.id),
            questions=given.questions,
            scorer=given.scorer,
            question=given.question,
            act=given.act,
            refuse=given.refuse,
            basis=basis,
            by=person.labeller(),
        )
        return {"policy": policy_json(saved)}

    @told
    def drop_policy(payload: Json) -> Json:
        given = Withdrawn.model_validate(payload)
        gone = withdraw_policy(shelf.database, id=str(given.id), by=person.labeller(), **_asked(payload))
        return {"policy": policy_json(gone)}

    return [thresholds, budget, cheapest_thresholds, policies, keep_policy, drop_policy]


def policy_basis(loaded: Loaded, given: GivenPolicy) -> dict[str, Any]:
    """What a policy rests on, worked out here: guaranteed, best guess or chosen by hand; counts, bound, zones."""
    cases = loaded.sampled
    audit = cases.only(cases.audit)
    safe = guarantee(audit.top, audit.right, budget=given.budget)
    guess = budget_options(cases, given.budget)["guess"]
    done = zones(
        cases.top,
        cases.right,
        cases.weights,
        act=2.0 if given.act is None else given.act,
        refuse=given.refuse or 0.0,
        costs=None if given.costs is None else given.costs.costs,
    )
    return {
        "kind": _kind(given.act, safe, guess),
        "budget": given.budget,
        "confidence": CONFIDENCE,
        "labels": {"audit": audit.n, "sampled": cases.n, "effective": round(effective_n(cases.weights), 1)},
        "guarantee": plain(asdict(safe)),
        "zones": plain(asdict(done)),
        "costs": None if given.costs is None else given.costs.model_dump(),
        "axis": "probability of the leading option",
    }


def policy_json(policy: Policy) -> Json:
    """A policy for the page."""
    return {
        "id": policy.id,
        "number": policy.number,
        "act": policy.act,
        "refuse": policy.refuse,
        "basis": policy.basis,
        "by": policy.by,
        "created": policy.created.isoformat(),
    }


def _kind(act: float | None, safe: Guarantee, guess: Json) -> str:
    """The guarantee holds at the thresholds that passed, for the budget that they were tested for, and only there."""
    if act is None:
        return "never acts"
    if any(abs(act - passed) < 1e-9 for passed in safe.passed):
        return "guaranteed"
    return "best guess" if guess is not None and abs(act - guess["act"]) < 1e-9 else "by hand"


def _asked(payload: Json) -> dict[str, str]:
    given = Where.model_validate(payload)
    return {"questions": given.questions, "scorer": given.scorer, "question": given.question}
