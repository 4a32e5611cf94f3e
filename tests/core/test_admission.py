"""New, duplicate, superseding or outdated: decided by key, text, claim slot and link alone."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Unpack

import pytest

from sfams.core.admission import (
    Admission,
    AdmissionPolicy,
    Neighbour,
    Outcome,
    Surroundings,
    admit,
    content_hash,
    find_loop,
    would_loop,
)
from sfams.core.draft import DraftFields, make_draft
from sfams.core.query import Calibration
from sfams.core.record import Claim, MemoryRecord, RecordId, Status, Twin, Validity
from sfams.errors import ConflictError, InvalidPolicyError
from sfams.testing import make_record, numbered_id

DAY = timedelta(days=1)
JANUARY = datetime(2026, 1, 12, 10, tzinfo=UTC)
MARCH = datetime(2026, 3, 18, 10, tzinfo=UTC)
JUNE = datetime(2026, 6, 9, 10, tzinfo=UTC)
A, B, C, D = (numbered_id(n) for n in (1, 2, 3, 4))


def decide(
    content: str,
    around: Surroundings,
    said_at: datetime = JUNE,
    /,
    **fields: Unpack[DraftFields],
) -> Admission:
    return admit(make_draft(content, fields), around, created_at=said_at, twin_cosine=0.9)


def floor(number: int, value: str, created_at: datetime) -> MemoryRecord:
    claim = Claim("Brno office", "floor", value)
    content = f"The Brno office is on floor {value}."
    return make_record(number, content=content, claim=claim, created_at=created_at)


def tell_floor(value: str, created_at: datetime, slot: Iterable[MemoryRecord]) -> Admission:
    return decide(
        f"The Brno office is on floor {value}.",
        Surroundings(slot=tuple(slot)),
        created_at,
        subject="Brno office",
        attribute="floor",
        value=value,
    )


def hash_of(content: str, kind: str = "fact", /, **fields: Unpack[DraftFields]) -> str:
    return content_hash(make_draft(content, fields), kind)


# --- the text and its hash -----------------------------------------------------------------------


def test_equal_texts_have_equal_hashes_however_they_are_typed() -> None:
    first = hash_of("The spare key is under the blue flowerpot.")
    assert hash_of("  The spare key is  under the blue flowerpot.\n") == first
    assert hash_of("the spare key is under the blue flowerpot") == first
    assert len(first) == 32
    assert int(first, 16) >= 0


def test_another_text_speaker_or_number_has_another_hash() -> None:
    texts = ["Room 12 is free.", "Room 21 is free.", "Room 12 is free?", "Room 12 is not free."]
    assert len({hash_of(text) for text in texts}) == 4
    assert hash_of("I agree.", who="Ines") != hash_of("I agree.", who="Tiago")
    assert hash_of("I agree.", who="INES") == hash_of("I agree.", who="Ines")
    assert hash_of("a", who="bc") != hash_of("ab", who="c")


def test_the_kind_does_not_matter_except_that_dialogue_is_told_apart_by_turn() -> None:
    assert hash_of("Yes.", "fact") == hash_of("Yes.", "note", session="s1", turn=3)
    third = hash_of("Yes.", "dialogue", session="s1", turn=3)
    assert hash_of("Yes.", "dialogue", session="s1", turn=3) == third
    assert hash_of("Yes.", "dialogue:chat", session="s1", turn=3) == third
    assert hash_of("Yes.", "dialogue", session="s1", turn=4) != third
    assert hash_of("Yes.", "dialogue", session="s2", turn=3) != third
    assert hash_of("Yes.", "dialogue", session="s1", turn=0) != hash_of(
        "Yes.", "dialogue", session="s1"
    )


# --- new and duplicate ---------------------------------------------------------------------------


def test_a_text_with_nothing_around_is_new() -> None:
    assert decide("Standup moved to 09:40.", Surroundings()) == Admission(outcome=Outcome.NEW)


def test_the_same_text_is_a_duplicate() -> None:
    made = decide("Standup moved to 09:40.", Surroundings(by_hash=A))
    assert made == Admission(outcome=Outcome.DUPLICATE, duplicate_of=A)


def test_the_same_key_is_a_duplicate_before_the_same_text() -> None:
    made = decide("Standup moved to 09:40.", Surroundings(by_key=B, by_hash=A), key="m-7")
    assert made.duplicate_of == B


def test_close_vectors_alone_merge_and_replace_nothing() -> None:
    near = [Neighbour(A, 0.95), Neighbour(B, 0.99), Neighbour(C, 0.2)]
    made = decide("Ines plays the cello in the town orchestra.", Surroundings(neighbours=near))
    assert made.outcome is Outcome.NEW
    assert made.supersedes == ()
    assert made.twin == Twin(B, 0.99)  # a hint


def test_only_a_close_neighbour_is_a_twin_and_ties_go_by_id() -> None:
    assert decide("x", Surroundings(neighbours=[Neighbour(A, 0.899)])).twin is None
    assert decide("x", Surroundings(neighbours=[Neighbour(A, 0.9)])).twin == Twin(A, 0.9)
    tied = [Neighbour(C, 0.95), Neighbour(A, 0.95), Neighbour(B, 0.95)]
    assert decide("x", Surroundings(neighbours=tied)).twin == Twin(A, 0.95)


# --- claims --------------------------------------------------------------------------------------


def test_a_newer_value_of_the_same_slot_supersedes() -> None:
    made = tell_floor("5", MARCH, [floor(1, "2", JANUARY)])
    assert made == Admission(outcome=Outcome.SUPERSEDING, supersedes=(A,))


def test_an_equally_old_value_is_superseded_too() -> None:
    assert tell_floor("5", MARCH, [floor(1, "2", MARCH)]).supersedes == (A,)


def test_an_older_value_is_outdated_on_arrival() -> None:
    slot = [floor(1, "5", MARCH), floor(2, "9", JUNE)]
    made = tell_floor("2", JANUARY, slot)
    assert made == Admission(outcome=Outcome.OUTDATED, superseded_by=B)
    assert tell_floor("2", JANUARY, reversed(slot)) == made


def test_the_same_value_stays_beside_and_is_at_most_a_twin() -> None:
    made = tell_floor("５ ", MARCH, [floor(1, "5", JANUARY)])  # full width, blank
    assert made.outcome is Outcome.NEW
    assert made.supersedes == ()


def test_a_claim_without_value_is_worth_its_text() -> None:
    claim = Claim("oat milk", "Nadia")
    old = make_record(1, content="Nadia drinks oat milk.", claim=claim, created_at=JANUARY)
    around = Surroundings(slot=[old])
    slot: DraftFields = {"subject": "oat milk", "attribute": "Nadia"}
    assert decide("Nadia takes her coffee black.", around, **slot).supersedes == (A,)
    assert decide("nadia drinks oat milk", around, **slot).outcome is Outcome.NEW


def test_without_a_claim_of_its_own_a_text_supersedes_nothing() -> None:
    around = Surroundings(slot=[floor(1, "2", JANUARY)])
    assert decide("The Brno office is on floor 5.", around).outcome is Outcome.NEW


def test_several_older_values_are_superseded_at_once_in_id_order() -> None:
    slot = [floor(2, "3", MARCH), floor(1, "2", JANUARY)]
    assert tell_floor("9", JUNE, slot).supersedes == (A, B)


def test_what_is_superseded_is_no_twin() -> None:
    around = Surroundings(slot=[floor(1, "2", JANUARY)], neighbours=[Neighbour(A, 0.99)])
    made = decide("Floor 5.", around, subject="Brno office", attribute="floor", value="5")
    assert made.supersedes == (A,)
    assert made.twin is None


# --- explicit links ------------------------------------------------------------------------------


def test_an_explicit_link_supersedes_whatever_the_dates_say() -> None:
    around = Surroundings(targets=[make_record(1, created_at=JUNE)])
    made = decide("x", around, MARCH, supersedes=A)
    assert made == Admission(outcome=Outcome.SUPERSEDING, supersedes=(A,))


def test_an_explicit_link_outweighs_the_slot() -> None:
    newer = floor(1, "9", JUNE)
    around = Surroundings(targets=[newer], slot=[newer])
    made = decide("Floor 5.", around, MARCH, subject="Brno office", attribute="floor", value="5")
    assert made == Admission(outcome=Outcome.SUPERSEDING, supersedes=(A,))


def test_an_outdated_draft_still_honours_its_links() -> None:
    around = Surroundings(targets=[make_record(3)], slot=[floor(1, "9", JUNE)])
    made = decide("Floor 5.", around, MARCH, subject="Brno office", attribute="floor", value="5")
    assert made == Admission(outcome=Outcome.OUTDATED, supersedes=(C,), superseded_by=A)


def test_a_duplicate_passes_its_links_on_but_never_to_itself() -> None:
    around = Surroundings(by_hash=B, targets=[make_record(1), make_record(2)])
    made = decide("x", around)
    assert made == Admission(outcome=Outcome.DUPLICATE, duplicate_of=B, supersedes=(A,))


def test_telling_a_replacement_again_is_harmless() -> None:
    done = make_record(1, status=Status.SUPERSEDED, validity=Validity(superseded_by=B))
    made = decide("x", Surroundings(by_hash=B, targets=[done]))
    assert made == Admission(outcome=Outcome.DUPLICATE, duplicate_of=B)


@pytest.mark.parametrize("status", [Status.SUPERSEDED, Status.SUMMARIZED, Status.DELETED])
def test_only_live_records_can_be_superseded(status: Status) -> None:
    gone = make_record(1, status=status, validity=Validity(superseded_by=C))
    with pytest.raises(ConflictError, match=str(status)):
        decide("x", Surroundings(targets=[gone]))


# --- loops ---------------------------------------------------------------------------------------


def test_a_loop_of_replacements_is_found_and_named() -> None:
    successors = {A: B, B: C}
    assert find_loop(successors, C, A) == (C, A, B, C)
    assert would_loop(successors, C, A)
    assert would_loop(successors, A, A)
    assert not would_loop(successors, C, D)
    assert not would_loop({A: B}, C, B)  # after the link B -> C was taken away
    assert find_loop({}, A, B) == ()


def test_the_search_for_a_loop_ends_on_a_loop() -> None:
    assert not would_loop({A: B, B: A}, C, A)
    chain = {numbered_id(n): numbered_id(n + 1) for n in range(10, 20_000)}
    assert would_loop(chain, RecordId(numbered_id(20_000)), numbered_id(10))


# --- policy --------------------------------------------------------------------------------------


def test_the_twin_threshold_is_calibrated_per_model() -> None:
    policy = AdmissionPolicy(twin_similarity=0.5)
    assert policy.twin_cosine(Calibration(0.0, 1.0)) == 0.5
    assert policy.twin_cosine(Calibration(0.8, 0.02)) == pytest.approx(0.9)
    assert AdmissionPolicy(twin_similarity=1.0).twin_cosine(Calibration(0.8, 0.02)) == 1.0


@pytest.mark.parametrize("value", [0.0, -0.5, 1.5, float("nan")])
def test_a_wrong_twin_threshold_is_refused(value: float) -> None:
    with pytest.raises(InvalidPolicyError, match="twin_similarity"):
        AdmissionPolicy(twin_similarity=value)
