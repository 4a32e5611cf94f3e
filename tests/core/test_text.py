"""Forms, terms, costs and shortened views of a text, in every script people write to an agent."""

import json
from collections.abc import Mapping

import pytest

from sfams.core.text import (
    clip,
    count_tokens,
    find_surrogate,
    fold,
    is_blank,
    language_of,
    normalise,
    query_terms,
    signature,
    tokenise,
)

NO_BLANKS = {
    "zh": "妈妈的生日是十月二日，她喜欢桂花糕。",
    "ja": "来週の金曜日に歯医者の予約がある。",
    "ko": "우리 집 고양이 이름은 보리입니다.",
    "mixed": "用Docker部署报表服务失败，原因是端口8443被占用。",
    "en": "The cat sleeps on the router.",
}
SCRIPTS = {
    "ru": "Бабушка живёт в Казани.",
    "el": "Η πτήση φεύγει στις οκτώ.",
    "th": "ร้านกาแฟปิดวันจันทร์",
    "hi": "दादी का जन्मदिन पाँच मार्च को है।",
    "he": "הפגישה עם רותם נדחתה ליום חמישי.",
    "ar": "موعد الطبيب يوم الأحد.",
    "tr": "İzmir'de hava güzeldi.",
    "de": "Die Straße zum Gasthof ist gesperrt.",
}
TECHNICAL = {
    "gateway": "The multi-tenant gateway can't handle 40 m3/h yet (see TN-88).",
    "tools": "Install C++ tools and tool-kit.js 11.02 near the printer.",
    "gates": "AND gates are in box 3.",
}
FAMILY = "👨‍👩‍👧‍👦"
PORTUGAL = "🇵🇹"


def shared(query: str, texts: Mapping[str, str]) -> dict[str, int]:
    """Count the query's distinct terms that each text contains."""
    wanted = set(query_terms(query))
    return {name: len(wanted & set(tokenise(text))) for name, text in texts.items()}


class TestFindingAWord:
    @pytest.mark.parametrize(
        ("query", "name"),
        [
            ("桂花糕", "zh"),
            ("歯医者", "ja"),
            ("고양이", "ko"),
            ("报表服务", "mixed"),
            ("8443", "mixed"),
            ("docker", "mixed"),
            ("生日 十月", "zh"),
        ],
    )
    def test_inside_a_sentence_without_blanks(self, query: str, name: str) -> None:
        found = shared(query, NO_BLANKS)

        assert found.pop(name) == len(set(query_terms(query)))
        assert not any(found.values())

    @pytest.mark.parametrize(
        ("query", "name"),
        [
            ("Казани", "ru"),
            ("πτήση", "el"),
            ("กาแฟ", "th"),
            ("जन्मदिन", "hi"),
            ("רותם", "he"),
            ("الطبيب", "ar"),
            ("izmir", "tr"),
            ("straße", "de"),
        ],
    )
    def test_in_every_script(self, query: str, name: str) -> None:
        found = shared(query, SCRIPTS)

        assert found.pop(name) == len(set(query_terms(query)))
        assert not any(found.values())

    @pytest.mark.parametrize(
        ("query", "name"),
        [
            ("can't", "gateway"),
            ("multi-tenant", "gateway"),
            ("m3/h", "gateway"),
            ("TN-88", "gateway"),
            ("(see", "gateway"),
            ("40*", "gateway"),
            ("-yet", "gateway"),
            ("gateway:handle", "gateway"),
            ("gateway NOT yet", "gateway"),
            ("C++", "tools"),
            ("tool-kit.js", "tools"),
            ("11.02", "tools"),
            ("AND gates", "gates"),
        ],
    )
    def test_whatever_signs_it_carries(self, query: str, name: str) -> None:
        found = shared(query, TECHNICAL)
        best = found.pop(name)

        assert best > max(found.values())

    @pytest.mark.parametrize("query", ['"', "'", "*", "\\", "%", "{}[]", "...", "!?", "\u200b", ""])
    def test_punctuation_alone_looks_for_nothing(self, query: str) -> None:
        assert query_terms(query) == tokenise(query) == []

    @pytest.mark.parametrize(
        "query",
        ["NEAR(", '"unclosed', "^the", "a AND", "OR", "AND", "rowid:1", "; DROP TABLE x; --", "🙂"],
    )
    def test_operators_are_words(self, query: str) -> None:
        assert query_terms(query)

    @pytest.mark.parametrize(
        "spelling", ["Crêperie Noël", "Cre\u0302perie Noe\u0308l", "Ｃrêperie Ｎｏëｌ"]
    )
    def test_however_its_accents_were_typed(self, spelling: str) -> None:
        assert query_terms(spelling) == query_terms("creperie noel")

    @pytest.mark.parametrize(
        ("exact", "near"),
        [
            ("C++", "C"),
            ("C++", "C#"),
            ("TN-88", "TN-89"),
            ("billing-api", "billing-app"),
            ("v1.2.3", "v1.2.4"),
            ("4,250", "4 apples, 250 pears"),
            ("e-mail", "mail"),
        ],
    )
    def test_the_exact_compound_before_a_near_one(self, exact: str, near: str) -> None:
        found = shared(exact, {"exact": f"about {exact} today", "near": f"about {near} today"})

        assert found["exact"] > found["near"]


