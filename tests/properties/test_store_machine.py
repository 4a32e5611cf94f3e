"""Every store shows what the dict store shows, after any sequence of calls."""

from hypothesis import HealthCheck, settings

from sfams.stores.memory import DictStore
from sfams.stores.sqlite import SqliteStore
from sfams.testing.machine import store_machine

FULL = settings.get_current_profile_name() == "ci-full"


def length(runs: int) -> settings:
    """Take 500 long runs under `--hypothesis-profile ci-full`, else a few short ones."""
    return settings(
        max_examples=500 if FULL else runs,
        stateful_step_count=20 if FULL else 10,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


TestDictStore = store_machine(DictStore).TestCase
TestDictStore.settings = length(20)

TestSqliteStore = store_machine(lambda: SqliteStore(":memory:")).TestCase
TestSqliteStore.settings = length(60)
