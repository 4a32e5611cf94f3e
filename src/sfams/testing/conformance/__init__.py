"""StoreConformance: what every store promises, as tests to inherit."""

from sfams.testing.conformance.atomicity import AtomicityPromises
from sfams.testing.conformance.changes import ChangePromises
from sfams.testing.conformance.erasing import ErasingPromises
from sfams.testing.conformance.finding import FindingPromises
from sfams.testing.conformance.ghosts import GhostPromises
from sfams.testing.conformance.isolation import IsolationPromises
from sfams.testing.conformance.linking import LinkingPromises
from sfams.testing.conformance.logbook import LogPromises
from sfams.testing.conformance.lookups import LookupPromises
from sfams.testing.conformance.paging import PagingPromises
from sfams.testing.conformance.plans import PlanPromises
from sfams.testing.conformance.reindexing import ReindexPromises
from sfams.testing.conformance.roundtrip import RoundTripPromises
from sfams.testing.conformance.settings import SettingPromises
from sfams.testing.conformance.sharing import SharingPromises
from sfams.testing.conformance.standing import StandingPromises
from sfams.testing.conformance.tombstones import TombstonePromises
from sfams.testing.conformance.traces import TracePromises
from sfams.testing.conformance.uniqueness import UniquenessPromises
from sfams.testing.conformance.usage import UsagePromises

__all__ = ["StoreConformance"]


class StoreConformance(
    RoundTripPromises,
    IsolationPromises,
    AtomicityPromises,
    UniquenessPromises,
    ChangePromises,
    UsagePromises,
    TracePromises,
    FindingPromises,
    PagingPromises,
    LookupPromises,
    StandingPromises,
    LinkingPromises,
    LogPromises,
    PlanPromises,
    ErasingPromises,
    TombstonePromises,
    GhostPromises,
    ReindexPromises,
    SettingPromises,
    SharingPromises,
):
    """The contract of `sfams.ports.Store`, grouped by promise.

    Subclass it, name the subclass `Test...` and give it a `store` fixture that yields a new, empty
    store (the example stands in `sfams.testing`). A store that outlives its object also overrides
    `reopen`. No store skips a test: what is not promised is not tested.
    """
