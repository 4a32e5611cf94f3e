"""Simulating: the same past under another policy, and nothing is changed by it."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from sfams.core.columns import Columns, Need
from sfams.core.models.activation import Activation
from sfams.core.models.linear import Linear
from sfams.core.models.retrievability import Retrievability
from sfams.core.models.survival import Survival
from sfams.core.past import What
from sfams.core.plan import Action, Reason
from sfams.core.policy import Budget, RetentionPolicy, Rung, Triggers
from sfams.core.presets import PRESETS, preset
from sfams.core.record import JsonValue
from sfams.core.replay import MOST_RUNS, Simulation, moments_of, usual_step
from sfams.core.retention import RetentionModel, Scores
from sfams.errors import InvalidInputError
from sfams.ports import Store
from sfams.service.memory import Memory
from sfams.testing import FakeClock
from sfams.testing.snapshot import plain_columns, plain_traces

DAY = timedelta(days=1)
OFF = Triggers(over_budget=False)
BY_IMPORTANCE = RetentionPolicy(
    model=Linear(alpha=1.0, beta=0.0, gamma=0.0, delta=0.0),
    threshold=0.5,
    threshold_action=Action.DELETE,
    through_cold=False,
    max_share=1.0,
    triggers=Triggers(over_budget=False, interval=DAY),
)
"""Deletes whatever is less important than one half, every day."""

HISTORY = (
    ("fact", "The customer's red is Pantone 186 C.", "客户的红色是潘通186 C。"),
    ("decision", "We decided to print on recycled paper.", "我们决定用再生纸印刷。"),
    ("state", "The banner file is being exported.", "横幅文件正在导出。"),
    ("note", "Lunch was late again, everybody was hungry.", "午饭又晚了，大家都饿了。"),
    ("dialogue", "Could somebody open the window, please?", "谁能开一下窗户？"),
    ("action", "Ring the printer about the proofs.", "打电话问打印店样张的事。"),
)


@pytest.fixture
def memory(memory: Memory) -> Memory:
    """One whose own policy takes nothing and never runs."""
    memory.set_policy(RetentionPolicy(name="none", triggers=OFF))
    return memory


def wanted(found: Simulation) -> dict[str, dict[What, int]]:
    return {loss.id: dict(loss.wanted) for loss in found.losses}


# ── What policies keep ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("language", [1, 2])
def test_a_campaign_would_have_lost_what_research_keeps(
    memory: Memory, clock: FakeClock, language: int
) -> None:
    for n in range(6):
        memory.remember(f"Booth {n} costs {n + 3}00 euro.", kind="fact")
    for row in HISTORY:
        memory.remember(row[language], kind=row[0])
    clock.advance(days=80)
    campaign, research = memory.simulate("fast-campaign"), memory.simulate("long-research")
    assert research.losses == ()
    assert {"dialogue", "state"} <= {loss.kind for loss in campaign.losses}
    assert not {"decision", "instruction"} & {loss.kind for loss in campaign.losses}
    assert (campaign.records, campaign.policy["name"]) == (12, "fast-campaign")
    last = campaign.standings[-1]
    assert (last.at, last.kept + last.lost) == (clock(), 12)
    assert last.lost == len(campaign.losses) > 0
    assert last.lost_tokens == sum(loss.tokens for loss in campaign.losses)
    assert research.standings[-1].kept == 12
    assert memory.simulate("keep-everything").standings[-1].hot == 12


@pytest.mark.parametrize("name", PRESETS)
def test_simulating_changes_nothing_and_says_the_same_again(
    memory: Memory, store: Store, clock: FakeClock, name: str
) -> None:
    ids = [memory.remember(row[1], kind=row[0]).id for row in HISTORY]
    clock.advance(days=30)
    memory.recall("the printer")
    memory.reinforce(ids[:1])
    memory.pin(ids[3])
    clock.advance(days=30)
    memory.flush()
    before = [*memory.export()], [memory.history(each) for each in ids], files(store)
    found = memory.simulate(name)
    assert memory.simulate(name) == found
    assert ([*memory.export()], [memory.history(each) for each in ids], files(store)) == before
    assert memory.plans() == []


def files(store: Store) -> dict[str, bytes]:
    """Read the files of a store, but for the index of the log that readers note their marks in."""
    path = Path(store.location)
    found = sorted(path.parent.glob("memory.db*")) if path.name == "memory.db" else []
    return {each.name: each.read_bytes() for each in found if not each.name.endswith("-shm")}


def test_what_a_policy_really_forgot_is_taken_as_kept(memory: Memory, clock: FakeClock) -> None:
    for n in range(4):
        memory.remember(f"Sensor {n} hangs in bay {n}.", importance=n / 5)
    memory.forget(memory.plan_forgetting(BY_IMPORTANCE))
    assert memory.stats().records["deleted"] == 3
    clock.advance(days=1)
    assert memory.simulate("keep-everything").standings[-1].hot == 4


def test_a_summary_that_a_policy_made_is_left_out(memory: Memory, clock: FakeClock) -> None:
    for n in range(5):
        memory.remember(
            f"Stand-up {n}: Ana mended the parser of importer {n}.",
            kind="note",
            entities=["importer"],
            importance=0.1,
        )
    policy = replace(
        BY_IMPORTANCE, threshold_action=Action.DEMOTE, through_cold=True, summarize=Rung()
    )
    memory.forget(memory.plan_forgetting(policy))
    clock.advance(days=1)
    assert memory.forget(memory.plan_forgetting(policy)).summarized == 5
    clock.advance(days=1)
    found = memory.simulate("keep-everything")
    assert (found.records, found.unknown, found.standings[-1].hot) == (5, 0, 5)


def test_a_plan_beyond_its_limits_is_left_to_a_person(memory: Memory, clock: FakeClock) -> None:
    for n in range(4):
        memory.remember(f"Sensor {n} hangs in bay {n}.", importance=0.1)
    clock.advance(days=3)
    found = memory.simulate(replace(BY_IMPORTANCE, max_share=0.5))
    assert (found.waiting, found.losses) == (3, ())
    assert len(memory.simulate(BY_IMPORTANCE).losses) == 4


def test_rungs_wait_in_simulated_time(memory: Memory, clock: FakeClock) -> None:
    memory.remember("Sensor 1 hangs in bay 1.", importance=0.1)
    policy = replace(
        BY_IMPORTANCE, threshold_action=Action.DEMOTE, through_cold=True, delete=Rung(after=5 * DAY)
    )
    start = clock()
    clock.advance(days=20)
    (loss,) = memory.simulate(policy).losses
    assert (loss.at, loss.reason) == (start + 6 * DAY, Reason.LONG_COLD)
    standings = memory.simulate(policy).standings
    assert [each.cold for each in standings[:7]] == [1, 1, 1, 1, 1, 0, 0]


def test_what_would_be_summarized_is_counted_apart(memory: Memory, clock: FakeClock) -> None:
    for n in range(5):
        memory.remember(
            f"Stand-up {n}: Ana mended the parser of importer {n}.",
            kind="note",
            entities=["importer"],
            importance=0.1,
        )
    clock.advance(days=20)
    policy = replace(
        BY_IMPORTANCE,
        threshold_action=Action.DEMOTE,
        through_cold=True,
        summarize=Rung(after=5 * DAY),
    )
    last = memory.simulate(policy).standings[-1]
    assert (last.summarized, last.kept, last.lost) == (5, 0, 0)


# ── What was asked for later ─────────────────────────────────────────────────────────────────────


def test_it_tells_what_was_asked_for_after_it_would_have_gone(
    memory: Memory, clock: FakeClock
) -> None:
    texts = ("The ferry leaves at nine.", "渡轮的票价是四十元。", "Booth 7 is by the door.", "Tea.")
    shown, used, told, idle = (memory.remember(text, importance=0.1).id for text in texts)
    clock.advance(days=3)
    asked_at = clock()
    assert memory.recall(texts[0], k=1)[0].record.id == shown
    memory.reinforce([used])
    assert memory.remember(texts[2]).id == told
    clock.advance(days=3)
    found = memory.simulate(BY_IMPORTANCE)
    assert wanted(found)[shown] == {What.SHOWN: 1}
    assert wanted(found)[used] == {What.USED: 1}
    assert wanted(found)[idle] == {}
    assert {loss.wanted_at for loss in found.regretted} == {asked_at}
    # Told again it would have been there again, and would have gone again once its grace was over.
    assert [loss.wanted for loss in found.losses if loss.id == told] == [{What.TOLD: 1}]
    assert found.standings[-1].hot == 1


def test_what_was_asked_for_while_cold_is_counted(memory: Memory, clock: FakeClock) -> None:
    one = memory.remember("The ferry leaves at nine.", importance=0.1).id
    clock.advance(days=2)
    memory.reinforce([one])
    clock.advance(days=2)
    policy = replace(BY_IMPORTANCE, threshold_action=Action.DEMOTE)
    found = memory.simulate(policy)
    assert (found.cold_wanted, found.losses) == (1, ())
    assert [each.cold for each in found.standings] == [1, 0, 0, 0]  # used it is hot, under grace


def test_what_a_person_decided_holds_under_every_policy(memory: Memory, clock: FakeClock) -> None:
    deleted, replaced, pinned = (
        memory.remember(f"Sensor {n} hangs in bay {n}.", importance=0.1).id for n in range(3)
    )
    memory.pin(pinned)
    memory.delete([deleted])
    memory.remember("Sensor 1 hangs in bay 9.", importance=0.9, supersedes=[replaced])
    clock.advance(days=3)
    found = memory.simulate(BY_IMPORTANCE)
    assert found.losses == ()
    assert found.standings[-1].kept == 2
    memory.unpin(pinned)
    clock.advance(days=3)
    assert [loss.id for loss in memory.simulate(BY_IMPORTANCE).losses] == [pinned]


def test_a_hold_protects_until_it_lapses(memory: Memory, clock: FakeClock) -> None:
    one = memory.remember("Sensor 1 hangs in bay 1.", importance=0.1).id
    start = clock()
    memory.hold([one], until=start + 5 * DAY)
    clock.advance(days=10)
    (loss,) = memory.simulate(BY_IMPORTANCE).losses
    assert loss.at == start + 5 * DAY


def test_what_is_erased_is_only_counted(memory: Memory, clock: FakeClock) -> None:
    one = memory.remember("Sensor 1 hangs in bay 1.").id
    memory.remember("Sensor 2 hangs in bay 2.")
    memory.erase([one])
    clock.advance(days=1)
    found = memory.simulate()
    assert (found.records, found.unknown) == (1, 1)


def test_an_imported_history_counts_from_when_it_was_said(memory: Memory) -> None:
    said = datetime(2025, 11, 1, tzinfo=UTC)
    memory.remember("Sensor 1 hangs in bay 1.", importance=0.1, created_at=said)
    (loss,) = memory.simulate(BY_IMPORTANCE).losses
    assert loss.at == said + DAY


def test_a_later_statement_ends_an_earlier_one_when_it_was_said(memory: Memory) -> None:
    first, second = datetime(2025, 11, 1, tzinfo=UTC), datetime(2025, 11, 5, tzinfo=UTC)
    one = memory.remember("Sensor 1 hangs in bay 1.", created_at=first).id
    memory.remember("Sensor 1 hangs in bay 9.", created_at=second, supersedes=[one])
    standings = memory.simulate("keep-everything", every="1d").standings
    assert [each.hot for each in standings[:6]] == [1] * 6
    losses = memory.simulate(replace(BY_IMPORTANCE, threshold=1.0)).losses
    assert losses[0].id == one


def test_a_twin_that_would_be_gone_counts_no_more(memory: Memory, clock: FakeClock) -> None:
    memory.remember("The ferry to Amrum leaves at nine.", importance=0.1)
    clock.advance(days=3)
    memory.remember("The ferry to Amrum leaves at nine now.", importance=0.9)
    kept, lost = Watching(), Watching(low=0.1)
    clock.advance(days=3)
    memory.simulate(RetentionPolicy(model=kept))
    memory.simulate(replace(BY_IMPORTANCE, model=lost))
    assert kept.seen[-1].similarity[1] > 0.5
    assert lost.seen[-1].similarity.tolist() == [0.0]


def test_an_empty_scope_has_nothing_to_lose(memory: Memory) -> None:
    found = memory.simulate()
    assert (found.records, found.losses, len(found.standings)) == (0, (), 1)


# ── Columns of former days ───────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Watching:
    """Scores everything alike, or nothing if not important, and keeps the columns that it was shown."""

    low: float = 0.0
    seen: list[Columns] = field(default_factory=list)
    name: str = "watching"
    needs: frozenset[Need] = frozenset(Need)

    def parameters(self) -> dict[str, JsonValue]:
        return {}

    def score(self, columns: Columns, now: datetime) -> Scores:
        self.seen.append(columns)
        values = (columns.importance > self.low).astype(np.float64)
        return Scores(values=values, parts={"all": values})


def told_story(memory: Memory, clock: FakeClock) -> list[Columns]:
    """Tell, ask and confirm every 30 hours; returns what the store's columns were after each."""
    ids, seen = [], []
    for n, row in enumerate(HISTORY):
        with memory.session(f"s{n}") as session:
            session.turn()
        ids.append(memory.remember(row[1], kind=row[0]).id)
        clock.advance(hours=24)
        memory.recall("printer paper window", k=2)
        memory.reinforce(ids[-1:])
        memory.flush()
        with memory._engine.store.read() as reader:
            seen.append(reader.columns(memory.scope, clock(), frozenset(Need)))
        clock.advance(hours=6)
    memory.pin(ids[2])
    memory.hold(ids[3])
    return seen


