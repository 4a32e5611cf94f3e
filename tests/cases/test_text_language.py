"""Cases C091 to C101: text in any language, searched and shown without loss."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sfams.core.text import clip
from sfams.errors import InvalidInputError
from sfams.providers.bundled import bundled_embedder
from sfams.service.memory import Memory
from sfams.testing.embedders import ScriptedEmbedder

C091_TEXTS = {
    "zh": "妈妈的生日是十月二日，她喜欢桂花糕。",
    "ja": "来週の金曜日に歯医者の予約がある。",
    "ko": "우리 집 고양이 이름은 보리입니다.",
    "mixed": "用Docker部署报表服务失败，原因是端口8443被占用。",
    "en": "The cat sleeps on the router.",
}
C091_QUERIES = {
    "桂花糕": "zh",
    "歯医者": "ja",
    "고양이": "ko",
    "报表服务": "mixed",
    "8443": "mixed",
    "docker": "mixed",
    "生日 十月": "zh",
}
C092_TEXTS = {
    "ru": "Бабушка живёт в Казани.",
    "el": "Η πτήση φεύγει στις οκτώ.",
    "th": "ร้านกาแฟปิดวันจันทร์",
    "hi": "दादी का जन्मदिन पाँच मार्च को है।",
    "he": "הפגישה עם רותם נדחתה ליום חמישי.",
    "ar": "موعد الطبيب يوم الأحد.",
    "tr": "İzmir'de hava güzeldi.",
    "de": "Die Straße zum Gasthof ist gesperrt.",
}
C092_QUERIES = {
    "Казани": "ru",
    "πτήση": "el",
    "กาแฟ": "th",
    "जन्मदिन": "hi",
    "רותם": "he",
    "الطبيب": "ar",
    "izmir": "tr",
    "straße": "de",
}


def fill(memory: Memory, texts: dict[str, str]) -> dict[str, str]:
    """Store each text; returns name by id."""
    return {memory.remember(text).id: name for name, text in texts.items()}


@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
@pytest.mark.parametrize(("query", "wanted"), C091_QUERIES.items())
def test_C091_words_inside_cjk_sentences(
    memory: Memory, mode: str, query: str, wanted: str
) -> None:
    names = fill(memory, C091_TEXTS)
    found = [names[hit.record.id] for hit in memory.recall(query, mode=mode, k=3)]
    assert found[0] == wanted
    if mode == "keyword":
        assert found == [wanted]


@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
@pytest.mark.parametrize(("query", "wanted"), C092_QUERIES.items())
def test_C092_words_in_other_scripts(memory: Memory, mode: str, query: str, wanted: str) -> None:
    names = fill(memory, C092_TEXTS)
    found = [names[hit.record.id] for hit in memory.recall(query, mode=mode, k=3)]
    assert found[0] == wanted


@pytest.mark.parametrize("texts", [C091_TEXTS, C092_TEXTS], ids=["C091", "C092"])
def test_C091_C092_with_the_bundled_model(tmp_path: Path, texts: dict[str, str]) -> None:
    import sfams

    queries = C091_QUERIES if texts is C091_TEXTS else C092_QUERIES
    with sfams.open(tmp_path / "m.db", scope="lang", embedder=bundled_embedder()) as memory:
        names = fill(memory, texts)
        for query, wanted in queries.items():
            best = memory.recall(query, k=3)[0]
            assert names[best.record.id] == wanted, query


def test_C094_composed_and_decomposed_accents_are_the_same(memory: Memory) -> None:
    composed = "Cr\u00eaperie No\u00ebl closes at 18:00."
    decomposed = "Cre\u0302perie Noe\u0308l closes at 18:00."
    first = memory.remember(composed, entities=["Cr\u00eaperie No\u00ebl"])
    second = memory.remember(decomposed, entities=["Cre\u0302perie Noe\u0308l"])
    assert (second.outcome, second.id) == ("duplicate", first.id)
    assert len(memory.list()) == 1
    assert [entity.records for entity in memory.entities()] == [1]
    for query in ("Cr\u00eaperie", "Cre\u0302perie", "no\u00ebl", "\uff2e\uff4f\u00eb\uff4c"):
        assert [hit.record.id for hit in memory.recall(query, mode="keyword")] == [first.id], query
    assert memory.get(first.id).content == composed


FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"


@pytest.mark.parametrize(
    ("text", "cluster"),
    [
        ("x" * 119 + FAMILY + " park day", FAMILY),
        ("x" * 199 + "\U0001f1f5\U0001f1f9 trip", "\U0001f1f5\U0001f1f9"),
        ("x" * 79 + "e\u0301a", "e\u0301"),
    ],
)
def test_C095_shortened_views_keep_characters_whole(
    memory: Memory, text: str, cluster: str
) -> None:
    stored = memory.remember(text)
    assert memory.get(stored.id).content == text
    for limit in range(1, len(text) + 1):
        view = clip(text, limit)
        json.loads(json.dumps(view.encode("utf-8").decode("utf-8"), ensure_ascii=False))
        assert "\ufffd" not in view
        assert view == text or view.endswith("…")
        kept = view.removesuffix("…") if view != text else view
        rest = text.removeprefix(kept)
        assert text.startswith(kept)
        assert not (set(cluster) & set(kept)) or cluster in kept, (limit, rest)


def test_C095_a_lone_surrogate_is_refused_and_nothing_stored(memory: Memory) -> None:
    with pytest.raises(InvalidInputError, match=r"surrogate|half"):
        memory.remember("pin \ud83e")
    assert len(memory.list()) == 0


C096_TEXTS = [
    "The multi-tenant gateway can't handle 40 m3/h yet (see TN-88).",
    "Install C++ tools and tool-kit.js 11.02 near the printer.",
    "AND gates are in box 3.",
]
C096_FIRST = {
    "can't": 0,
    "multi-tenant": 0,
    "m3/h": 0,
    "TN-88": 0,
    "C++": 1,
    "tool-kit.js": 1,
    "11.02": 1,
    "AND gates": 2,
}
C096_OTHERS = [
    "AND", "NEAR(", "gateway:handle", '"', "'", '"unclosed', "(see", "40*", "^the",
    "gateway NOT yet", "a AND", "OR", "-yet", "*", "rowid:1", "; DROP TABLE x; --", "\\", "%", "{}[]",
]  # fmt: skip


@pytest.mark.parametrize("mode", ["keyword", "vector", "hybrid"])
def test_C096_any_text_is_a_valid_search(memory: Memory, mode: str) -> None:
    ids = [memory.remember(text).id for text in C096_TEXTS]
    for query in [*C096_FIRST, *C096_OTHERS]:
        hits = memory.recall(query, mode=mode)
        if mode != "vector" and query in C096_FIRST:
            assert hits[0].record.id == ids[C096_FIRST[query]], query
    assert len(memory.list()) == len(C096_TEXTS)
    assert memory.doctor().healthy


def test_C096_not_and_minus_are_words(memory: Memory) -> None:
    ids = [memory.remember(text).id for text in C096_TEXTS]
    for query in ("gateway NOT yet", "-yet"):
        assert memory.recall(query, mode="keyword")[0].record.id == ids[0]


@pytest.mark.parametrize("length", [199, 200, 201, 1999, 2000, 2001, 10_000, 1_000_000])
def test_C098_long_text_is_kept_whole(memory: Memory, length: int) -> None:
    text = lettered(length)
    stored = memory.remember(text)
    edited = memory.remember(f"short {length}")
    assert memory.get(stored.id).content == text
    assert memory.list()[1].content == text or memory.list()[0].content == text
    assert any(json.loads(line)["content"] == text for line in memory.export())
    memory.delete(stored.id)
    memory.update(edited.id, content=text)
    assert memory.get(edited.id).content == text


def test_C098_beyond_the_limit_the_call_names_limit_and_length(memory: Memory) -> None:
    with pytest.raises(InvalidInputError, match=r"1000001.*1000000|1,000,001.*1,000,000"):
        memory.remember(lettered(1_000_001))
    assert len(memory.list()) == 0


def lettered(length: int) -> str:
    tail = f" {length}"
    letters = "abcdefghijklmnopqrstuvwxyz" * (length // 26 + 1)
    return letters[: length - len(tail)] + tail


BLANK = ["", "   ", "\n\t", "\u00a0", "\u200b", "\u3000"]
WORDLESS = ["...", "!?", "🙂"]


@pytest.mark.parametrize("mode", ["keyword", "vector", "hybrid"])
def test_C099_a_blank_query_returns_nothing_and_is_not_embedded(
    open_memory: type[Memory], mode: str
) -> None:
    embedder = ScriptedEmbedder()
    memory = open_memory("pat", embedder)  # type: ignore[arg-type]  # a fixture's factory
    for n in range(12):
        memory.remember(f"Pat's note number {n} about shelf {n}.")
    before = embedder.calls
    for query in BLANK:
        result = memory.recall(query, mode=mode)
        assert len(result) == 0
        assert "blank" in result.warnings[0]
    assert embedder.calls == before
    for query in WORDLESS:
        hits = memory.recall(query, mode=mode)
        assert len(hits) < 12
        assert all(0.0 <= hit.score <= 1.0 for hit in hits)


def test_C101_a_memory_stays_in_its_language(memory: Memory) -> None:
    french = "Ma sœur Élodie est allergique aux noix."
    german = "Mein Fahrrad steht im Keller, der Schlüssel hängt neben der Tür."
    first = memory.remember(french)
    second = memory.remember(german, who="user", kind="dialogue")
    assert memory.get(first.id).content == french
    assert memory.recall("allergique aux noix", mode="keyword")[0].record.id == first.id
    assert memory.recall("Schlüssel", mode="keyword")[0].record.id == second.id