class TestTerms:
    @pytest.mark.parametrize(
        ("text", "terms"),
        [
            ("退款流程", ["退款", "款流", "流程", "=退", "=款", "=流", "=程"]),
            ("退", ["=退"]),
            ("データ", ["デー", "ータ", "=デ", "=ー", "=タ"]),
            ("ﾃﾞｰﾀ", ["デー", "ータ", "=デ", "=ー", "=タ"]),
            ("ภาษา", ["ภา", "าษ", "ษา"]),
            ("multi-tenant", ["multi-tenant", "multi", "tenant"]),
            ("m3/h", ["m3/h", "m3", "h"]),
            ("tool-kit.js", ["tool-kit.js", "tool", "kit", "js"]),
            ("can't", ["can't", "can"]),
            ("can’t", ["can't", "can"]),
            ("C++ C# C++17", ["c++", "c", "c#", "c", "c++", "c", "17"]),
            ("4,250", ["4,250", "4250", "4", "250"]),
            ("1, 2,a", ["1", "2", "a"]),
            ("src/billing-api/x.py", ["src/billing-api/x.py", "src", "billing-api", "x.py"]),
            ("preferred preferences", ["prefer", "prefer"]),
            ("кошки", ["кошк"]),
            ("जन्मदिन", ["जन्मदिन"]),
            ("IŞIK ışık", ["isik", "isik"]),
            ("__init__", ["init"]),
            (f"{FAMILY}{PORTUGAL}👍🏽", ["👨", "👩", "👧", "👦", "🇵🇹", "👍"]),
            ("a\ud83eb", ["a", "b"]),
        ],
    )
    def test_of_a_text(self, text: str, terms: list[str]) -> None:
        assert tokenise(text)[: len(terms)] == terms

    def test_one_character_is_found_only_when_asked_for_alone(self) -> None:
        assert query_terms("退") == ["=退"]
        assert query_terms("退款") == ["退款"]
        assert "=退" in tokenise("我要退款")

    def test_a_word_beyond_all_bounds_is_cut_alike_in_text_and_query(self) -> None:
        assert tokenise("x" * 5000) == query_terms("x" * 5000) == ["x" * 64]

    @pytest.mark.parametrize(
        "unit", ["a-", "+", "a+", "1,", "🇵", "e\u0301", "कि", "'", "中a", "._"]
    )
    def test_hostile_repetition_takes_linear_time(self, unit: str) -> None:
        # Quadratic work on 20,000 units would take minutes, not the milliseconds it should.
        tokenise(unit * 20_000)
        signature(unit * 20_000)


class TestForms:
    def test_normalise_composes_and_collapses_but_keeps_case_and_width(self) -> None:
        assert normalise("  Cre\u0302perie\u3000\n Ｎoël ") == "Crêperie Ｎoël"

    @pytest.mark.parametrize(
        ("text", "folded"),
        [
            ("Ｎｏëｌ", "noël"),
            ("İZMİR", "izmir"),
            ("ΠΤΉΣΗ", "πτηση"),
            ("Straße", "STRASSE"),
            ("Łódź", "lodz"),
            ("живёт", "живет"),
            ("soft\u00adhyphen zero\u200bwidth", "softhyphen zerowidth"),
        ],
    )
    def test_fold_makes_equal_what_people_type_as_the_same(self, text: str, folded: str) -> None:
        assert fold(text) == fold(folded)

    @pytest.mark.parametrize(
        ("one", "other"),
        [("कि", "क"), ("ที่", "ท"), ("שָׁלוֹם", "שלום"), ("كَتَبَ", "كتب"), ("й", "и"), ("が", "か")],
    )
    def test_fold_keeps_marks_that_are_letters(self, one: str, other: str) -> None:
        assert fold(one) != fold(other)

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("The cat sleeps.", "the  cat sleeps"),
            ("Call Anna!", "Call Anna..."),
            ("She said “go”.", "she said 'go'"),
            ("She said “go.”", "she said “go”."),
            ("can’t stop", "can't stop!"),
            ("他喜欢「茶」。", "他喜欢“茶”！"),
            ("用 Docker 部署", "用Docker部署"),
            ("端口８４４３", "端口8443"),
            ("zero\u200bwidth", "zerowidth"),
        ],
    )
    def test_signature_ignores_how_it_was_typed(self, one: str, other: str) -> None:
        assert signature(one) == signature(other)

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("The cat sleeps.", "The cat sleeps?"),
            ("C++", "C"),
            ("-5 degrees", "5 degrees"),
            ("version 1.5", "version 15"),
            ("1 5", "15"),
            ("m²", "m2"),
            ("a 6' board", 'a 6" board'),
            ("résumé", "resume"),
            ("!", "?"),
            ("!!!", ""),
        ],
    )
    def test_signature_keeps_what_is_said(self, one: str, other: str) -> None:
        assert signature(one) != signature(other)

    @pytest.mark.parametrize(
        "text", ["", "   ", "\n\t", "\xa0", "\u200b", "\u3000", "\x00\u2060\ufeff"]
    )
    def test_blank(self, text: str) -> None:
        assert is_blank(text)

    @pytest.mark.parametrize("text", ["...", "!?", "🙂", "\u200ba", "退", "\ud83e"])
    def test_not_blank(self, text: str) -> None:
        assert not is_blank(text)

    def test_find_surrogate(self) -> None:
        assert find_surrogate("pin \ud83e") == 4
        assert find_surrogate(f"pin 🤞 {FAMILY}") is None