def test_in_the_end_the_columns_are_those_of_the_store(memory: Memory, clock: FakeClock) -> None:
    told_story(memory, clock)
    memory.remember("Sensor 1 hangs in bay 1.", supersedes=memory.list(kinds=["note"])[0].id)
    clock.advance(days=2)
    model = Watching()
    memory.simulate(RetentionPolicy(model=model))
    with memory._engine.store.read() as reader:
        real = reader.columns(memory.scope, clock(), frozenset(Need))
    assert plain_columns(model.seen[-1]) == plain_columns(real)
    assert plain_traces(model.seen[-1]) == plain_traces(real)


def test_before_that_they_are_those_of_then(memory: Memory, clock: FakeClock) -> None:
    real = told_story(memory, clock)
    model = Watching()
    memory.simulate(RetentionPolicy(model=model), every="6h")
    assert len(model.seen) == 5 * len(real)
    for then, replayed in zip(real, model.seen[3::5], strict=True):
        told = plain_columns(replayed) | {"versions": plain_columns(then)["versions"]}
        # Kinds are compared by name, and days to come are cut off by whoever counts them.
        assert told == plain_columns(then)
        traces = plain_traces(replayed) | {"active days": then.active_days.tolist()}
        assert traces == plain_traces(then)
    assert not model.seen[-2].pinned.any()
    assert model.seen[-1].pinned.sum() == 1


