"""Forks: an SQLite connection must not be carried into a child process.

Idle connections are closed just before a fork and opened again when next needed, on both sides. What
is in use at that moment cannot be closed; in the child such a pool refuses to work.
"""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakSet


class Forkable(Protocol):
    """What wants to know of forks."""

    def before_fork(self) -> None:
        """Close what is idle and let nothing change until the fork is over."""
        ...

    def after_fork_in_parent(self) -> None:
        """Go on."""
        ...

    def after_fork_in_child(self) -> None:
        """Go on with nothing, or refuse to."""
        ...


_watched: WeakSet[Forkable] = WeakSet()
_forking: list[Forkable] = []


def watch(pool: Forkable) -> None:
    """Tell a pool of every fork from now on."""
    _watched.add(pool)


def _before() -> None:
    _forking.extend(_watched)
    for pool in _forking:
        pool.before_fork()


def _in_parent() -> None:
    while _forking:
        _forking.pop().after_fork_in_parent()


def _in_child() -> None:
    while _forking:
        _forking.pop().after_fork_in_child()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
