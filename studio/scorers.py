"""Which scorer the settings name, and how it is opened.

Contract
--------
`opener` returns a function for `model.engine.Engine`: heavy imports happen inside it, in the engine's thread, so that
the page is up while the model loads.
"""

from __future__ import annotations

from collections.abc import Callable

from model.engine import Progress
from model.scorer import Scorer
from studio.settings import DEFAULT_MODEL, Settings


def opener(settings: Settings) -> Callable[[Progress], Scorer]:
    """What opens the scorer that `settings.model` names."""
    return _embedded(settings) if settings.model == DEFAULT_MODEL else _clef(settings)


def _embedded(settings: Settings) -> Callable[[Progress], Scorer]:
    def load(progress: Progress) -> Scorer:
        progress("Opening the embedded model", None)
        from model.embedded.reader import open_embedded

        return open_embedded(threads=settings.threads, limits=settings.limits, max_tokens=settings.max_tokens)

    return load


def _clef(settings: Settings) -> Callable[[Progress], Scorer]:
    def load(progress: Progress) -> Scorer:
        progress(f"Opening {settings.model}", None)
        from model.clef import open_clef

        return open_clef(
            settings.model,
            device=settings.device,
            dtype=settings.dtype,
            max_tokens=settings.max_tokens,
            question_ids=settings.question_ids,
            threads=settings.threads,
            limits=settings.limits,
            state_memory=None if settings.state_memory is None else settings.state_memory << 20,
            progress=progress,
        )

    return load
