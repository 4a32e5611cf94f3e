"""Every store shows what the dict store shows, after any sequence of calls.

500 runs of up to 20 units of work with CI=true in the environment, fewer and shorter ones elsewhere. The
files are in memory: what survives a crash is proved by `stores/test_crash.py`.
"""

from hypothesis import HealthCheck, settings

from sfams.stores.memory import DictStore
from sfams.stores.sqlite import SqliteStore
from sfams.testing.machine import store_machine

IN_CI = settings.get_current_profile_name() == "ci"


def length(runs: int, runs_in_ci: int) -> settings:
    return settings(
        max_examples=runs_in_ci if IN_CI else runs,
        stateful_step_count=20 if IN_CI else 10,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


TestDictStore = store_machine(DictStore).TestCase
TestDictStore.settings = length(20, 50)

TestSqliteStore = store_machine(lambda: SqliteStore(":memory:")).TestCase
TestSqliteStore.settings = length(60, 500)
