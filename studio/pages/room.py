"""A room's page: the one `gr.HTML` that every room is, whose DOM its own JavaScript makes.

Contract
--------
`room` puts the static template into the Blocks around it. In the browser, `assets/<name>/main.js` is fetched under an
address that changes with it, and its `mount(element, server, config)` gets the functions as `server`, and a `config`
with the studio's `root` and what was given here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gradio as gr

from model.questions import Json
from studio import rooms

_MOUNT = """
const root = (window.gradio_config?.root ?? "").replace(/\\/+$/, "");
import(`${root}/studio/scripts/__VERSION__/__NAME__/main.js`)
  .then(({ mount }) => mount(element, server, { root, ...__CONFIG__ }))
  .catch((error) => { console.error(error); element.dataset.failed = "1"; });
"""


def room(name: str, functions: Sequence[Callable[..., Any]], config: Mapping[str, Json] | None = None) -> None:
    """The room `name` of `studio.rooms`, inside its route of `gr.Blocks`. `config` is plain JSON for its script."""
    script = _MOUNT.replace("__VERSION__", rooms.version()).replace("__NAME__", name)
    gr.HTML(
        html_template=rooms.template(name),
        js_on_load=script.replace("__CONFIG__", json.dumps(dict(config or {}))),
        server_functions=list(functions),
        apply_default_css=False,
        elem_id=name,
    )
