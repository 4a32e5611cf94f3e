"""Summaries without a language model: the sentences and fragments that carry what was said.

Every number, date, name and negation of the sources is covered by a cheap piece of a sentence that
carries it; the tokens that are left go to the sentences that the content prior holds for the most
worth. English and Chinese; in other languages sentences are taken whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from sfams.core.compressing import forms, sentences, stripped
from sfams.core.datings import is_relative
from sfams.core.fidelity import Commitment, CommitmentType, Kept, Loss, commitments, missing
from sfams.core.importance import prior
from sfams.core.moments import utc_day
from sfams.core.spans import has_cjk
from sfams.core.summarizing import Purpose, SummaryRequest, SummaryText
from sfams.core.text import count_tokens, query_terms

__all__ = ["completed", "extract"]

_KNOWN: Final = 0.7
"""Share of a sentence's terms that may stand in the summary already before it says nothing new."""
_WORTH: Final = 0.45
"""Importance below which a sentence is not worth the tokens that are left."""

_LISTED: Final = "; "
_SUBJECT: Final = re.compile(r"([A-Z][\w-]*) (?=[a-z])")

_WEEK: Final = 7
_WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

Key = tuple[CommitmentType, str]


@dataclass(frozen=True, slots=True)
class _Piece:
    """One sentence: who says it, on which day where that matters, and what it commits to."""

    text: str
    who: str
    day: str
    says: dict[Key, Commitment]
    worth: float

    @property
    def label(self) -> str:
        """What it is quoted under."""
        return " ".join(filter(None, (self.who, self.day)))


@dataclass(slots=True)
class _Chosen:
    """What goes into the summary, by the place of the piece: whole sentences, and fragments."""

    whole: dict[int, str] = field(default_factory=dict)
    parts: dict[int, str] = field(default_factory=dict)

    def texts(self) -> Iterator[str]:
        """Give everything that is chosen."""
        yield from self.whole.values()
        yield from self.parts.values()


def extract(request: SummaryRequest) -> SummaryText | None:
    """Summarize without a model; None where what must be kept leaves nothing to save.

    Deterministic, and faithful by construction: the result has been checked against the sources. Its
    facts are the fragments, one line for each label (a speaker, a day).
    """
    pieces = _pieces(request)
    chosen = _cover(pieces)
    _fill(pieces, chosen, request.target_tokens)
    _prune(pieces, chosen)
    told = _told(request)
    for _ in range(len(pieces) + 1):
        made = _written(pieces, chosen)
        checked = [Kept(made.content), Kept(_undated(pieces, chosen))]
        lost = {key for key, said in told.items() if not all(each.has(said) for each in checked)}
        if not lost:
            break
        if not _mend(pieces, chosen, lost):
            return None
    else:
        return None
    return made if 0 < count_tokens(made.content) < _cost(request) else None


def _told(request: SummaryRequest) -> dict[Key, Commitment]:
    """Read what the sources commit to."""
    return {
        (each.type, each.value): each
        for source in request.sources
        for each in commitments(source.content, request.names)
    }


def _cost(request: SummaryRequest) -> int:
    return sum(count_tokens(each.content) for each in request.sources)


def completed(request: SummaryRequest, given: SummaryText) -> SummaryText | None:
    """Accept somebody else's summary, with what it leaves out added as facts; None to refuse it.

    Refused is what loses more than half of the numbers, dates, names and negations of the sources, for it
    is vague, and what would not be shorter than they are with the facts. Facts are fragments of the
    sources, or bare values where there is no room for more.
    """
    texts = [each.content for each in request.sources]
    lost = missing(texts, given.content, names=request.names)
    if 2 * len(lost) > len(_told(request)):
        return None
    slots = [(), _fragments(_pieces(request), lost), tuple(loss.shown for loss in lost)]
    for slot in slots:
        facts = (*given.facts, *((_LISTED.join(slot),) if slot else ()))
        made = SummaryText(given.text, facts)
        shorter = 0 < count_tokens(made.content) < _cost(request)
        if shorter and not missing(texts, made.content, names=request.names):
            return made
    return None


def _fragments(pieces: Sequence[_Piece], lost: Sequence[Loss]) -> tuple[str, ...]:
    """Find the fragments that say what is lost."""
    gone = {(loss.type, loss.value) for loss in lost}
    parts: list[str] = []
    for piece in pieces:
        wanted = [said for key, said in piece.says.items() if key in gone]
        gone -= piece.says.keys()
        if wanted:
            parts.append(_cheapest(piece.text, wanted))
    return tuple(parts)


# ── Reading ───────────────────────────────────────────────────────────────────────────────────────


def _pieces(request: SummaryRequest) -> list[_Piece]:
    speakers = {each.who for each in request.sources}
    days = sorted({utc_day(each.created_at) for each in request.sources})
    weekly = request.purpose is Purpose.DIGEST and (days[-1] - days[0]).days < _WEEK
    made: list[_Piece] = []
    for source in request.sources:
        who = source.who if len(speakers) > 1 else ""
        said = utc_day(source.created_at)
        day = _WEEKDAYS[said.weekday()] if weekly else said.isoformat()
        day = day if len(days) > 1 else ""
        for sentence in sentences(source.content):
            says = {(each.type, each.value): each for each in commitments(sentence, request.names)}
            dated = request.purpose is Purpose.DIGEST or any(map(_anchored, says.values()))
            told = day if dated else ""
            made.append(_Piece(sentence, who, told, says, prior(sentence).importance))
    return made


