"""Model names on the wire: which ones are taken, and the list of `GET /v1/models`.

Contract
--------
One studio serves one scorer. It answers to its own name, to what the official clients send by default (`jev-latest` and
the other `jev-` names) and to Clef's names; the reply's `model` always says who answered.
"""

from __future__ import annotations

from typing import Any

from model.questions import FieldError, InvalidRequest, Json
from model.scorer import ScorerInfo
from studio.api.errors import ApiError

ALIASES = ("clef", "clef-flash", "cloudflare/clef", "cloudflare/clef-flash")
RELEASED = "2026-10-01"
"""Date in the list for a scorer that does not say when it was released (`details["release_date"]`)."""


def check_model(name: Json, info: ScorerInfo, *, more: tuple[str, ...] = ()) -> None:
    """Refuses a name that this studio does not answer to.

    Parameters
    ----------
    name : the `model` field; spaces around it and case do not matter.
    more : beginnings of further names that an API's clients send.

    Raises
    ------
    InvalidRequest : not text. ApiError : 400, an unknown name.
    """
    if not isinstance(name, str):
        raise InvalidRequest([FieldError(("model",), "must be text", "string_type")])
    plain = name.strip().lower()
    own = info.name.lower()
    if plain in (own, own.rsplit("/", 1)[-1], *ALIASES) or plain.startswith(("jev-", *more)):
        return
    raise ApiError(400, "api_usage_error", f"Unknown model. This studio serves {info.name}, also as jev-latest.")


def listing(info: ScorerInfo) -> dict[str, Any]:
    """The reply of `GET /v1/models`."""
    told = [
        f"{info.kind} on {info.device}",
        f"fingerprint {info.fingerprint[:12]}",
        f"question ids {info.question_ids}",
    ]
    description = ". ".join(filter(None, (", ".join(told), info.notice)))
    date = str(info.details.get("release_date", RELEASED))
    return {
        "models": [{"name": n, "description": description, "release_date": date} for n in (info.name, "jev-latest")]
    }
