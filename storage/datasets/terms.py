"""Whether a trainer may learn from what a scorer answered.

Contract
--------
A scorer that knows its terms says so at the source: `ScorerInfo.details["no_training"]` holds the reason. Hosted Jev is
known here too, by its host or its model's name, so that rows recorded before it said so are refused as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from model.questions import Json

KEY = "no_training"
JEV = "answered by TypeSafe's hosted Jev, whose terms (2.3 b) forbid training other models on its output"
_HOST = "typesafe.ai"
_NAME = re.compile(r"jev-(latest|\d)", re.IGNORECASE)


def refusal(info: Mapping[str, Json]) -> str:
    """Why nothing may be trained on a scorer's answers, from its `ScorerInfo.json()`; empty where it may."""
    details = info.get("details") or {}
    said = details.get(KEY)
    if said:
        return str(said)
    if info.get("kind") != "remote":
        return ""
    hosts = [urlsplit(value).hostname or "" for value in details.values() if isinstance(value, str) and "://" in value]
    if any(host == _HOST or host.endswith(f".{_HOST}") for host in hosts):
        return JEV
    names = [str(info.get("name") or ""), *(str(v) for k, v in details.items() if k == "model")]
    return JEV if any(_NAME.match(name) for name in names) else ""
