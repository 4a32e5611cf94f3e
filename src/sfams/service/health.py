"""Health: what is damaged or waiting in a store, and mending it."""

from __future__ import annotations

from dataclasses import dataclass

from sfams.core.scope import Scope
from sfams.errors import ProviderError, StoreError, StoreUnavailableError
from sfams.ports import Problem
from sfams.service.embedding import build_note, model_warning
from sfams.service.engine import Engine
from sfams.service.pending import embed_pending
from sfams.service.receipts import settle_pending


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkup:
    """What `doctor` found and, where it repaired, how much it mended. `healthy` is the verdict."""

    problems: tuple[Problem, ...]
    repaired: int = 0
    embedded: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def healthy(self) -> bool:
        """Tell whether nothing is left to mend."""
        return not self.problems


def check(engine: Engine, *, repair: bool) -> Checkup:
    """Check the store, records that wait for a vector included; with `repair`, mend and check again.

    A store that cannot be written, or not be read to its end, is checked as far as it goes, and that is
    named among the problems. A damaged one is not repaired: what it says cannot be trusted.
    """
    unwritable = _unwritable(engine)
    problems = (*unwritable, *_find(engine))
    hopeless = any(problem.scope is None and not problem.repair for problem in problems)
    notes = () if hopeless else (model_warning(engine), build_note(engine))
    warnings = [note for note in notes if note]
    if hopeless or not repair:
        return Checkup(problems=problems, warnings=tuple(warnings))
    repaired = engine.store.repair(problems)
    if engine.store.settle():  # what an erasure had to leave pending
        settle_pending(engine)
    embedded = 0
    try:
        for scope in _scopes_waiting(engine):
            embedded += embed_pending(engine, scope)
    except ProviderError as error:
        warnings.append(str(error))
    for problem in problems:
        if problem.scope is not None:
            engine.views.drop(problem.scope)
    return Checkup(
        problems=_find(engine), repaired=repaired, embedded=embedded, warnings=tuple(warnings)
    )


def _unwritable(engine: Engine) -> tuple[Problem, ...]:
    """Try to write: buffered accesses, and an empty unit of work where there are none."""
    try:
        if not engine.flush_usage():
            with engine.store.write():
                pass
    except StoreError as error:
        return (Problem("writing", None, (), f"the store cannot be written now: {error}"),)
    return ()


def _find(engine: Engine) -> tuple[Problem, ...]:
    found: list[Problem] = []
    try:
        found += engine.store.check()
        found += _waiting(engine)
    except StoreUnavailableError:
        raise
    except StoreError as error:
        found.append(Problem("reading", None, (), f"the store cannot be read: {error}"))
    return tuple(found)


def _waiting(engine: Engine) -> list[Problem]:
    waiting: list[Problem] = []
    with engine.store.read() as reader:
        for scope in reader.scopes():
            records = reader.pending(scope, 1000)
            if records:
                ids = tuple(record.id for record in records)
                message = f"{len(ids)} record(s) wait for a vector; keywords find them"
                waiting.append(Problem("pending", scope, ids, message, "embed them"))
    return waiting


def _scopes_waiting(engine: Engine) -> list[Scope]:
    with engine.store.read() as reader:
        return [scope for scope in reader.scopes() if reader.pending(scope, 1)]
