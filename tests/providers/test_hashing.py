from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfams.errors import InvalidInputError
from sfams.providers.hashing import HashingEmbedder

RELEASE = "The release of Stellar moves to Friday."
TEXTS = [RELEASE, "发布推迟到周五。", "Grandma's tomatoes won a prize.", "她对花生过敏。"]


def test_rows_are_unit_vectors_in_order() -> None:
    embedder = HashingEmbedder()
    rows = embedder.embed_passages(TEXTS)
    assert rows.dtype == np.float32
    assert rows.shape == (4, embedder.dimension) == (4, 256)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)
    for row, text in zip(rows, TEXTS, strict=True):
        query = embedder.embed_query(text)
        assert query.dtype == np.float32
        assert np.array_equal(query, row)
    assert embedder.embed_passages([]).shape == (0, 256)


@pytest.mark.parametrize("text", ["", "  \n", "...", "?!，。"])
def test_text_without_a_word_has_the_zero_vector(text: str) -> None:
    embedder = HashingEmbedder()
    assert not embedder.embed_query(text).any()
    assert not embedder.embed_passages([text]).any()


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=200))
def test_every_text_has_a_finite_vector_of_length_one_or_zero(text: str) -> None:
    length = np.linalg.norm(HashingEmbedder(dimension=32).embed_query(text))
    assert length == pytest.approx(1.0, abs=1e-6) or length == 0.0


def test_another_process_gives_the_same_vector() -> None:
    program = (
        "import sys; from sfams.providers.hashing import HashingEmbedder;"
        "sys.stdout.buffer.write(HashingEmbedder(64, 7).embed_query(sys.argv[1]).tobytes())"
    )
    said = subprocess.run(
        [sys.executable, "-c", program, RELEASE], capture_output=True, check=True
    ).stdout
    assert said == HashingEmbedder(64, 7).embed_query(RELEASE).tobytes()


def test_vectors_of_this_version_do_not_change() -> None:
    # If this fails, stored vectors no longer fit: raise the version in model_id.
    row = HashingEmbedder(dimension=8).embed_query("Stellar 发布")
    golden = [0.701716, 0.0, -0.137618, 0.0, 0.275236, 0.275236, -0.137618, 0.564099]
    np.testing.assert_allclose(row, golden, atol=1e-6)


@pytest.mark.parametrize(
    ("question", "related", "unrelated"),
    [
        ("When is the Stellar release?", TEXTS[0], TEXTS[2]),
        ("哪天发布？", TEXTS[1], TEXTS[3]),
        ("the releases", "we released it", "we deleted it"),
        ("kitchenware", "a kitchen", "a garden"),
    ],
)
def test_shared_words_and_pieces_bring_texts_together(
    question: str, related: str, unrelated: str
) -> None:
    embedder = HashingEmbedder()
    near, far = embedder.embed_passages([related, unrelated]) @ embedder.embed_query(question)
    assert near > far


def test_case_and_form_do_not_matter() -> None:
    embedder = HashingEmbedder()
    assert np.array_equal(embedder.embed_query("STELLAR"), embedder.embed_query("ｓｔｅｌｌａｒ"))


def test_dimension_and_seed_change_vector_and_name() -> None:
    assert HashingEmbedder().model_id == "hashing-256-s0/1"
    assert HashingEmbedder(dimension=64, seed=3).model_id == "hashing-64-s3/1"
    first, second = (HashingEmbedder(seed=seed).embed_query(RELEASE) for seed in (0, 1))
    assert abs(float(first @ second)) < 0.5


@pytest.mark.parametrize(("dimension", "seed"), [(0, 0), (7, 0), (256, -1), (256, 2**64)])
def test_impossible_settings_are_refused(dimension: int, seed: int) -> None:
    with pytest.raises(InvalidInputError):
        HashingEmbedder(dimension, seed)


def test_it_is_fast() -> None:
    embedder = HashingEmbedder()
    texts = [f"User {n} said that the vendor is late, so Friday it is." for n in range(2_000)]
    embedder.embed_passages(texts[:10])
    start = time.process_time()
    embedder.embed_passages(texts)
    assert len(texts) / (time.process_time() - start) > 2_000  # 16,000 on a quiet machine
    embedder.close()
