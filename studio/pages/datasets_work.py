"""Work of the Datasets page that takes longer than a reply may: done in a thread, asked after by a token.

Contract
--------
* `Works.start` begins a piece of work, or finds the one of that key that is under way or done. An owner has
  one piece at a time: a newer one ends the older one, which nobody will ask after.
* Nothing here outlives a restart, and nothing needs to: what is kept is in the database; the rest can be made again.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from model.questions import InvalidRequest
from storage.database import DatabaseError
from storage.errors import NotFound, StorageError
from studio.pages.design_keep import sentence

log = logging.getLogger(__name__)

REMEMBERED = 64

Result = TypeVar("Result")
Told = Callable[[int], None]
"""Is told how many rows are done; raises when the work is not wanted any more."""


class Unwanted(Exception):
    """Nobody waits for it any more."""


class Work(Generic[Result]):
    """One piece of work; starts at once. `rows` are done so far; `error` is a sentence, empty where all is well."""

    def __init__(self, do: Callable[[Told], Result]) -> None:
        self._do = do
        self._stopped = threading.Event()
        self.rows = 0
        self.error = ""
        self.result: Result | None = None
        self._thread = threading.Thread(target=self._run, name="clef-datasets", daemon=True)
        self._thread.start()

    @property
    def finished(self) -> bool:
        """Whether it came to an end, good or bad."""
        return not self._thread.is_alive()

    @property
    def usable(self) -> bool:
        """Whether asking for it again should find this one: it works, or worked."""
        return not self._stopped.is_set() and not self.error

    def stop(self) -> None:
        """It is not wanted any more; it ends at the next portion of rows."""
        self._stopped.set()

    def join(self, timeout: float) -> None:
        """Waits for the end."""
        self._thread.join(timeout)

    def _told(self, rows: int) -> None:
        if self._stopped.is_set():
            raise Unwanted
        self.rows = rows

    def _run(self) -> None:
        try:
            self.result = self._do(self._told)
        except Unwanted:
            pass
        except (StorageError, DatabaseError) as error:
            self.error = sentence(error)
        except InvalidRequest as error:
            self.error = f"These questions cannot be read: {error}"
        except Exception as failure:
            # A thread has nobody to raise to; the page says it, and the log has the place.
            log.exception("work of the Datasets page failed")
            self.error = f"It failed: {str(failure) or type(failure).__name__}"


class Works:
    """The newest pieces of work, by key. A key is `<owner>/<rest>`; an owner's other work ends when it starts anew."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Work[Any]] = OrderedDict()

    def start(self, key: str, do: Callable[[Told], Any], *, again: bool = False) -> Work[Any]:
        """The work of this key, begun where there is none; with `again` also where it is done."""
        owner = key.partition("/")[0]
        with self._lock:
            if (known := self._kept.get(key)) is not None and known.usable and not (again and known.finished):
                return known
            for other in [o for o in self._kept if o.partition("/")[0] == owner]:
                self._kept.pop(other).stop()
            made = self._kept[key] = Work(do)
            self._kept.move_to_end(key)
            while len(self._kept) > REMEMBERED:
                self._kept.popitem(last=False)[1].stop()
            return made

    def get(self, key: str) -> Work[Any]:
        """Work that was begun. Raises NotFound."""
        with self._lock:
            if (known := self._kept.get(key)) is None:
                raise NotFound("token", "this was forgotten meanwhile; ask again")
            return known