def _anchored(said: Commitment) -> bool:
    """Tell whether it needs the day on which it was said: "yesterday", "next Friday"."""
    return said.type is CommitmentType.DATE and is_relative(said.value)


# ── Choosing ──────────────────────────────────────────────────────────────────────────────────────


def _cover(pieces: Sequence[_Piece]) -> _Chosen:
    """Choose fragments until everything that is said is said: most for the fewest tokens first."""
    chosen = _Chosen()
    open_keys = {key: said for piece in pieces for key, said in piece.says.items()}
    costs = [count_tokens(stripped(piece.text)) + 1 for piece in pieces]
    free = {at for at, piece in enumerate(pieces) if piece.says}
    while open_keys and free:
        gains = {at: sum(key in open_keys for key in pieces[at].says) for at in free}
        best = max(free, key=lambda at: (gains[at] * (0.5 + pieces[at].worth) / costs[at], -at))
        free.discard(best)
        wanted = [said for key, said in pieces[best].says.items() if key in open_keys]
        if not wanted:
            continue
        form = _cheapest(pieces[best].text, wanted)
        chosen.parts[best] = form
        kept = Kept(f"{pieces[best].who}\n{form}")
        open_keys = {key: said for key, said in open_keys.items() if not kept.has(said)}
    return chosen


def _cheapest(sentence: str, wanted: Sequence[Commitment]) -> str:
    """Find the shortest form of a sentence that still says what is wanted."""
    for form in forms(sentence, wanted):
        kept = Kept(form)
        if all(map(kept.has, wanted)):
            return form
    return sentence


def _fill(pieces: Sequence[_Piece], chosen: _Chosen, target: int) -> None:
    """Spend what is left of the target on whole sentences, the most worth for a token first."""
    left = target - sum(map(count_tokens, chosen.texts()))
    known = {term for text in chosen.texts() for term in query_terms(text)}
    costs = {at: count_tokens(stripped(piece.text)) for at, piece in enumerate(pieces)}
    order = sorted(costs, key=lambda at: (-pieces[at].worth / max(1, costs[at]) ** 0.5, at))
    for at in order:
        whole = stripped(pieces[at].text)
        part = chosen.parts.get(at)
        cost = costs[at] - (count_tokens(part) if part else 0)
        if not whole or cost > left or pieces[at].worth < _WORTH:
            continue
        terms = set(query_terms(whole))
        if part is None and len(terms & known) >= _KNOWN * len(terms):
            continue
        chosen.whole[at] = whole
        chosen.parts.pop(at, None)
        known |= terms
        left -= cost


def _prune(pieces: Sequence[_Piece], chosen: _Chosen) -> None:
    """Drop fragments of which nothing is missed, now that whole sentences stand beside them."""
    picked = {**chosen.parts, **chosen.whole}
    kept = {at: Kept(f"{pieces[at].who}\n{text}") for at, text in picked.items()}
    for at in sorted(chosen.parts, key=lambda at: (pieces[at].worth, at)):
        others = [each for place, each in kept.items() if place != at]
        if all(any(each.has(said) for each in others) for said in pieces[at].says.values()):
            del chosen.parts[at], kept[at]


def _mend(pieces: Sequence[_Piece], chosen: _Chosen, lost: set[Key]) -> bool:
    """Take the sentences of what is lost as they stand; False if they are there already."""
    changed = False
    for at, piece in enumerate(pieces):
        if lost & piece.says.keys() and chosen.whole.get(at) != piece.text:
            chosen.whole[at] = piece.text
            chosen.parts.pop(at, None)
            lost -= piece.says.keys()
            changed = True
    return changed


# ── Writing ───────────────────────────────────────────────────────────────────────────────────────


def _written(pieces: Sequence[_Piece], chosen: _Chosen) -> SummaryText:
    whole = _lines(pieces, chosen.whole, " ")
    return SummaryText("\n".join(whole), tuple(_lines(pieces, chosen.parts, _LISTED)))


def _undated(pieces: Sequence[_Piece], chosen: _Chosen) -> str:
    """Write what is chosen without the days on which it was said.

    "Fri" as a label says when something was told, not that the review is on Friday.
    """
    picked = {**chosen.parts, **chosen.whole}
    return "\n".join(f"{pieces[at].who}\n{picked[at]}" for at in sorted(picked))


def _lines(pieces: Sequence[_Piece], chosen: dict[int, str], joint: str) -> list[str]:
    """Write one line for each label, in the order in which things were said."""
    said: dict[str, list[str]] = {}
    for at in sorted(chosen):
        texts = said.setdefault(pieces[at].label, [])
        if chosen[at] not in texts:
            texts.append(chosen[at])
    if joint == _LISTED:
        said = {label: list(_without_subjects(texts)) for label, texts in said.items()}
    return [_line(label, texts, joint) for label, texts in said.items()]


def _without_subjects(texts: Sequence[str]) -> Iterator[str]:
    """Name the subject once where one fragment after the other begins with it."""
    last = ""
    for text in texts:
        found = _SUBJECT.match(text)
        subject = found[1] if found else ""
        yield text[found.end() :] if found and subject == last else text
        last = subject


def _line(label: str, texts: Sequence[str], joint: str) -> str:
    text = joint.join(texts)
    if has_cjk(text):
        text = text.replace("。 ", "。").replace("; ", "；")
    return f"{label}: {text}" if label else text
