"""For tests of programs that use SF-AMS, and for authors of stores (extra `testing`).

A store is right when it keeps every promise of `StoreConformance`. This is the whole test of one:

    import pytest
    from sfams.testing import StoreConformance

    class TestMyStore(StoreConformance):
        @pytest.fixture
        def store(self, tmp_path):
            store = MyStore(tmp_path / "memory.db")
            yield store
            store.close()

        def reopen(self, store):                     # only if records outlive the store object
            store.close()
            return MyStore(store.location)

`sfams.testing.machine.store_machine` adds a Hypothesis state machine that drives the store and the
dict store side by side. `FakeClock`, `counting_ids`, `make_record` and `make_entry` build what
tests need.
"""

import pytest

pytest.register_assert_rewrite("sfams.testing.conformance")

from sfams.testing.builders import (  # noqa: E402  (asserts are rewritten on import, so register first)
    counting_ids,
    entry_of,
    make_entry,
    make_record,
    make_vector,
    numbered_id,
)
from sfams.testing.clock import FakeClock  # noqa: E402  (as above)
from sfams.testing.conformance import StoreConformance  # noqa: E402  (as above)

__all__ = [
    "FakeClock",
    "StoreConformance",
    "counting_ids",
    "entry_of",
    "make_entry",
    "make_record",
    "make_vector",
    "numbered_id",
]
