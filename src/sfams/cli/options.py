"""The options of the commands, declared once and shared: one TypedDict per group (see `run.add`).

Names are those of the service's fields, so that what was given passes through unchanged. An option
that was not given is None, a flag False, a repeatable one empty; `given` leaves all of them out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypedDict, cast

from typer import Option

from sfams.core.query import Mode, Order
from sfams.core.record import Tier
from sfams.core.selecting import FilterFields
from sfams.errors import InvalidInputError
from sfams.service.reach import EraseFields

_EVERYWHERE = "Everywhere"
_FILTER = "Which memories"


class Everywhere(TypedDict, total=False):
    """Options of every command; they may stand before or after its name."""

    db: Annotated[
        Path | None,
        Option("--db", help="The SQLite file (SFAMS_DB).", rich_help_panel=_EVERYWHERE),
    ]
    scope: Annotated[
        str | None,
        Option(
            "--scope",
            metavar="A/B",
            help="Whose memory, the tenant first (SFAMS_SCOPE).",
            rich_help_panel=_EVERYWHERE,
        ),
    ]
    embedder: Annotated[
        str | None,
        Option(
            "--embedder",
            metavar="NAME",
            help="bundled, hashing, none, openai:MODEL, ... (SFAMS_EMBEDDER).",
            rich_help_panel=_EVERYWHERE,
        ),
    ]
    as_json: Annotated[
        bool,
        Option("--json", help="Print one JSON document.", rich_help_panel=_EVERYWHERE),
    ]
    quiet: Annotated[
        bool,
        Option("--quiet", help="Print results only, no notes.", rich_help_panel=_EVERYWHERE),
    ]
    debug: Annotated[
        bool,
        Option("--debug", help="Show tracebacks of errors.", rich_help_panel=_EVERYWHERE),
    ]


class FilterOptions(TypedDict, total=False):
    """Which memories are meant, besides their status: `FilterFields` as options."""

    kinds: Annotated[
        list[str] | None,
        Option(
            "--kind",
            metavar="KIND",
            help="Kind or its base: fact also means fact:x.",
            rich_help_panel=_FILTER,
        ),
    ]
    importance_min: Annotated[
        float | None,
        Option("--importance-min", metavar="0..1", help="At least.", rich_help_panel=_FILTER),
    ]
    importance_max: Annotated[
        float | None,
        Option("--importance-max", metavar="0..1", help="At most.", rich_help_panel=_FILTER),
    ]
    since: Annotated[
        str | None,
        Option(
            "--since",
            metavar="MOMENT",
            help="Said then or later: 2026-07-20 or 2026-07-20T08:00:00Z.",
            rich_help_panel=_FILTER,
        ),
    ]
    until: Annotated[
        str | None,
        Option("--until", metavar="MOMENT", help="Said before then.", rich_help_panel=_FILTER),
    ]
    entities: Annotated[
        list[str] | None,
        Option("--entity", metavar="NAME|TYPE:NAME", help="Names it.", rich_help_panel=_FILTER),
    ]
    tags: Annotated[
        list[str] | None,
        Option("--tag", metavar="TAG", help="Carries it.", rich_help_panel=_FILTER),
    ]
    meta: Annotated[
        list[str] | None,
        Option(
            "--meta",
            metavar="KEY=JSON",
            help="Metadata equal to it, type included.",
            rich_help_panel=_FILTER,
        ),
    ]
    who: Annotated[str | None, Option("--who", help="Said by.", rich_help_panel=_FILTER)]
    session: Annotated[
        str | None, Option("--session", help="Said in this session.", rich_help_panel=_FILTER)
    ]
    text: Annotated[
        str | None,
        Option("--text", help="Contains it; case and accents aside.", rich_help_panel=_FILTER),
    ]
    tier: Annotated[Tier | None, Option("--tier", help="Only this tier.", rich_help_panel=_FILTER)]


class StandingOptions(FilterOptions, total=False):
    """Filters of what reads: by default live memories that have not expired."""

    status: Annotated[
        list[str] | None,
        Option(
            "--status",
            metavar="STATUS",
            help="live (default), superseded, summarized, deleted, or all.",
            rich_help_panel=_FILTER,
        ),
    ]
    expired: Annotated[bool, Option("--expired", help="Expired ones too.", rich_help_panel=_FILTER)]


class SubjectOptions(FilterOptions, total=False):
    """Whom or what erasing and its export mean; filters narrow."""

    subject: Annotated[
        list[str] | None,
        Option(
            "--subject",
            metavar="NAME",
            help="All about and by it: one of its names; repeat for others.",
        ),
    ]
    identifier: Annotated[
        list[str] | None,
        Option(
            "--identifier",
            metavar="TEXT",
            help="Just this address, number or handle, never a part of another; repeat for others.",
        ),
    ]


class ExportOptions(SubjectOptions, StandingOptions, total=False):
    """What is exported: by filter, or all that is held on a subject."""


class RecallOptions(StandingOptions, total=False):
    """How to recall."""

    mode: Annotated[Mode | None, Option("--mode", help="Which signals find (default hybrid).")]
    min_score: Annotated[
        float | None, Option("--min-score", metavar="0..1", help="Leave out hits below it.")
    ]
    below: Annotated[bool, Option("--below", help="Also search the scopes below.")]
    order: Annotated[
        Order | None,
        Option("--order", help="Without a query: sort by (default last_accessed_at)."),
    ]


class RememberOptions(TypedDict, total=False):
    """What may be said about a memory besides its text: `DraftFields` as options."""

    kind: Annotated[
        str | None,
        Option("--kind", help="fact, goal, preference, deadline, ... or own; else estimated."),
    ]
    importance: Annotated[
        float | None, Option("--importance", metavar="0..1", help="Else estimated.")
    ]
    ttl: Annotated[
        str | None,
        Option("--ttl", metavar="24h", help="How long it holds: 90s, 24h, 7d, 4w, never."),
    ]
    expires_at: Annotated[
        str | None, Option("--expires-at", metavar="MOMENT", help="Until when it holds.")
    ]
    entities: Annotated[
        list[str] | None,
        Option("--entity", metavar="NAME|TYPE:NAME", help="Whom or what it is about."),
    ]
    tags: Annotated[list[str] | None, Option("--tag", metavar="TAG", help="Label to filter by.")]
    meta: Annotated[
        list[str] | None,
        Option("--meta", metavar="KEY=JSON", help="Own data, JSON or plain text."),
    ]
    who: Annotated[str | None, Option("--who", help="Who said it.")]
    role: Annotated[str | None, Option("--role", help="As what: user, assistant, tool, ...")]
    session: Annotated[str | None, Option("--session", help="In which conversation.")]
    turn: Annotated[int | None, Option("--turn", help="At which turn of it.")]
    subject: Annotated[
        str | None, Option("--subject", help="With --attribute: a slot with one current value.")
    ]
    attribute: Annotated[str | None, Option("--attribute", help="See --subject.")]
    value: Annotated[str | None, Option("--value", help="The slot's value; else the text.")]
    key: Annotated[str | None, Option("--key", help="Your own id, unique in the scope.")]
    supersedes: Annotated[
        list[str] | None, Option("--supersedes", metavar="ID", help="It replaces this.")
    ]
    created_at: Annotated[
        str | None, Option("--created-at", metavar="MOMENT", help="When it was said; else now.")
    ]
    valid_from: Annotated[
        str | None, Option("--valid-from", metavar="MOMENT", help="True in the world from then on.")
    ]
    valid_to: Annotated[
        str | None, Option("--valid-to", metavar="MOMENT", help="True in the world until then.")
    ]
    trust: Annotated[
        float | None, Option("--trust", metavar="0..1", help="How far the source is trusted.")
    ]
    sensitive: Annotated[
        bool, Option("--sensitive", help="Mask the text in previews and logs; else told from it.")
    ]
    not_sensitive: Annotated[bool, Option("--not-sensitive", help="Never mask it.")]


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Keep what was given, under the service's names; `--meta` becomes `metadata`."""
    fields = {
        name: value
        for name, value in options.items()
        if value is not None and value is not False and value != []
    }
    if "meta" in fields:
        fields["metadata"] = read_meta(fields.pop("meta"))
    sensitive, normal = (fields.pop(name, False) for name in ("sensitive", "not_sensitive"))
    if sensitive and normal:
        message = "sensitive: --sensitive and --not-sensitive contradict each other"
        raise InvalidInputError(message, field="sensitivity")
    if sensitive or normal:
        fields["sensitivity"] = "sensitive" if sensitive else "normal"
    return fields


