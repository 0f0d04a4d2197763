"""Requests that the API tests share."""

from __future__ import annotations

import base64
from io import BytesIO
from typing import Any

from PIL import Image

NOUL = {"q": {"type": "noul", "instructions": "Is it urgent?"}}
THREE = {
    "team": {"type": "choice", "instructions": "Who?", "criteria": {"sales": None, "billing": "Payments", "2": "Two"}},
    "severity": {"type": "score", "instructions": "How bad?", "criteria": ["No impact", {"label": "Minor"}, ["Major"]]},
    "urgent": {"type": "noul", "criteria": {"true": "It is urgent"}},
}


def body(state: Any = "The database is down.", questions: Any = None, **more: Any) -> dict[str, Any]:
    """A System One body."""
    return {"model": "jev-latest", "state": state, "questions": NOUL if questions is None else questions, **more}


def picture(color: Any = (200, 30, 30), *, size: tuple[int, int] = (64, 48), mode: str = "RGB", format: str = "PNG",
            **save: Any) -> bytes:  # fmt: skip
    """A file with one plain picture."""
    out = BytesIO()
    Image.new(mode, size, color).save(out, format=format, **save)
    return out.getvalue()


def text(data: bytes) -> str:
    """Base64."""
    return base64.b64encode(data).decode()
