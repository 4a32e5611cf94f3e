"""Erasing: what is meant goes with every trace, and nothing else; it does not come back by itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sfams
from sfams.core.admission import Outcome
from sfams.core.record import RecordId, Status
from sfams.errors import ConflictError, InvalidInputError, NotFoundError, RecordProtectedError
from sfams.ports import Store, Transition
from sfams.service.memory import Memory
from sfams.service.results import Residue

OpenMemory = Callable[..., Memory]


def contents(memory: Memory, **filters: Any) -> set[str]:
    return {record.content for record in memory.list(limit=1000, **filters)}


def everywhere(memory: Memory, words: str) -> list[str]:
    """Name the verbs that still show a text."""
    shown: dict[str, object] = {
        f"recall {mode} {status}": memory.recall(words, mode=mode, status=[status], expired=True)
        for mode in ("keyword", "vector", "hybrid")
        for status in ("live", "all")
    }
    records = memory.list(limit=1000, status=["all"], expired=True).records
    shown |= {
        "context": memory.context(words, tokens=4000).text,
        "list": records,
        "listed by text": memory.list(text=words[:20], status=["all"]).records,
        "entities": memory.entities(),
        "versions": [memory.versions(record.id) for record in records],
        "history": [memory.history(record.id) for record in records],
        "timeline": [memory.timeline(record.id) for record in records],
        "plans": [memory.plan(plan) for plan in memory.plans(1000)],
        "export": list(memory.export(below=True)),
        "erasures": memory.erasures(),
        "explain": [memory.explain(record.id) for record in records],
        "stats": memory.stats(),
    }
    return [name for name, value in shown.items() if words.lower() in repr(value).lower()]


def in_files(store: Store, *words: str) -> list[str]:
    """Name the files of the store that hold a word, byte by byte."""
    path = Path(store.location)
    found = []
    for file in path.parent.glob(path.name + "*") if path.is_absolute() else ():
        data = file.read_bytes().lower()
        found += [file.name for each in words if each.lower().encode() in data]
    return found


# ── Selection ─────────────────────────────────────────────────────────────────────────────────────

MAILS = [
    "Write to alice@example.com about the offer.",
    "Write to bob@example.com about the offer.",
    "malice@example.com is spam.",
    "alice@example.com.au is another firm.",
    "x.alice@example.com is a test account.",
    "请写信给alice@example.com。",
]


def test_an_exact_identifier_touches_no_other(memory: Memory) -> None:
    memory.remember_many(MAILS)
    found = memory.erase(identifier="alice@example.com", dry_run=True)
    assert len(found.ids) == 2
    assert len(found.unsure) == 3
    memory.erase(identifier="Alice@Example.com")
    assert contents(memory) == set(MAILS[1:5])


@pytest.mark.parametrize(
    "number", ["+43 664 123 45 67", "0664/1234567", "00436641234567", "(0664) 123-4567"]
)
def test_a_telephone_number_is_found_whatever_parts_its_digits(memory: Memory, number: str) -> None:
    texts = ["Call +43 664 1234567.", "0664 123 45 67", "手机号0664-1234567号"]
    others = ["Call +43 664 12345678.", "+43 664 123456", "Order 906641234567 is paid."]
    memory.remember_many([*texts, *others])
    memory.erase(identifier=number)
    assert contents(memory) == set(others)


def test_another_countrys_number_is_another_number(memory: Memory) -> None:
    memory.remember("Call +44 664 1234567.")
    assert memory.erase(identifier="+43 664 1234567", dry_run=True).ids == ()


def test_a_subject_is_all_that_it_said_and_all_that_names_it(memory: Memory) -> None:
    told = [
        memory.remember("I will be in Linz on Friday.", who="Mira").id,
        memory.remember("Lunch on Friday.", who="Jun", entities=["person:Mira"]).id,
        memory.remember("MIRA's badge number is 88.", who="Jun").id,
        memory.remember("The badge is blue.", who="Jun", tags=["mira"]).id,
        memory.remember("The door is open.", who="Jun", metadata={"for": ["Mira"]}).id,
        memory.remember("Somebody moved.", subject="mira", attribute="city", value="Graz").id,
        memory.remember("Mira sings.", who="Jun").id,
        memory.remember("Mira is deleted.", who="Jun").id,
    ]
    memory.update(told[6], content="She sings.")
    memory.delete(told[7])
    for text in ("Admiral Nelson.", "Mirabella sings.", "The demo is on Friday."):
        memory.remember(text, who="Jun")
    found = memory.erase(subject="Mira", dry_run=True)
    assert set(found.ids) == set(told)
    assert len(found.unsure) == 1
    memory.erase(subject="Mira")
    assert contents(memory, status=["all"]) == {
        "Admiral Nelson.",
        "Mirabella sings.",
        "The demo is on Friday.",
    }


def test_a_subject_has_several_names(memory: Memory) -> None:
    texts = ["王芳住在格拉茨。", "Fang Wang moved.", "我和王芳去了。", "fw@example.com wrote."]
    others = ["王芳芳是别人。", "Wang Fang is a firm."]
    memory.remember(others[0], entities=["王芳芳"])
    memory.remember_many([*texts, others[1]])
    memory.erase(subject=["王芳", "Fang Wang", "fw@example.com"])
    assert contents(memory) == set(others)


def test_a_longer_name_is_somebody_else(memory: Memory) -> None:
    memory.remember("Ann Lee sang.", entities=["Ann Lee"])
    memory.remember("Ann cooked.", entities=["Ann"])
    memory.remember("Ann and Ann Lee met.")
    found = memory.erase(subject="Ann", dry_run=True)
    assert (len(found.ids), len(found.unsure)) == (2, 1)
    memory.erase(subject=["Ann", "Ann Lee"])
    assert contents(memory) == set()


def test_a_filter_narrows_a_subject(memory: Memory) -> None:
    memory.remember("Mira at work.", session="work")
    memory.remember("Mira at home.", session="home")
    memory.erase(subject="Mira", session="work")
    assert contents(memory) == {"Mira at home."}


@pytest.mark.parametrize("name", ["", "  ", "a", "7"])
def test_what_names_nobody_is_refused(memory: Memory, name: str) -> None:
    memory.remember("A note.")
    with pytest.raises(InvalidInputError, match="subject"):
        memory.erase(subject=name)
    with pytest.raises(InvalidInputError, match="subject"):
        memory.erase(subject=[])


def test_the_preview_counts_by_category(memory: Memory) -> None:
    first = memory.remember("Lena has a garage.", entities=["Lena", "Garage"]).id
    other = memory.remember("Lena sings.", entities=["Lena"]).id
    memory.update(first, content="Lena has a car.")
    memory.link(first, other, "about")
    memory.link(other, first, "see")
    memory.plan_forgetting(sfams.RetentionPolicy(budget=sfams.Budget(records=0)))
    found = memory.erase(first, dry_run=True)
    assert dict(found.reach) == {
        "records": 1,
        "summaries": 0,
        "versions": 1,
        "vectors": 1,
        "relations": 2,
        "plan_steps": 1,
        "events": 3,
        "entities": 1,
    }
    assert dict(memory.erase(first).reach) == dict(found.reach)


# ── Summaries ─────────────────────────────────────────────────────────────────────────────────────


def summarized(
    memory: Memory, *texts: str, kind: str = "summary"
) -> tuple[list[RecordId], RecordId]:
    """Put a summary in the place of a few texts, as the ladder does."""
    sources = [memory.remember(text).id for text in texts]
    summary = memory.remember(" | ".join(texts), kind=kind, derived_from=sources).id
    with memory._engine.store.write() as transaction:
        changes = [Transition(each, status=Status.SUMMARIZED) for each in sources]
        transaction.transition(memory.scope, changes, memory._engine.now())
    return sources, summary


def test_summaries_of_the_erased_go_too_and_their_other_sources_live_again(memory: Memory) -> None:
    sources, summary = summarized(
        memory, "Petra rents Pier 7.", "Petra owns two kayaks.", "她住在维也纳。"
    )
    digest = memory.remember("Week: Pier 7 and kayaks.", kind="summary", derived_from=[summary]).id
    found = memory.erase(sources[0], dry_run=True)
    assert (found.ids, set(found.withdrawn)) == ((sources[0],), {summary, digest})
    receipt = memory.erase(sources[0])
    assert receipt.revived == (tuple(sources[1:]),)
    assert receipt.reach["summaries"] == 2
    assert contents(memory, status=["all"]) == {"Petra owns two kayaks.", "她住在维也纳。"}
    assert {memory.get(each).status for each in sources[1:]} == {Status.LIVE}
    assert everywhere(memory, "Pier 7") == []
    assert in_files(memory._engine.store, "Pier 7") == []


def test_a_source_that_another_summary_stands_for_stays(memory: Memory) -> None:
    sources, _ = summarized(memory, "Petra rents Pier 7.", "Petra owns two kayaks.")
    memory.remember("Kayaks: two.", kind="summary", derived_from=[sources[1]])
    assert memory.erase(sources[0]).revived == ()
    assert memory.get(sources[1]).status is Status.SUMMARIZED


def test_a_held_summary_forbids_it(memory: Memory) -> None:
    sources, summary = summarized(memory, "Petra rents Pier 7.", "Petra owns two kayaks.")
    memory.hold(summary)
    with pytest.raises(RecordProtectedError, match=summary):
        memory.erase(sources[0])
    assert memory.get(sources[0]).content == "Petra rents Pier 7."


def test_whoever_makes_summaries_is_told(memory: Memory, clock: Any) -> None:
    heard: list[Any] = []
    sources, _ = summarized(memory, "Petra rents Pier 7.", "Petra owns two kayaks.")
    engine = memory._engine
    object.__setattr__(engine, "rebuild", lambda scope, groups: heard.append((scope, groups)))
    memory.erase(sources[0])
    memory.flush()
    assert heard == [(memory.scope, ((sources[1],),))]


# ── It stays away ─────────────────────────────────────────────────────────────────────────────────

SECRET = "Alice's garage door code is 4471."


@pytest.mark.parametrize(
    "again",
    [
        {"content": SECRET},
        {"content": "  ALICE'S garage door  code is 4471 "},
        {"content": SECRET, "kind": "note", "who": "somebody else"},
        {"content": SECRET, "kind": "dialogue"},
        {
            "content": "The code at Alice's: 4471",
            "subject": "Alice",
            "attribute": "Code",
            "value": "4471",
        },
        {"content": "Alice's garage door code is 4470."},
    ],
)
def test_the_erased_is_not_stored_again_until_it_is_lifted(
    memory: Memory, again: dict[str, str]
) -> None:
    erased = memory.remember(
        "Alice's garage door code is 4470.",
        who="Alice",
        subject="alice",
        attribute="code",
        value="4471",
    ).id
    memory.update(erased, content=SECRET)
    memory.erase(erased)
    told = memory.remember(**again)  # type: ignore[arg-type]
    assert (told.outcome, told.id, told.stored) == (Outcome.REFUSED, erased, False)
    assert erased in told.warnings[0]
    assert "4471" not in told.warnings[0]
    assert contents(memory, status=["all"]) == set()
    assert memory.lift(erased) == (erased,)
    assert memory.remember(**again).stored  # type: ignore[arg-type]


def test_the_others_of_a_batch_are_stored(memory: Memory) -> None:
    memory.erase(memory.remember("窑温是一千零四十度。").id)
    told = memory.remember_many(["One.", "窑温是一千零四十度", {"text": "Two."}], wait=False)
    assert [each.outcome for each in told] == ["new", "refused", "new"]
    memory.flush()
    assert contents(memory) == {"One.", "Two."}


def test_the_same_words_of_another_speaker_are_another_event(memory: Memory) -> None:
    erased = memory.remember("Thanks!", kind="dialogue", who="Alice", session="s", turn=1).id
    memory.erase(erased)
    assert memory.remember("Thanks!", kind="dialogue", who="Bob", session="s", turn=2).stored
    assert not memory.remember("Thanks!", kind="dialogue", who="Alice", session="t", turn=9).stored


def test_what_was_erased_is_shown_to_no_embedder_again(open_memory: OpenMemory) -> None:
    from sfams.testing.embedders import ScriptedEmbedder

    embedder = ScriptedEmbedder()
    memory = open_memory("acme/me", embedder)
    memory.erase(memory.remember(SECRET).id)
    embedder.fail = True
    told = memory.remember_many([SECRET])
    assert [each.outcome for each in told] == [Outcome.REFUSED]


def test_a_text_may_be_lifted_by_itself_and_only_once(memory: Memory) -> None:
    erased = memory.remember(SECRET, who="Alice").id
    memory.erase(erased)
    assert memory.explain(SECRET).fate == "erased"
    assert memory.lift(SECRET.upper()) == (erased,)
    for gone in (SECRET, erased, "never said"):
        with pytest.raises(NotFoundError, match="lift"):
            memory.lift(gone)
    with pytest.raises(InvalidInputError, match="lift"):
        memory.lift(" ")
    assert memory.history(erased)[-1].type == "lifted"
    assert memory.explain(SECRET).fate == "never stored"


def test_an_update_does_not_bring_it_back(memory: Memory) -> None:
    memory.erase(memory.remember(SECRET, who="Alice").id)
    other = memory.remember("Another text.").id
    with pytest.raises(ConflictError, match="erased"):
        memory.update(other, content=SECRET)
    assert memory.update(other, importance=0.9).importance == 0.9


def test_an_import_does_not_bring_it_back(memory: Memory) -> None:
    kept = memory.remember("Kept.").id
    memory.update(kept, content="Kept on.")
    changed = memory.remember("An older text.").id
    memory.update(changed, content="A newer text.")
    memory.remember(SECRET, who="Alice")
    lines = list(memory.export())
    memory.erase(text="4471")
    memory.erase([kept, changed])
    memory.lift(changed)
    memory.lift("Kept on.")
    memory.erase(memory.remember("An older text.").id)
    report = memory.import_([*lines, json.dumps({"text": SECRET})])
    assert (report.added, [each.line for each in report.refused]) == (2, [3, 4])
    assert "erased" in report.refused[0].reason
    assert list(memory.versions(changed)) == []
    assert [past.content for past in memory.versions(kept)] == ["Kept."]
    assert memory.import_(lines, erased=True).added == 1
    assert memory.import_([json.dumps({"text": "An older text."})], erased=True).added == 1


# ── Receipts ──────────────────────────────────────────────────────────────────────────────────────


def test_receipts_are_kept_as_a_chain(memory: Memory) -> None:
    first, second = memory.remember(SECRET).id, memory.remember("Another.").id
    receipts = [memory.erase(first), memory.erase(second)]
    log = memory.erasures()
    assert [each.ids for each in log] == [(first,), (second,)]
    assert [each.seal for each in log] == [each.seal for each in receipts]
    assert {each.residue for each in log} == {Residue.CLEAN}
    assert (log.problems, log.signed) == ((), False)
    assert "backups" in receipts[0].out_of_reach[0]
    assert "4471" not in repr((receipts, log))


def test_a_receipt_cannot_be_taken_out_or_changed(tmp_path: Path) -> None:
    import apsw

    path = tmp_path / "memory.db"
    with sfams.open(path, scope="acme", embedder="hashing") as memory:
        for text in ("One.", "Two.", "Three."):
            memory.erase(memory.remember(text).id)
        assert memory.erasures().problems == ()
    for change, problem in (
        (
            "UPDATE erasure SET body = replace(body, '\"count\":1', '\"count\":2') WHERE number = 3",
            "3 was changed",
        ),
        ("DELETE FROM erasure WHERE number = 3", "3 is missing"),
    ):
        connection = apsw.Connection(str(path))
        connection.execute(change)
        connection.close()
        with sfams.open(path, scope="acme", embedder="hashing") as memory:
            assert any(problem in each for each in memory.erasures().problems)


def test_receipts_may_be_signed(memory: Memory) -> None:
    object.__setattr__(memory._engine, "receipt_key", b"a key")
    memory.erase(memory.remember(SECRET).id)
    assert (memory.erasures().problems, memory.erasures().signed) == ((), True)
    object.__setattr__(memory._engine, "receipt_key", b"another key")
    assert "not signed with this key" in memory.erasures().problems[0]


def test_nothing_found_is_no_erasure(memory: Memory) -> None:
    receipt = memory.erase(subject="Nobody")
    assert (receipt.ids, receipt.number, receipt.residue) == ((), 0, Residue.CLEAN)
    assert len(memory.erasures()) == 0


def test_an_open_reader_leaves_it_pending_until_doctor_has_been(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with sfams.open(path, scope="acme", embedder="hashing") as memory:
        erased = memory.remember(SECRET).id
        with memory._engine.store.read() as reader:
            assert reader.get(memory.scope, [erased])
            receipt = memory.erase(erased)
        assert (receipt.residue, receipt.checked) == (Residue.PENDING, None)
        assert memory.erasures()[0].residue is Residue.PENDING
        memory.remember("Something that stays.")
        assert memory.doctor(repair=True).healthy
        log = memory.erasures()
        assert (log[0].residue, log.problems) == (Residue.CLEAN, ())
        assert in_files(memory._engine.store, "4471") == []


# ── All that is held on somebody ──────────────────────────────────────────────────────────────────


def test_all_that_is_held_on_a_subject_is_exported(memory: Memory) -> None:
    first = memory.remember("Mira lives in Graz.", who="Jun").id
    memory.update(first, content="Mira lives in Linz.")
    memory.delete(memory.remember("米拉 Mira").id)
    other = memory.remember("The demo is on Friday.").id
    memory.link(other, first, "about")
    memory.recall("Mira")
    lines = [json.loads(line) for line in memory.export_subject(subject="Mira")]
    assert (lines[0]["format"], lines[0]["held"]["records"]) == ("sfams-subject/1", 2)
    records = {line["id"]: line for line in lines if line["format"] == "sfams-record/1"}
    assert records[first]["past"][0]["content"] == "Mira lives in Graz."
    assert records[first]["usage"]["access_count"] == 1
    assert {line["status"] for line in records.values()} == {"live", "deleted"}
    assert other not in records
    kinds = [line["type"] for line in lines if line["format"] == "sfams-event/1"]
    assert kinds == ["remembered", "updated", "remembered", "deleted"]
    links = [line for line in lines if line["format"] == "sfams-relation/1"]
    assert [(line["source"], line["target"]) for line in links] == [(other, first)]
