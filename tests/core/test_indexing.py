"""What of a record is embedded, and under which words it is found."""

from __future__ import annotations

import numpy as np

from sfams.core.indexing import index_text, passage_of, terms_of
from sfams.core.keywords import question_terms
from sfams.core.record import Claim, Entity, Source
from sfams.testing import make_record


def test_the_speaker_belongs_to_what_was_said() -> None:
    assert index_text("Mila", "I moved to Kranj.") == "Mila: I moved to Kranj."
    assert index_text("", "I moved to Kranj.") == "I moved to Kranj."
    record = make_record(content="I moved.", source=Source(who="Mila"))
    assert passage_of(record) == "Mila: I moved."


def test_labels_add_words_and_repeat_none() -> None:
    plain = make_record(content="网关端口改成9326。")
    filed = make_record(
        content="网关端口改成9326。",
        claim=Claim("staging ingest gateway", "port", "9326"),
        entities=(Entity("Staging", "env"),),
        tags=("ops",),
    )
    before, after = terms_of(plain), terms_of(filed)
    assert set(before.ids.tolist()) < set(after.ids.tolist())
    assert len(set(after.ids.tolist())) == len(after.ids)
    for words in ("staging gateway", "port", "ops"):
        assert question_terms(words).keys() <= set(after.ids.tolist())
        assert not question_terms(words).keys() & set(before.ids.tolist())
    assert after.length == before.length + len(after.ids) - len(before.ids)
    number = next(iter(question_terms("9326")))
    assert after.counts[np.flatnonzero(after.ids == np.uint64(number))[0]] == 1