class TestCountTokens:
    @pytest.mark.parametrize(
        ("text", "o200k", "cl100k"),  # counted once with bpe-openai 0.1.4
        [
            ("The cat sleeps on the router.", 7, 7),
            ("We decided on Friday that the billing service moves to Lisbon.", 12, 12),
            ("妈妈的生日是十月二日，她喜欢桂花糕。", 14, 29),
            ("来週の金曜日に歯医者の予約がある。", 15, 23),
            ("우리 집 고양이 이름은 보리입니다.", 11, 15),
            ("Бабушка живёт в Казани.", 9, 14),
            ("def add(a: int, b: int) -> int:\n    return a + b\n", 19, 19),
            ("192.168.0.1", 7, 7),
            ("🙂", 1, 2),
            ("a", 1, 1),
            (".", 1, 1),
        ],
    )
    def test_the_estimate_stays_near_two_real_vocabularies(
        self, text: str, o200k: int, cl100k: int
    ) -> None:
        assert 0.6 * o200k <= count_tokens(text) <= 1.15 * cl100k

    def test_nothing_costs_nothing(self) -> None:
        assert count_tokens("") == count_tokens("   ") == 0


class TestClip:
    def test_a_text_that_fits_is_returned_as_it_is(self) -> None:
        assert clip(f"{FAMILY} park", 12) == f"{FAMILY} park"

    @pytest.mark.parametrize(
        ("text", "limit", "view"),
        [
            ("x" * 119 + FAMILY + " park day", 125, "x" * 119 + "…"),
            ("x" * 199 + PORTUGAL + " trip", 201, "x" * 199 + "…"),
            ("x" * 79 + "e\u0301a", 81, "x" * 79 + "…"),
            (PORTUGAL * 3, 4, PORTUGAL + "…"),
            ("ok 👍🏽👍🏽", 5, "ok…"),
            ("I ❤\ufe0f you", 4, "I…"),
            ("각\u1100\u1161\u11a8", 3, "각…"),
            ("कक्षा में", 4, "क…"),
            ("a\r\nb", 3, "a…"),
            ("one two three", 9, "one two…"),
            (FAMILY, 3, "…"),
            ("abc", 0, ""),
            ("abc", -1, ""),
        ],
    )
    def test_cuts_between_what_a_reader_sees_as_characters(
        self, text: str, limit: int, view: str
    ) -> None:
        assert clip(text, limit) == view

    def test_the_mark_counts_and_can_be_chosen(self) -> None:
        assert clip("abcdefgh", 6, "...") == "abc..."
        assert clip("abcdefgh", 2, "...") == ".."

    def test_a_lone_surrogate_does_not_reach_the_reader(self) -> None:
        assert json.loads(json.dumps(clip("pin \ud83e", 40)).encode()) == "pin \ufffd"


class TestLanguageOf:
    @pytest.mark.parametrize(
        ("text", "language"),
        [
            *((NO_BLANKS[code], code) for code in ("zh", "ja", "ko", "en")),
            *((SCRIPTS[code], code) for code in ("ru", "el", "th", "hi", "he", "ar")),
            (NO_BLANKS["mixed"], "zh"),
            ("在Kubernetes上部署SpringBoot", "zh"),
            ("楽しかったです", "ja"),
            ("The dog barks at 三", "en"),
            (SCRIPTS["de"], "und"),
            ("Ma sœur est allergique aux noix.", "und"),
            ("Моя бабуся живе в Києві", "und"),
            ("خانهٔ پدری گرم است", "und"),
            ("8443", "und"),
            ("", "und"),
        ],
    )
    def test_script_and_function_words_tell(self, text: str, language: str) -> None:
        assert language_of(text) == language
