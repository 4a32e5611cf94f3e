"""Hearing: texts are compared with how their scope usually sounds, which they then are a part of.

What is kept of a style is counts, in two settings of the scope: of everybody, and of each speaker
under a hash of the name. Which words the memory knows is asked of the view, and of what is cold.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from sfams.core.importance import words_of
from sfams.core.indexing import spoken_terms
from sfams.core.keywords import Terms
from sfams.core.salience import Salience, Surroundings, salience
from sfams.core.scope import Scope
from sfams.core.style import NAMES, Style, Tally
from sfams.core.view import ScopeView
from sfams.ports import Reader, Transaction
from sfams.service.engine import Engine

_EVERYBODY = "style"


@dataclass(frozen=True, slots=True)
class Heard:
    """One text: who said it, its keyword entry, and how much it stands out."""

    who: str
    terms: Terms
    salience: Salience


def hear(engine: Engine, scope: Scope, texts: Sequence[tuple[str, str]]) -> list[Heard]:
    """Compare texts (who, content) with what their scope has heard so far, each with those before it."""
    terms = [spoken_terms(who, content) for who, content in texts]
    ids = [set(each.ids.tolist()) for each in terms]
    with (
        engine.store.read() as reader,
        engine.views.open(scope, reader, engine.embedder.dimension) as view,
    ):
        known = _known(view, reader, scope, set().union(*ids))
        everybody = _read(reader, scope, _EVERYBODY)
        speakers = {who: _read(reader, scope, _speaker(who)) for who in {who for who, _ in texts}}
    found = []
    for (who, content), entry, own in zip(texts, terms, ids, strict=True):
        around = Surroundings(Style(everybody, speakers[who]), known)
        measured = salience(content, words_of(content), own, around)
        found.append(Heard(who, entry, measured))
        everybody = everybody.plus(measured.tally)
        speakers[who] = speakers[who].plus(measured.tally)
        known |= own
    return found


def remember_style(transaction: Transaction, scope: Scope, heard: Iterable[Heard]) -> None:
    """Count texts that have been stored."""
    added: dict[str, Tally] = {}
    for each in heard:
        for name in (_EVERYBODY, _speaker(each.who)):
            added[name] = added.get(name, Tally()).plus(each.salience.tally)
    for name, tally in added.items():
        total = _read(transaction, scope, name).plus(tally)
        transaction.put_setting(scope, name, json.dumps([total.texts, *total.counts]))


def _known(view: ScopeView, reader: Reader, scope: Scope, terms: set[int]) -> set[int]:
    hot = {term for term in terms if view.frequency(term)}
    cold = reader.cold_postings(scope, sorted(terms - hot))
    return hot | {posting.term for posting in cold}


def _read(reader: Reader, scope: Scope, name: str) -> Tally:
    written = reader.setting(scope, name)
    if written is None:
        return Tally()
    texts, *counts = json.loads(written)
    missing = len(NAMES) - len(counts)  # traits that a later release has added were not counted
    return Tally(texts, (*counts, *[0] * missing))


def _speaker(who: str) -> str:
    """Name a speaker's setting without writing the name down."""
    return (
        f"{_EVERYBODY}:{blake2b(who.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}"
    )