Reveal = Annotated[bool, Option("--reveal", help="Show sensitive texts too, not their masks.")]


def filters(options: Mapping[str, Any]) -> FilterFields:
    """Keep the filters that were given."""
    fields = given(options)
    chosen = {name: fields[name] for name in FilterFields.__annotations__ if name in fields}
    return cast("FilterFields", chosen)


def subjects(options: Mapping[str, Any]) -> EraseFields:
    """Keep the subject, the identifiers and the filters that were given."""
    fields = given(options)
    chosen = {name: fields[name] for name in EraseFields.__annotations__ if name in fields}
    return cast("EraseFields", chosen)


def read_meta(pairs: Iterable[str]) -> dict[str, object]:
    """Read KEY=JSON pairs. A value that is no JSON is text, unless it begins like JSON.

    Raises:
        InvalidInputError: No "=", no key, a key twice, or broken JSON.
    """
    metadata: dict[str, object] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign or not key.strip():
            _refuse_meta(f"{pair[:40]!r} is not KEY=JSON")
        if key in metadata:
            _refuse_meta(f"{key[:40]!r} is given twice")
        metadata[key] = _read_value(key, value)
    return metadata


def _read_value(key: str, text: str) -> object:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        if text.lstrip()[:1] in {"{", "[", '"'}:
            _refuse_meta(f"the value of {key[:40]!r} begins like JSON and is not readable as JSON")
        return text


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _refuse_meta(problem: str) -> NoReturn:
    message = f"--meta: {problem}"
    raise InvalidInputError(message, field="metadata")
