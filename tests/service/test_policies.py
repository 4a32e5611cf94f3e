"""Policies: as files, in the store, from the nearest scope above, and what two of them keep."""

from dataclasses import replace
from datetime import timedelta

import pytest

from sfams.core.events import EventType
from sfams.core.policy import Budget, Limit, RetentionPolicy, Rung
from sfams.core.policy_toml import policy_from_toml, policy_to_toml
from sfams.core.presets import PRESETS, preset
from sfams.core.record import Status
from sfams.errors import InvalidInputError, InvalidPolicyError
from sfams.service.memory import Memory
from sfams.testing import FakeClock

# ── As files ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_what_its_file_says(name: str) -> None:
    assert policy_from_toml(policy_to_toml(preset(name))) == preset(name)


def test_a_file_with_everything_comes_back() -> None:
    policy = RetentionPolicy(
        name='odd "name" 项目',
        budget=Budget(records=5, low=0.9, kinds={"fact:deadline": Limit(tokens=3)}),
        retention={"dialogue": timedelta(days=365), "sensitive": timedelta(hours=36)},
        grace=timedelta(seconds=1.5),
        summarize=Rung(below=0.4, after=timedelta(days=7)),
        max_count=9,
    )
    written = policy_to_toml(policy)
    assert policy_from_toml(written) == policy
    assert 'sensitive = "36h"' in written


def test_a_file_says_what_differs_from_a_preset() -> None:
    text = 'base = "long-research"\nthreshold = 0.1\n[budget]\nrecords = 300\n'
    policy = policy_from_toml(text)
    expected = replace(
        preset("long-research"),
        name="long-research, changed",
        threshold=0.1,
        budget=Budget(records=300),
    )
    assert policy == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("threshold = ", "mine.toml: not TOML"),
        ("treshold = 0.1", "mine.toml: treshold: unknown"),
        ("[budget]\nrecords = -1", "mine.toml: budget.records"),
        ('base = "magic"', "mine.toml: policy: 'magic' is unknown"),
        ("base = 3", "mine.toml: base"),
        ('grace = "soon"', "mine.toml: grace"),
    ],
)
def test_a_wrong_file_is_refused_by_file_and_field(text: str, message: str) -> None:
    with pytest.raises(InvalidPolicyError, match=message):
        policy_from_toml(text, "mine.toml")


# ── In the store ─────────────────────────────────────────────────────────────────────────────────


def test_the_nearest_scope_above_decides(memory: Memory) -> None:
    tenant, project, user = (
        memory.within(each) for each in ("acme", "acme/sale", "acme/sale/user:li")
    )
    assert (user.policy().policy.name, user.policy().scope) == ("adaptive", None)
    tenant.set_policy("long-research")
    assert (user.policy().policy.name, user.policy().scope) == ("long-research", tenant.scope)
    project.set_policy("fast-campaign")
    assert user.policy().scope == project.scope
    assert memory.within("acme/other").policy().scope == tenant.scope
    assert memory.within("acme-2").policy().scope is None
    mine = replace(preset("classic"), name="mine")
    assert user.set_policy(mine).policy == mine
    assert user.set_policy(None).scope == project.scope
    with tenant._engine.store.read() as reader:
        types = [event.type for event in reader.history(user.scope, ())]
    assert types == [EventType.POLICY, EventType.POLICY]


def test_a_plan_is_made_by_the_policy_in_force_or_the_one_given(memory: Memory) -> None:
    memory.set_policy("survival")
    assert memory.plan_forgetting().policy["name"] == "survival"
    assert memory.plan_forgetting("classic").policy["name"] == "classic"
    result = memory.remember("The ferry leaves at nine.")
    assert "shown" in memory.explain(result.id).parts or memory.explain(result.id).parts
    memory.set_policy(replace(preset("adaptive"), undo_window=timedelta(0)))
    memory.delete([result.id])
    assert not memory.explain(result.id).undoable


@pytest.mark.parametrize("wrong", ["magic", 5, {}])
def test_what_is_no_policy_is_not_stored(memory: Memory, wrong: object) -> None:
    with pytest.raises(InvalidInputError, match="policy"):
        memory.set_policy(wrong)  # type: ignore[arg-type]
    assert memory.policy().scope is None


# ── Two of them on one history ───────────────────────────────────────────────────────────────────

HISTORY = (
    ("fact", "The customer's red is Pantone 186 C.", "客户的红色是潘通186 C。"),
    ("decision", "We decided to print on recycled paper.", "我们决定用再生纸印刷。"),
    ("fact", "The fair opens on 4 May in hall 7.", "展会5月4日在7号馆开幕。"),
    ("state", "The banner file is being exported.", "横幅文件正在导出。"),
    ("note", "Lunch was late again, everybody was hungry.", "午饭又晚了，大家都饿了。"),
    ("dialogue", "Could somebody open the window, please?", "谁能开一下窗户？"),
    ("action", "Ring the printer about the proofs.", "打电话问打印店样张的事。"),
)


@pytest.mark.parametrize("language", [1, 2])
def test_a_campaign_lets_idle_things_go_that_research_keeps(
    memory: Memory, clock: FakeClock, language: int
) -> None:
    kinds: dict[str, str] = {
        memory.remember(f"Booth {n} costs {n + 3}00 euro.", kind="fact").id: "fact"
        for n in range(6)
    }
    for row in HISTORY:
        kinds[memory.remember(row[language], kind=row[0]).id] = row[0]
    gone: dict[str, set[str]] = {}
    for name in ("fast-campaign", "long-research"):
        fresh = memory.within(f"acme/{name}")
        copies = fresh.import_([*memory.export()])
        assert copies.added == len(kinds)
        fresh.set_policy(name)
        for _ in range(8):
            clock.advance(days=10)
            fresh.maintain()
        held = {record.content: record for record in fresh.list(status=["all"], limit=100)}
        gone[name] = {
            memory.get(each).kind
            for each in kinds
            if (found := held.get(memory.get(each).content)) is None
            or found.status is Status.DELETED
        }
        lasting = [r for r in held.values() if r.kind in {"fact", "decision"}]
        if name == "long-research":
            assert {record.status for record in lasting} == {Status.LIVE}
    assert gone["long-research"] == set()
    assert {"dialogue", "state"} <= gone["fast-campaign"]
    assert "decision" not in gone["fast-campaign"]
