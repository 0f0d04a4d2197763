"""How the studio looks: its files, its theme for Gradio's own parts, its style sheets, and light or dark.

Contract
--------
The visual language lives in `assets/css` (tokens first); Python only loads it. Nothing is fetched from elsewhere.
"""

from __future__ import annotations

from pathlib import Path

import gradio as gr

ASSETS = Path(__file__).resolve().parent.parent / "assets"
SHEETS = ("tokens", "studio", "design", "schemas", "why", "label", "calibration", "runs", "datasets", "gradio")
THEME_KEY = "clef-studio-theme"

_SANS = ("system-ui", "Segoe UI", "Roboto", "Noto Sans", "Liberation Sans", "Arial", "sans-serif")
_MONO = ("ui-monospace", "SF Mono", "Noto Sans Mono", "Liberation Mono", "Consolas", "monospace")


def theme() -> gr.themes.Base:
    """Gradio's theme: system fonts only, so that no font is fetched; our own sheets do the rest."""
    return gr.themes.Base(font=_SANS, font_mono=_MONO)


def sheet(name: str) -> str:
    """One style sheet."""
    return (ASSETS / "css" / f"{name}.css").read_text(encoding="utf-8")


def sheets() -> str:
    """All style sheets, tokens first."""
    return "\n".join(sheet(name) for name in SHEETS)


THEME_SCRIPT = (
    "(()=>{let t=null;"
    f'try{{t=localStorage.getItem("{THEME_KEY}")}}catch{{}}'
    'if(t!=="dark"&&t!=="light")t=matchMedia("(prefers-color-scheme: dark)").matches?"dark":"light";'
    "document.documentElement.dataset.theme=t})()"
)
"""Light or dark: the person's choice, else the system's."""


def head() -> str:
    """What Gradio puts into the head: the style sheets. What must be there before is in `studio.first_paint`.

    The sheets are not given to Gradio's `css=`: it rewrites every rule in the browser and loses some on the way. They
    come late, as here, so that they stand behind Gradio's own.
    """
    return f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{sheets()}</style>'
