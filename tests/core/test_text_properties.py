"""What holds for every text, broken halves and invented clusters included."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

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

WILD = st.text(st.characters())  # surrogates, controls and unassigned characters too
AWKWARD = st.text(
    st.sampled_from(
        "aZ1 .,'’-+#/_!?\n退はカ가ักกิक्ñéß👍🏽🇵"
        "\u0301\u0308\u0345\u094d\u1100\u1161\u200b\u200d\ufe0f\ud83e"
    )
)
ANY = WILD | AWKWARD
CLUSTER = st.sampled_from(
    [
        "x",
        "é",
        "e\u0301",
        "👨‍👩‍👧‍👦",
        "🇵🇹",
        "👍🏽",
        "❤\ufe0f",
        "각",
        "\u1100\u1161\u11a8",
        "क्षि",
        "กำ",
        "\r\n",
        "退",
    ]
)


@given(ANY)
def test_nothing_raises_and_the_same_text_gives_the_same_terms(text: str) -> None:
    language_of(text)
    assert tokenise(text) == tokenise(text)
    assert (
        find_surrogate(text) is None
        or unicodedata.category(text[find_surrogate(text) or 0]) == "Cs"
    )


@given(ANY)
def test_terms_are_short_visible_words_that_a_store_can_write(text: str) -> None:
    for term in tokenise(text):
        assert 0 < len(term) <= 64
        assert not is_blank(term)
        assert term.encode("utf-8")


@given(ANY)
def test_a_text_is_found_by_itself(text: str) -> None:
    assert set(query_terms(text)) <= set(tokenise(text))
    assert bool(query_terms(text)) == bool(tokenise(text))


@given(ANY)
def test_typing_it_otherwise_gives_the_same_terms(text: str) -> None:
    assert tokenise(unicodedata.normalize("NFD", text)) == tokenise(
        unicodedata.normalize("NFC", text)
    )


@given(ANY)
def test_forms_are_idempotent(text: str) -> None:
    for form in (normalise, fold, signature):
        assert form(form(text)) == form(text)


@given(ANY, ANY)
def test_more_text_never_costs_fewer_tokens(head: str, tail: str) -> None:
    whole = count_tokens(head + tail)

    assert max(count_tokens(head), count_tokens(tail)) <= whole
    assert whole <= count_tokens(head) + count_tokens(tail)


@given(ANY)
def test_what_can_be_read_costs_a_token(text: str) -> None:
    assert is_blank(text) or count_tokens(text) >= 1


@given(st.lists(CLUSTER, max_size=20), st.integers(0, 40))
def test_clip_keeps_clusters_whole(clusters: list[str], limit: int) -> None:
    text = "".join(clusters)
    whole = {"".join(clusters[:n]).rstrip() for n in range(len(clusters) + 1)}

    view = clip(text, limit)

    assert len(view) <= max(limit, 0)
    assert view == text if len(text) <= limit else view == "" or view.removesuffix("…") in whole


@given(ANY, st.integers(-2, 30), st.sampled_from(["…", "...", "", " [cut]"]))
def test_a_view_fits_and_is_valid_utf8(text: str, limit: int, mark: str) -> None:
    view = clip(text, limit, mark)

    assert len(view) <= max(limit, 0)
    assert view.encode("utf-8").decode("utf-8") == view
