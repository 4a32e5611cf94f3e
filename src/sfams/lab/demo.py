"""The demonstration: a project's history under a small budget, against two baselines, and undone.

Everything is measured in the run: evidence is known by the turn's id, and an answer is right when a
record of that turn stands in the context. Losses are reported like wins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import fmean

from sfams.bootstrap import make_embedder, open_memory
from sfams.core.context import ContextBlock, build_context
from sfams.core.plan import ForgettingPlan
from sfams.core.policy import Budget, RetentionPolicy, Triggers
from sfams.core.query import Hit
from sfams.core.record import RecordId, Status
from sfams.errors import InvalidInputError
from sfams.lab.history import Question, Turn, by_session, read_questions, read_turns
from sfams.lab.replay import ReplayClock, ReplayIds, SharedEmbedder
from sfams.lab.report import (
    Answer,
    Asked,
    DemoReport,
    Evidence,
    PlanReport,
    PlanRow,
    SessionTrail,
    Sizes,
    SystemTotal,
    Undo,
)
from sfams.lab.story import tell
from sfams.ports import Embedder, ScopeStats
from sfams.service.memory import Memory

SCOPE = "harbour/team"
ASKED_AT = datetime(2026, 5, 31, 9, tzinfo=UTC)
"""When the questions are asked: the day after the last session."""
BUDGET = 60
TOKENS = 400
"""Room for about nine of the 305 turns, so that it matters which ones are chosen."""

SF_AMS = "SF-AMS"
HOT_ONLY = "its hot tier alone"
WINDOW = "sliding window"
EVERYTHING = "keep everything"

Progress = Callable[[int], object]
"""Called with the number of turns replayed since the last call."""


POLICY = RetentionPolicy(name="demo", triggers=Triggers(over_budget=False))
"""Forgets when the demo says so, for all to see, and not by itself."""


def run_demo(
    path: str | Path,
    *,
    embedder: Embedder | str = "bundled",
    budget: int = BUDGET,
    tokens: int = TOKENS,
    progress: Progress | None = None,
) -> DemoReport:
    """Replay the history into a new memory file, forget after every session, ask, and undo.

    SF-AMS is the product as it comes: claims supersede, time to live ends, a plan after every
    session demotes to `budget`, and hot and cold records answer. The sliding window is the newest
    turns that fit. "Keep everything" recalls in the same way from all turns, where nothing is
    superseded, ends or is demoted. All have `tokens` of context per question. The same arguments
    give the same report.

    Args:
        path: Where to make the memory file, which must not be there yet.
        embedder: A name that `sfams.open` knows, or an `Embedder`, which is left open.
        budget: How many records may stay hot.
        tokens: The most tokens of context for a question.
        progress: Told of the turns that have been replayed.

    Raises:
        InvalidInputError: The file exists, or embedder, budget or tokens make no sense.
    """
    if Path(path).exists():
        message = f"path: {path} exists; the demo needs a new file"
        raise InvalidInputError(message, field="path")
    if tokens < 1:
        message = f"tokens: must be a whole number above 0, got {tokens}"
        raise InvalidInputError(message, field="tokens")
    policy = replace(POLICY, budget=Budget(records=budget))
    turns = read_turns()
    with ExitStack() as stack:
        if isinstance(embedder, str):
            embedder = stack.enter_context(closing(make_embedder(embedder)))
        clock = ReplayClock(turns[0].at)
        opened = partial(
            open_memory,
            scope=SCOPE,
            embedder=SharedEmbedder(embedder),
            policy=policy,
            clock=clock,
            new_id=ReplayIds(clock),
        )
        kept = _Side(stack.enter_context(opened(path)), clock)
        last, trail = _live_through(kept, turns, progress)
        everything = _Side(stack.enter_context(opened(":memory:")), clock)
        for session in by_session(turns):
            everything.take(session, forgetting=False)
        clock.moment = ASKED_AT
        bench = _Bench(kept, everything, tokens)
        sizes, story = bench.sizes(len(turns)), tell(kept.memory, kept.turns, ASKED_AT)
        asked = tuple(bench.ask(question) for question in read_questions())
        return DemoReport(
            embedder=embedder.model_id,
            budget=budget,
            tokens=tokens,
            asked_at=ASKED_AT,
            sizes=sizes,
            trail=trail,
            plan=last.report(kept, trail[-1].hot),
            asked=asked,
            systems=bench.totals(asked),
            undo=last.undo(kept),
            story=story,
        )


# ── Replaying ────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Side:
    """A memory, and which turn each of its records came from."""

    memory: Memory
    clock: ReplayClock
    turns: dict[RecordId, Turn] = field(default_factory=dict)

    def take(self, session: Sequence[Turn], *, forgetting: bool) -> int:
        """Remember a session when it is over; returns how many records it superseded."""
        self.clock.moment = session[-1].at
        drafts = [turn.fields(forgetting=forgetting) for turn in session]
        results = self.memory.remember_many(drafts)
        for turn, result in zip(session, results, strict=True):
            self.turns.setdefault(result.id, turn)
        return sum(len(result.superseded) for result in results)

    def keys(self, ids: Sequence[RecordId]) -> tuple[str, ...]:
        return tuple(self.turns[each].key for each in ids)


@dataclass(frozen=True, slots=True)
class _LastPlan:
    """The newest plan, and what the memory measured before it was carried out."""

    plan: ForgettingPlan
    before: ScopeStats

    def report(self, side: _Side, hot_after: int) -> PlanReport:
        rows = [
            PlanRow(
                turn=turn.key,
                who=turn.who,
                at=turn.at,
                text=turn.text,
                action=step.action.value,
                reason=step.reason.value,
                score=step.score,
                parts=dict(step.parts),
                tokens=step.tokens,
            )
            for step in self.plan.steps
            for turn in [side.turns[step.record_id]]
        ]
        return PlanReport(
            at=self.plan.created_at,
            examined=self.plan.examined,
            hot_before=self.before.hot,
            hot_after=hot_after,
            rows=tuple(rows),
        )

    def undo(self, side: _Side) -> Undo:
        hot = side.memory.stats().hot
        receipt = side.memory.restore(self.plan)
        after = side.memory.stats()
        return Undo(
            restored=receipt.restored,
            skipped=len(receipt.skipped),
            hot_before=hot,
            hot_after=after.hot,
            exact=after == self.before,
        )


def _live_through(
    side: _Side, turns: Sequence[Turn], progress: Progress | None
) -> tuple[_LastPlan, tuple[SessionTrail, ...]]:
    """Remember session by session, and carry a plan out at the end of each."""
    trail = []
    last: _LastPlan | None = None
    for session in by_session(turns):
        superseded = side.take(session, forgetting=True)
        before = side.memory.stats()
        plan = side.memory.plan_forgetting()
        receipt = side.memory.forget(plan)
        after = side.memory.stats()
        last = _LastPlan(plan, before)
        trail.append(
            SessionTrail(
                session=session[0].session,
                at=side.clock.moment,
                turns=len(session),
                superseded=superseded,
                demoted=receipt.demoted,
                deleted=receipt.deleted,
                hot=after.hot,
                cold=after.cold,
            )
        )
        if progress is not None:
            progress(len(session))
    if last is None:
        raise InvalidInputError("history: has no turn", field="history")
    return last, tuple(trail)


# ── Asking ───────────────────────────────────────────────────────────────────────────────────────


class _Bench:
    """Puts the same questions to every system, with the same room for the answer."""

    def __init__(self, kept: _Side, everything: _Side, tokens: int) -> None:
        self._kept = kept
        self._everything = everything
        self._tokens = tokens
        self._window = _sliding_window(everything, tokens)
        self._searched = {
            SF_AMS: (kept.memory.stats().hot, kept.memory.stats().cold),
            HOT_ONLY: (kept.memory.stats().hot, 0),
            WINDOW: (len(self._window.ids), 0),
            EVERYTHING: (everything.memory.stats().hot, 0),
        }

    def sizes(self, turns: int) -> Sizes:
        """Measure the memory before it is asked."""
        stats = self._kept.memory.stats()
        return Sizes(
            turns=turns,
            history_tokens=self._everything.memory.stats().hot_tokens,
            hot=stats.hot,
            hot_tokens=stats.hot_tokens,
            cold=stats.cold,
            superseded=stats.records.get(Status.SUPERSEDED, 0),
            deleted=stats.records.get(Status.DELETED, 0),
        )

    def ask(self, question: Question) -> Asked:
        """Let every system answer."""
        kept, everything, tokens = self._kept, self._everything, self._tokens
        whole = kept.memory.context(question.text, tokens=tokens, turn=question.key)
        hot = kept.memory.context(question.text, tokens=tokens, tier="hot", count=False)
        full = everything.memory.context(question.text, tokens=tokens, turn=question.key)
        answers = {
            SF_AMS: _judge(question, whole, kept),
            HOT_ONLY: _judge(question, hot, kept),
            WINDOW: _judge(question, self._window, everything),
            EVERYTHING: _judge(question, full, everything),
        }
        return Asked(
            question=question,
            evidence=self._evidence(question, answers[SF_AMS]),
            answers=answers,
        )

    def _evidence(self, question: Question, answer: Answer) -> Evidence:
        """Look the evidence up, that which was shown before any other."""
        wanted = [each for each in answer.turns if each in question.gold] or question.gold
        record_id, turn = next(
            (record_id, turn)
            for record_id, turn in self._kept.turns.items()
            if turn.key == wanted[0]
        )
        record = self._kept.memory.get(record_id)
        live = record.status is Status.LIVE
        return Evidence(
            turn=turn.key,
            text=turn.text,
            standing=record.tier.value if live else record.status.value,
            shown=answer.right,
        )

    def totals(self, asked: Sequence[Asked]) -> tuple[SystemTotal, ...]:
        """Add up over all questions."""
        totals = []
        for name, (hot, cold) in self._searched.items():
            answers = [each.answers[name] for each in asked]
            totals.append(
                SystemTotal(
                    name=name,
                    right=sum(answer.right for answer in answers),
                    stale_shown=sum(bool(answer.stale) for answer in answers),
                    mean_tokens=fmean(answer.tokens for answer in answers),
                    searched=hot,
                    searched_by_words=cold,
                )
            )
        return tuple(totals)


def _judge(question: Question, block: ContextBlock, side: _Side) -> Answer:
    turns = side.keys(block.ids)
    return Answer(
        right=any(each in question.gold for each in turns),
        stale=tuple(each for each in turns if each in question.stale),
        tokens=block.tokens,
        turns=turns,
    )


def _sliding_window(side: _Side, tokens: int) -> ContextBlock:
    """Take the newest turns that fit, without a gap, in the form that every context has."""
    newest = side.memory.list(limit=len(side.turns))
    block = ContextBlock("", 0, (), 0)
    for size in range(1, len(newest) + 1):
        hits = [Hit(record, 0.0, {}) for record in newest[:size]]
        longer = build_context(hits, token_budget=tokens, now=side.clock())
        if longer.omitted:
            break
        block = longer
    return block
