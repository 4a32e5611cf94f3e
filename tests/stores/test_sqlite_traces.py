"""Traces in files that an earlier release has written, which kept none."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import apsw

from sfams.core.columns import Need, columns_of
from sfams.core.record import Usage
from sfams.ports import UsageDelta
from sfams.stores.sqlite import SqliteStore
from sfams.stores.sqlite.schema import migrations
from sfams.testing import make_entry, make_record
from sfams.testing.builders import HOME
from sfams.testing.clock import START
from sfams.testing.snapshot import plain_traces

NEEDS = frozenset(Need)
DAY = timedelta(days=1)


def alter(path: Path, *statements: str) -> None:
    """Change a file behind the store's back, once it is closed."""
    file = apsw.Connection(str(path))
    for statement in statements:
        file.execute(statement)
    file.close()


def test_counters_stand_for_a_trace_that_was_never_kept(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    record = make_record(1, usage=Usage(7, START + 3 * DAY, 2, START + DAY))
    store = SqliteStore(path)
    with store.write() as transaction:
        transaction.insert([make_entry(1, usage=record.usage), make_entry(2)])
    store.close()
    alter(path, "UPDATE usage SET access_ring = NULL, model_state = NULL")
    store = SqliteStore(path)
    with store.read() as reader:
        found = plain_traces(reader.columns(HOME, START, NEEDS))
    last = replace(record, usage=Usage(7, START + 3 * DAY, 2))
    expected = plain_traces(columns_of([last, make_record(2)]))
    assert found == expected | {"active days": found["active days"], "types": [[], []]}
    with store.write() as transaction:
        transaction.add_usage(HOME, [UsageDelta(record.id, 1, 0, START + 5 * DAY)])
    with store.read() as reader:
        spaced = reader.columns(HOME, START, NEEDS).spaced()
        assert spaced.count.tolist() == [3, 0]
    store.close()


def test_the_turns_logged_so_far_are_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    store = SqliteStore(path)
    with store.write() as transaction:
        transaction.insert([make_entry(1)])
        for session in ("s-1", "s-2", "s-2"):
            transaction.log_turn(HOME, session, START)
    store.close()
    (models,) = (each.sql for each in migrations() if each.name.endswith("_models"))
    updates = [line for line in models.splitlines() if line.startswith("UPDATE")]
    alter(path, "UPDATE scope SET turns = 0", *updates)
    store = SqliteStore(path)
    with store.read() as reader:
        columns = reader.columns(HOME, START, NEEDS)
        assert (columns.turns, columns.by_turn().learned.tolist()) == (3, [3])
    store.close()
