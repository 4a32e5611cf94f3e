"""RetentionPolicy: what is to be kept, as data, checked when it is built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from sfams.core.models.linear import Linear
from sfams.core.models.parameters import is_number
from sfams.core.periods import Period
from sfams.core.plan import Action
from sfams.core.record import parse_kind
from sfams.core.retention import RetentionModel
from sfams.errors import InvalidInputError, InvalidPolicyError

UNDO_WINDOW = timedelta(days=30)
"""How long a plan can be taken back, unless its policy says otherwise."""

SENSITIVE = "sensitive"
"""In `RetentionPolicy.retention`: whatever is sensitive, of any kind."""

SHARES = ("threshold", "share", "floor", "max_share", "window")
ACTIONS = ("threshold_action", "share_action", "expired_action")
DURATIONS = ("grace", "undo_window")
COUNTS = ("lowest", "max_count")
SIZES = ("records", "tokens", "bytes")


class Approval(StrEnum):
    """Which plans wait for a person: none, those that take more than heat away, all."""

    NEVER = "never"
    REMOVALS = "removals"
    ALWAYS = "always"


def check_share(name: str, value: object, *, optional: bool = False) -> None:
    """Refuse what is not a number in 0..1."""
    if value is None and optional:
        return
    if not is_number(value) or not 0.0 <= value <= 1.0:
        message = f"{name}: must be a number in 0..1, got {value!r}"
        raise InvalidPolicyError(message, field=name)


def check_count(name: str, value: object) -> None:
    """Refuse what is neither None nor a whole number, 0 or more."""
    if value is None:
        return
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        message = f"{name}: must be a whole number, 0 or more, got {value!r}"
        raise InvalidPolicyError(message, field=name)


def check_duration(name: str, value: object) -> None:
    """Refuse what is not a duration, or below zero."""
    if not isinstance(value, timedelta) or value < timedelta(0):
        message = f"{name}: must be a duration that is not negative, got {value!r}"
        raise InvalidPolicyError(message, field=name)


def _check_kind(name: str, kind: str) -> None:
    try:
        parse_kind(kind)
    except InvalidInputError as error:
        raise InvalidPolicyError(f"{name}.{error}", field=f"{name}.{kind[:40]}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A size of hot memory: records, tokens, bytes of text; None does not limit."""

    records: int | None = None
    tokens: int | None = None
    bytes: int | None = None

    def __post_init__(self) -> None:
        """Refuse sizes that are no whole number, or below zero."""
        for name in SIZES:
            check_count(f"budget.{name}", getattr(self, name))

    def sizes(self) -> dict[str, int]:
        """Give the sizes that do limit, by name."""
        found = {name: getattr(self, name) for name in SIZES}
        return {name: size for name, size in found.items() if size is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget(Limit):
    """How much hot memory a scope may hold, and how much of each kind.

    Nothing goes until a size is exceeded (the high-water mark); then the lowest goes until it is
    down to `low` times that size (the low-water mark). A kind's limit also covers its refinements.
    """

    kinds: Mapping[str, Limit] = field(default_factory=dict)
    low: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what is no size, no kind or no share."""
        # A dataclass with slots is made anew, so that super() without arguments would not find it.
        Limit.__post_init__(self)
        check_share("budget.low", self.low)
        for kind in self.kinds:
            _check_kind("budget.kinds", kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """When a cold record goes one rung further down: below a score, after a time in the cold."""

    below: float = 1.0
    after: timedelta = timedelta(0)

    def __post_init__(self) -> None:
        """Check ranges."""
        check_share("below", self.below)
        check_duration("after", self.after)


@dataclass(frozen=True, slots=True, kw_only=True)
class Triggers:
    """When a plan is made and carried out without being asked for; None and False never.

    - `over_budget`: a text was remembered and the hot tier is over budget.
    - `turns`: so many turns were logged since the last time.
    - `interval`: so much time passed since the last time, looked at when something is remembered.
    - `session_end`: a session was ended.
    - `digest`: "day", "week" or "month": at the first run after such a period its notes become one record.
    """

    over_budget: bool = True
    turns: int | None = None
    interval: timedelta | None = None
    session_end: bool = False
    digest: str | None = None

    def __post_init__(self) -> None:
        """Check types and ranges."""
        for name in ("over_budget", "session_end"):
            if not isinstance(getattr(self, name), bool):
                message = f"triggers.{name}: must be true or false"
                raise InvalidPolicyError(message, field=f"triggers.{name}")
        check_count("triggers.turns", self.turns)
        if self.turns == 0:
            message = "triggers.turns: must be 1 or more"
            raise InvalidPolicyError(message, field="triggers.turns")
        if self.interval is not None:
            check_duration("triggers.interval", self.interval)
        if self.digest is not None and self.digest not in set(Period):
            message = f"triggers.digest: {str(self.digest)[:40]!r} is not {', '.join(Period)}"
            raise InvalidPolicyError(message, field="triggers.digest")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionPolicy:
    """Which records a plan takes and what it does with them.

    Taken is what has expired (`expired_action`), what is older than `retention` allows its kind
    (deleted), scores below `threshold` (`threshold_action`), the lowest `int(share * n)` or the
    lowest `lowest` (`share_action`), and what is over `budget` (demoted, lowest score first, but for
    a `window` of the newest). In the cold, the rungs `summarize` and `delete` take what has waited
    there. With `through_cold` nothing hot is deleted by score: it is demoted first.

    Pins, holds and the grace period protect; `floor`, and `floors` by kind, protect records of at
    least that importance from everything but expiry, retention and demotion. `max_share` and
    `max_count` are the blast radius: no plan may delete or summarize more, what is over time apart;
    `anomaly` stops one that takes so many times what the scope's plans take as a rule.
    """

    name: str = "custom"
    model: RetentionModel = field(default_factory=Linear)
    budget: Budget = Budget()
    window: float = 0.0
    threshold: float | None = None
    share: float | None = None
    lowest: int | None = None
    threshold_action: Action = Action.DEMOTE
    share_action: Action = Action.DEMOTE
    expired_action: Action = Action.DELETE
    through_cold: bool = True
    summarize: Rung | None = None
    delete: Rung | None = None
    floor: float | None = None
    floors: Mapping[str, float] = field(default_factory=dict)
    grace: timedelta = timedelta(0)
    retention: Mapping[str, timedelta] = field(default_factory=dict)
    max_share: float = 0.2
    max_count: int | None = None
    anomaly: float | None = None
    approval: Approval = Approval.NEVER
    undo_window: timedelta = UNDO_WINDOW
    purge: bool = True
    triggers: Triggers = Triggers()

    def __post_init__(self) -> None:
        """Check ranges and contradictions."""
        for name in SHARES:
            check_share(name, getattr(self, name), optional=name not in {"max_share", "window"})
        for name in COUNTS:
            check_count(name, getattr(self, name))
        if self.share is not None and self.lowest is not None:
            message = "share and lowest: give one of them"
            raise InvalidPolicyError(message, field="share")
        for name in DURATIONS:
            check_duration(name, getattr(self, name))
        for name in ACTIONS:
            if getattr(self, name) not in {Action.DEMOTE, Action.DELETE}:
                message = f"{name}: {getattr(self, name)} is not demote or delete"
                raise InvalidPolicyError(message, field=name)
        self._check_kinds()
        if self.anomaly is not None and (not is_number(self.anomaly) or not self.anomaly >= 1.0):
            message = f"anomaly: must be 1 or more times the usual, got {self.anomaly!r}"
            raise InvalidPolicyError(message, field="anomaly")

    def _check_kinds(self) -> None:
        for kind, floor in self.floors.items():
            _check_kind("floors", kind)
            check_share(f"floors.{kind}", floor)
        for kind, longest in self.retention.items():
            _check_kind("retention", kind)
            check_duration(f"retention.{kind}", longest)
