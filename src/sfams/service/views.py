"""ViewCache: the scopes in use, each as a packed ScopeView that is advanced before it is read."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, RLock

from sfams.core.scope import Scope
from sfams.core.view import ScopeView
from sfams.ports import Reader

MAX_SCOPES = 64
MAX_ROWS = 400_000
"""Views are dropped, least recently used first, beyond this many scopes or rows."""


class _Slot:
    def __init__(self, dimension: int) -> None:
        self.lock = RLock()
        self.view = ScopeView(dimension)


class ViewCache:
    """Keeps views warm. A view is used under its lock, so it does not change while it is ranked."""

    def __init__(self, *, max_scopes: int = MAX_SCOPES, max_rows: int = MAX_ROWS) -> None:
        """Start cold."""
        self._lock = Lock()
        self._slots: OrderedDict[Scope, _Slot] = OrderedDict()
        self._max_scopes = max_scopes
        self._max_rows = max_rows

    @contextmanager
    def open(self, scope: Scope, reader: Reader, dimension: int) -> Iterator[ScopeView]:
        """Lend the scope's view, advanced to what `reader` sees (or later)."""
        slot = self._slot(scope, dimension)
        with slot.lock:
            if reader.change_seq(scope) > slot.view.seq:
                slot.view.advance(reader.changes(scope, slot.view.seq))
            yield slot.view

    def _slot(self, scope: Scope, dimension: int) -> _Slot:
        with self._lock:
            slot = self._slots.get(scope)
            if slot is None:
                slot = self._slots[scope] = _Slot(dimension)
            self._slots.move_to_end(scope)
            self._shed()
            return slot

    def _shed(self) -> None:
        rows = sum(len(slot.view) for slot in self._slots.values())
        while len(self._slots) > 1 and (
            len(self._slots) > self._max_scopes or rows > self._max_rows
        ):
            _, dropped = self._slots.popitem(last=False)
            rows -= len(dropped.view)

    def drop(self, scope: Scope) -> None:
        """Forget the view of a scope; the next use builds it anew."""
        with self._lock:
            self._slots.pop(scope, None)
