"""The Label page: its one component and its functions.

Contract
--------
`page` puts one `gr.HTML` with a static template into the Blocks around it; the DOM inside is made by `assets/label`.
The functions take and give plain JSON and never raise: what goes wrong is `{"error": {"kind", "message"}}`, in words
for a person. What an act's reply says is kept is on the disk. The model's answer to a blind item leaves the server only
with the reply to its label.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from model.questions import Json
from studio import person
from studio.pages.label_desk import desk_functions
from studio.pages.label_find import find_functions
from studio.pages.label_people import people_functions
from studio.pages.label_worth import worth_functions
from studio.pages.room import room
from studio.studio import Studio


def page(studio: Studio) -> None:
    """The page, inside its route of `gr.Blocks`."""

    def who(_: Json) -> Json:
        """Who is signed in; None where a name is typed."""
        return {"name": person.signed_in()}

    functions: list[Callable[..., Any]] = [who, *desk_functions(studio.database)]
    functions += people_functions(studio.database)
    functions += find_functions(studio.database)
    functions += worth_functions(studio.database)
    room("label", functions)