@pytest.mark.parametrize("model", [Survival(), Activation(), Retrievability()])
def test_models_that_read_traces_can_be_tried(
    memory: Memory, clock: FakeClock, model: RetentionModel
) -> None:
    told_story(memory, clock)
    found = memory.simulate(RetentionPolicy(model=model, budget=Budget(records=3)))
    assert (found.standings[-1].hot, found.standings[-1].cold) == (3, 3)


# ── How often ────────────────────────────────────────────────────────────────────────────────────


def test_a_policy_runs_as_often_as_its_triggers_say() -> None:
    assert usual_step(preset("long-research")) == timedelta(days=7)
    assert usual_step(preset("survival")) == DAY
    assert usual_step(preset("classic")) == timedelta(days=7)


def test_runs_lie_at_equal_steps_and_the_last_is_now() -> None:
    assert moments_of(10, 35, timedelta(microseconds=10)) == ([20, 30, 35], timedelta(0, 0, 10))
    assert moments_of(10, 10, DAY)[0] == [10]
    runs, step = moments_of(0, 10_000, timedelta(microseconds=1))
    assert (len(runs), step) == (MOST_RUNS, timedelta(microseconds=25))


def test_progress_is_told_and_a_step_can_be_chosen(memory: Memory, clock: FakeClock) -> None:
    memory.remember("The ferry leaves at nine.")
    clock.advance(days=10)
    told: list[tuple[int, int]] = []
    found = memory.simulate(every="5d", progress=lambda *each: told.append(each))
    assert told == [(1, 2), (2, 2)]
    assert found.every == timedelta(days=5)
    for wrong in ("soon", 0):
        with pytest.raises(InvalidInputError, match="every"):
            memory.simulate(every=wrong)
