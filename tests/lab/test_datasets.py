"""Loaders on small made-up samples of each form, and on the real sets where they are at hand."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.support.evaluation_data import dataset
from tests.support.labelled import conversation, write_jsonl

from sfams.errors import InvalidInputError
from sfams.lab.datasets import READERS, detect, read_dataset
from sfams.lab.datasets.values import Conversation, Unit, shuffled

LOCOMO = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Mia",
            "speaker_b": "Leo",
            "session_10_date_time": "9:05 am on 2 June, 2023",
            "session_10": [{"speaker": "Mia", "dia_id": "D10:1", "text": "I moved to Porto."}],
            "session_2_date_time": "1:56 pm on 8 May, 2023",
            "session_2": [
                {"speaker": "Leo", "dia_id": "D2:1", "text": "Hi!"},
                {"speaker": "Mia", "dia_id": "D2:2", "text": "I bought a kayak."},
            ],
        },
        "qa": [
            {
                "question": "What did Mia buy?",
                "answer": 1,
                "evidence": ["D2:2; D10:1"],
                "category": 1,
            },
            {
                "question": "When did she move?",
                "answer": "June",
                "evidence": ["D2:1"],
                "audited_evidence": ["D10:1"],
                "category": 2,
            },
            {"question": "Where is the cat?", "evidence": ["D2:1"], "category": 5},
            {"question": "Lost evidence?", "evidence": ["D:11:26"], "category": 4},
        ],
    }
]
CHAT = [
    {
        "batch_number": 1,
        "time_anchor": "March-15-2024",
        "turns": [
            [
                {"role": "user", "id": 0, "content": "I use Flask. ->-> 1,1",
                 "time_anchor": "March-15-2024"},
                {"role": "assistant", "id": 1, "content": "Fine."},
                {"role": "user", "id": 2, "content": "The port is 80."},
            ],
            [{"role": "user", "id": 3, "content": "The port is 81. ->-> 1,2",
              "time_anchor": "March-01-2024"}],
        ],
    }
]  # fmt: skip
PROBES = {
    "abstention": [{"question": "Why?", "source_chat_ids": None}],
    "summarization": [{"question": "Sum up.", "source_chat_ids": [[0], [1, 2]]}],
    "knowledge_update": [
        {"question": "Which port?", "answer": 81,
         "source_chat_ids": {"original_info": [2], "updated_info": [3]}},
    ],
    "contradiction_resolution": [
        {"question": "Flask or not?", "source_chat_ids": {"first_statement": [0], "second_statement": [3]}},
    ],
}  # fmt: skip
LONGMEMEVAL = [
    {
        "question_id": "ab12",
        "question_type": "knowledge-update",
        "question": "How many kayaks do I own?",
        "answer": 2,
        "question_date": "2023/06/20 (Tue) 10:00",
        "haystack_session_ids": ["late", "early"],
        "haystack_dates": ["2023/05/30 (Tue) 23:40", "2023/05/20 (Sat) 02:21"],
        "haystack_sessions": [
            [{"role": "user", "content": "Now I own two.", "has_answer": True}],
            [{"role": "user", "content": "I own one kayak."}, {"role": "assistant", "content": "Nice."}],
        ],
        "answer_session_ids": ["late"],
    }
]  # fmt: skip
MEMDAILY = {
    "simple": {
        "roles": [
            {
                "tid": 0,
                "message_list": [
                    {"mid": 0, "message": "我的上司名叫赵雅琳。",
                     "time": "2024年04月01日 周一 08:39"},
                    {"mid": 1, "message": "我表妹是硕士。", "time": "2024年04月02日 周二 08:04"},
                ],
                "QA": {"qid": 0, "question": "我上司叫什么？", "answer": "赵雅琳", "target_step_id": [0],
                       "choices": {}, "ground_truth": "D", "time": "2024年04月05日 周五 11:59"},
            }
        ]
    }
}  # fmt: skip


def write(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value, ensure_ascii=False), "utf-8")
    return path


def only(path: Path, form: str | None = None) -> Conversation:
    (talk,) = read_dataset(path, form)
    return talk


def evidence(talk: Conversation) -> dict[str, tuple[str, ...]]:
    return {question.text: question.evidence for question in talk.questions}


# ── LoCoMo ───────────────────────────────────────────────────────────────────────────────────────


def test_locomo_sessions_come_by_number_and_turns_a_second_apart(tmp_path: Path) -> None:
    talk = only(write(tmp_path / "locomo.json", LOCOMO))
    assert [unit.id for unit in talk.units] == ["D2:1", "D2:2", "D10:1"]
    assert talk.units[1].at == datetime(2023, 5, 8, 13, 56, 1, tzinfo=UTC)
    assert talk.units[2].at == datetime(2023, 6, 2, 9, 5, tzinfo=UTC)
    assert talk.units[1].who == "Mia"


def test_locomo_evidence_is_the_audited_one_and_parsed_tolerantly(tmp_path: Path) -> None:
    path = write(tmp_path / "locomo.json", LOCOMO)
    assert evidence(only(path)) == {
        "What did Mia buy?": ("D2:2", "D10:1"),
        "When did she move?": ("D10:1",),
        "Where is the cat?": (),
        "Lost evidence?": (),
    }
    assert evidence(only(path, "locomo-original"))["When did she move?"] == ("D2:1",)
    assert [question.category for question in only(path).scored] == ["multi", "temporal"]


# ── BEAM ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def beam(tmp_path: Path) -> Path:
    folder = tmp_path / "beam" / "1"
    folder.mkdir(parents=True)
    (folder / "chat.json.gz").write_bytes(gzip.compress(json.dumps(CHAT).encode()))
    write(folder / "probing_questions.json", PROBES)
    return folder.parent


def test_beam_takes_the_users_messages_without_the_generators_index(beam: Path) -> None:
    talk = only(beam)
    assert [unit.text for unit in talk.units] == [
        "I use Flask.",
        "The port is 80.",
        "The port is 81.",
    ]
    assert {unit.role for unit in talk.units} == {"user"}
    assert evidence(talk) == {
        "Why?": (),
        "Sum up.": ("0", "2"),
        "Which port?": ("3",),
        "Flask or not?": ("0", "3"),
    }


def test_beam_dates_never_go_back(beam: Path) -> None:
    moments = [unit.at for unit in only(beam, "beam-mixed").units]
    assert moments[0] == datetime(2024, 3, 15, tzinfo=UTC)
    assert all(earlier < later for earlier, later in pairwise(moments))


def test_beam_names_what_an_update_made_stale(beam: Path) -> None:
    update = next(q for q in only(beam).questions if q.category == "update")
    assert (update.evidence, update.stale) == (("3",), ("2",))
    assert not only(beam).labels  # unit 2 is evidence of another question


def test_beam_mixed_holds_both_roles(beam: Path) -> None:
    data = read_dataset(beam, "beam-mixed")
    assert Counter(unit.role for unit in data.conversations[0].units) == {"user": 3, "assistant": 1}
    assert data.track == "user and assistant"
    assert evidence(data.conversations[0])["Sum up."] == ("0", "1", "2")


# ── LongMemEval and MemDaily ─────────────────────────────────────────────────────────────────────


def test_longmemeval_sessions_are_put_in_order_of_time(tmp_path: Path) -> None:
    talk = only(write(tmp_path / "longmemeval.json", LONGMEMEVAL))
    assert [unit.text for unit in talk.units] == ["I own one kayak.", "Nice.", "Now I own two."]
    (question,) = talk.questions
    assert [unit.text for unit in talk.units if unit.id in question.evidence] == ["Now I own two."]
    assert (question.category, question.answer) == ("update", "2")
    assert question.at == datetime(2023, 6, 20, 10, tzinfo=UTC)


def test_memdaily_is_read_with_its_chinese_moments(tmp_path: Path) -> None:
    talk = only(write(tmp_path / "memdaily.json", MEMDAILY))
    assert talk.units[1].at == datetime(2024, 4, 2, 8, 4, tzinfo=UTC)
    assert (talk.language, talk.id, talk.questions[0].evidence) == ("zh", "simple-roles-0", ("0",))


# ── Our own format ───────────────────────────────────────────────────────────────────────────────


def test_our_own_format_comes_back_as_it_was_written(tmp_path: Path) -> None:
    one, two = conversation(30, "one"), conversation(12, "two")
    path = write_jsonl(tmp_path / "own.jsonl", one, two)
    found = read_dataset(path)
    assert [talk.id for talk in found] == ["one", "two"]
    assert [talk.units for talk in found] == [one.units, two.units]
    assert [talk.questions for talk in found] == [one.questions, two.questions]
    assert [talk.labels for talk in found] == [one.labels, two.labels]


def test_a_folder_is_read_file_by_file(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "b.jsonl", conversation(10, "b"))
    write_jsonl(tmp_path / "a.jsonl", conversation(10, "a"))
    assert [talk.id for talk in read_dataset(tmp_path)] == ["a", "b"]
    write_jsonl(tmp_path / "c.jsonl", conversation(10, "b"))
    with pytest.raises(InvalidInputError, match="there twice"):
        read_dataset(tmp_path)


HEAD = {"type": "conversation", "id": "c"}
UNIT = {
    "type": "unit",
    "id": "u1",
    "session": "s",
    "at": "2025-03-04T18:20:00Z",
    "who": "",
    "text": "Hi.",
}
ASKED = {"type": "question", "id": "q", "text": "What?", "category": "single", "evidence": ["u1"]}

BROKEN: dict[str, tuple[int, list[Any], str]] = {
    "not JSON": (2, [HEAD, "{"], "not readable as JSON"),
    "no object": (1, [[1]], "type: must be one of"),
    "unknown type": (1, [{"type": "turn"}], "type: must be one of"),
    "unknown field": (2, [HEAD, {**UNIT, "speaker": "Mia"}], "speaker: unknown field of a unit"),
    "missing field": (2, [HEAD, {**UNIT, "text": None}], "text: must be text"),
    "left out": (2, [HEAD, {k: v for k, v in UNIT.items() if k != "at"}], "at: missing from a unit"),
    "bad moment": (2, [HEAD, {**UNIT, "at": "yesterday"}], "at: "),
    "bad worth": (2, [HEAD, {**UNIT, "worth": 3}], "worth: must be 0, 1 or 2"),
    "bad noise": (2, [HEAD, {**UNIT, "noise": "loud"}], "noise: must be one of"),
    "bad turn": (2, [HEAD, {**UNIT, "turn": -1}], "turn: must be a whole number"),
    "no conversation": (1, [UNIT], "before the first conversation line"),
    "unit too late": (4, [HEAD, UNIT, ASKED, {**UNIT, "id": "u2"}], "a unit after a question"),
    "no evidence": (3, [HEAD, UNIT, {**ASKED, "evidence": []}], "evidence: must be there"),
    "evidence of nothing": (3, [HEAD, UNIT, {**ASKED, "category": "abstention"}], "evidence: "),
    "unknown category": (3, [HEAD, UNIT, {**ASKED, "category": "hard"}], "category: must be one of"),
    "no list": (3, [HEAD, UNIT, {**ASKED, "evidence": "u1"}], "evidence: must be a list"),
    "unknown unit": (1, [HEAD, UNIT, {**ASKED, "evidence": ["u9"]}], "unknown unit u9"),
    "back in time": (1, [HEAD, UNIT, {**UNIT, "id": "u2", "at": "2024-01-01T00:00:00Z"}], "before"),
    "same id": (1, [HEAD, UNIT, UNIT], "unit id twice"),
    "no unit": (1, [HEAD], "has no unit"),
    "successor": (1, [HEAD, {**UNIT, "superseded_by": "u9"}], "superseded_by names no unit"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_what_is_wrong_is_refused_with_its_line(case: str, tmp_path: Path) -> None:
    line, shapes, message = BROKEN[case]
    path = tmp_path / "own.jsonl"
    texts = [each if isinstance(each, str) else json.dumps(each) for each in shapes]
    path.write_text("\n".join(texts), "utf-8")
    with pytest.raises(InvalidInputError, match=message) as caught:
        read_dataset(path)
    assert f"own.jsonl:{line}: " in str(caught.value)


# ── Which form it is ─────────────────────────────────────────────────────────────────────────────


def test_the_form_is_told_from_the_files(tmp_path: Path, beam: Path) -> None:
    assert detect(beam) == "beam"
    assert detect(write(tmp_path / "a.json", LOCOMO)) == "locomo"
    assert detect(write(tmp_path / "b.json", LONGMEMEVAL)) == "longmemeval"
    assert detect(write(tmp_path / "c.json", MEMDAILY)) == "memdaily"
    assert detect(write_jsonl(tmp_path / "d.jsonl", conversation(5))) == "jsonl"


@pytest.mark.parametrize("value", [[], [1], "text", 3, [{"x": 1}]])
def test_an_unknown_form_is_refused_with_the_forms_there_are(value: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"in no known form.*longmemeval"):
        read_dataset(write(tmp_path / "x.json", value))


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="there is no such file"):
        read_dataset(tmp_path / "nowhere")
    with pytest.raises(InvalidInputError, match="'csv' is unknown"):
        read_dataset(tmp_path, "csv")
    (tmp_path / "x.json").write_text("{", "utf-8")
    with pytest.raises(InvalidInputError, match="not readable as JSON"):
        read_dataset(tmp_path / "x.json")


@pytest.mark.parametrize("form", [name for name in READERS if name not in {"beam", "beam-mixed"}])
def test_a_file_of_another_form_is_refused_by_name(form: str, tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", [{"sample_id": 1}] if form != "memdaily" else {"a": [1]})
    with pytest.raises(InvalidInputError, match=r"x\.json"):
        read_dataset(path, form)


def test_a_broken_gzip_is_refused(beam: Path) -> None:
    (beam / "1" / "chat.json.gz").write_bytes(b"\x1f\x8b broken")
    with pytest.raises(InvalidInputError, match="cannot be read"):
        read_dataset(beam)


# ── Values ───────────────────────────────────────────────────────────────────────────────────────


def test_shuffled_labels_name_other_units_and_change_nothing_else() -> None:
    talk = conversation()
    dealt = shuffled(talk, 1)
    assert dealt.units == talk.units
    assert dealt == shuffled(talk, 1) != shuffled(talk, 2)
    sizes = [len(question.evidence) for question in talk.questions]
    assert [len(question.evidence) for question in dealt.questions] == sizes
    moved = [a.evidence != b.evidence for a, b in zip(talk.scored, dealt.scored, strict=True)]
    assert sum(moved) > len(moved) // 2


def test_a_unit_carries_no_label() -> None:
    """What a memory is given must not tell what it is worth."""
    assert set(Unit.__dataclass_fields__) == {"id", "session", "turn", "at", "who", "role", "text"}


# ── The real ones ────────────────────────────────────────────────────────────────────────────────


def test_locomo_has_the_size_that_is_published() -> None:
    data = read_dataset(dataset("locomo") / "locomo-dev.json")
    assert [len(talk.units) for talk in data] == [419, 369, 663, 629, 680]
    assert sum(len(talk.scored) for talk in data) == 760


def test_beam_has_the_size_that_is_published() -> None:
    data = read_dataset(dataset("beam-100k"))
    assert len(data.conversations) == 10
    assert sum(len(talk.scored) for talk in data) == 170
    assert sum(bool(question.stale) for talk in data for question in talk.scored) > 15
    assert not any("->->" in unit.text for talk in data for unit in talk.units)
