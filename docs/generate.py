"""Fill in what the pages repeat from the code, between `<!-- begin: name -->` and `<!-- end -->`.

`python docs/generate.py` writes the sections anew; with `--check` it only names the pages that are
out of date and ends with exit code 1.
"""  # noqa: INP001  a script beside the pages, no package

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import typer

import sfams
from sfams import errors
from sfams.bridges import chat_values
from sfams.cli import output, reading
from sfams.cli.app import app
from sfams.cli.exits import EXIT_CODES, UNEXPECTED
from sfams.cli.forgetting import Taking
from sfams.core import checks, cues, draft, fitted, importance, lexical, text, traces, weights
from sfams.core.models import linear
from sfams.core.models.activation import Activation
from sfams.core.models.adaptive import Adaptive
from sfams.core.models.density import Density
from sfams.core.models.registry import model_from
from sfams.core.models.retrievability import Retrievability
from sfams.core.models.survival import Survival
from sfams.core.policy import Budget, RetentionPolicy, Triggers
from sfams.core.presets import PRESETS
from sfams.core.query import Mode, Order
from sfams.core.record import Tier
from sfams.core.scope import MAX_PART_LENGTH, MAX_PARTS
from sfams.core.selecting import FilterFields
from sfams.lab import quality_tables
from sfams.providers import bundled, hashing, use_multilingual
from sfams.service import archive, forgetting, listing, recalling, remembering, sessions, usage
from sfams.settings import PREFIX, Settings

DOCS = Path(__file__).parent
_SECTION = re.compile(r"(<!-- begin: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)

Row = Sequence[object]


def table(head: Row, rows: Iterable[Row]) -> str:
    """Write a Markdown table."""
    lines = [_row(head), _row(["---"] * len(head)), *map(_row, rows)]
    return "\n".join(lines) + "\n"


def _row(cells: Row) -> str:
    flat = (" ".join(str(cell).split()).replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(flat)} |"


def first_sentence(thing: object) -> str:
    """Give the first sentence of a docstring."""
    paragraph = (inspect.getdoc(thing) or "").partition("\n\n")[0]
    found = re.match(r".*?\.(?=\s|$)", flat := " ".join(paragraph.split()))
    return found[0] if found else flat


def code(value: object) -> str:
    """Quote a value as code; nothing for what is not set."""
    return "" if value in (None, "", inspect.Parameter.empty) else f"`{value}`"


# ── Commands ─────────────────────────────────────────────────────────────────────────────────────

_SHARED = ("Everywhere", "Which memories")
_FILTERS = """\
The filters of `recall`, `context`, `ls` and `erase`. `erase` reaches every status, and expired
memories too, so it has neither `--status` nor `--expired`.
"""
_FREE = ("install_completion", "show_completion", "help")
_CHOICES: dict[str, Iterable[str]] = {"action": Taking, "mode": Mode, "order": Order, "tier": Tier}


def commands() -> str:
    """List every command with its help and its own options, and shared options once."""
    group: Any = typer.main.get_command(app)
    every = dict(listed(group))
    shared: dict[str, dict[str, Any]] = {panel: {} for panel in _SHARED}
    parts = []
    for name, command in every.items():
        own = []
        for each in command.params:
            panel = getattr(each, "rich_help_panel", None)
            if panel in shared:
                shared[panel][each.name] = each
            elif each.name not in _FREE:
                own.append(each)
        panels = {getattr(each, "rich_help_panel", None) for each in command.params}
        parts.append(_command(name, command, own, filtered=_SHARED[1] in panels))
    head = [
        "### Everywhere\n\nBefore or after the name of a command.\n",
        _options([*shared["Everywhere"].values(), *_root_only(group)]),
        f"### Which memories\n\n{_FILTERS}\n",
        _options(shared["Which memories"].values()),
    ]
    overview = table(
        ["command", "what it does"],
        [(f"[{name}](#{name.replace(' ', '-')})", _help(each)) for name, each in every.items()],
    )
    return "\n".join([overview, *parts, *head])


def listed(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401  # as below
    """Give every command with its full name; a group gives those in it."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from listed(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


def _root_only(group: Any) -> Iterator[Any]:  # noqa: ANN401  # typer's own classes have moved about
    return (each for each in group.params if each.name == "version")


def _help(command: Any) -> str:  # noqa: ANN401  # as above
    return " ".join((command.help or "").partition("\n\n")[0].split())


def _command(name: str, command: Any, own: Sequence[Any], *, filtered: bool) -> str:  # noqa: ANN401
    arguments = [each for each in own if each.param_type_name == "argument"]
    usage_line = " ".join([f"sfams {name}", *(_place(each) for each in arguments), "[options]"])
    lines = [f"### {name}\n", f"`{usage_line}`\n", f"{_help(command)}\n"]
    options = [each for each in own if each.param_type_name == "option"]
    if options:
        lines.append(_options(options))
    if filtered:
        lines.append("And the filters of [Which memories](#which-memories).\n")
    return "\n".join(lines)


def _place(argument: Any) -> str:  # noqa: ANN401  # as above
    name = argument.metavar or argument.name.upper()
    return name if argument.required else f"[{name}]"


def _options(options: Iterable[Any]) -> str:
    return table(["option", "meaning"], [(_spelling(each), _meaning(each)) for each in options])


def _spelling(option: Any) -> str:  # noqa: ANN401  # as above
    value = f" `{option.metavar}`" if option.metavar else ""
    return ", ".join(map(code, option.opts)) + value


def _meaning(option: Any) -> str:  # noqa: ANN401  # as above
    choices = ", ".join(_CHOICES.get(option.name, ()))
    return f"{option.help or ''}{f' One of {choices}.' if choices else ''}"


# ── Python ───────────────────────────────────────────────────────────────────────────────────────


def verbs() -> str:
    """List the methods of Memory."""
    methods = [
        (name, each)
        for part in reversed(sfams.Memory.__mro__)
        for name, each in vars(part).items()
        if inspect.isfunction(each) and not name.startswith("_")
    ]
    return table(
        ["call", "what it does"],
        [(f"`{name}{_signature(each)}`", first_sentence(each)) for name, each in methods],
    )


def _signature(function: Callable[..., object]) -> str:
    signature = inspect.signature(function)
    shown = []
    star = False
    for name, each in list(signature.parameters.items())[1:]:
        if each.kind is each.KEYWORD_ONLY and not star:
            shown.append("*")
            star = True
        prefix = "**" if each.kind is each.VAR_KEYWORD else ""
        default = "" if each.default is each.empty else f" = {each.default!r}"
        shown.append(f"{prefix}{name}: {_annotation(each.annotation)}{default}")
    return f"({', '.join(shown)}) -> {_annotation(signature.return_annotation)}"


def _annotation(annotation: object) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")


def names() -> str:
    """List what `import sfams` offers."""
    return table(
        ["name", "what it is"],
        [(code(name), first_sentence(getattr(sfams, name))) for name in sfams.__all__],
    )


def draft_fields() -> str:
    """List the fields of `remember`, each with the text that stands below it in the code."""
    body = _class_body(draft.DraftFields)
    meanings: dict[str, str] = {}
    for field, doc in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            value = doc.value if isinstance(doc, ast.Expr) else None
            meanings[field.target.id] = str(ast.literal_eval(value)) if value else ""
    rows = [(code(name), meanings[name]) for name in draft.DraftFields.__annotations__]
    return table(["field", "meaning"], rows)


def _class_body(cls: type) -> list[ast.stmt]:
    node = ast.parse(inspect.getsource(cls)).body[0]
    assert isinstance(node, ast.ClassDef)  # noqa: S101  # it is the source of a class
    return node.body


def recall_fields() -> str:
    """List the fields of `recall`: its own, then the filters."""
    own = _described(recalling.RecallFields)
    return table(["field", "meaning"], [*own, *_described(FilterFields)])


def _described(cls: type) -> list[Row]:
    text_ = (inspect.getdoc(cls) or "").replace("\n    ", " ").replace("; tier: ", "\ntier: ")
    lines = text_.split("\n")
    entries = (line.partition(": ") for line in lines if re.match(r"[a-z_]+(, [a-z_]+)?: ", line))
    return [
        (", ".join(code(name) for name in named.split(", ")), meaning)
        for named, _, meaning in entries
    ]


# ── Numbers ──────────────────────────────────────────────────────────────────────────────────────


def presets() -> str:
    """Set the presets side by side."""
    policies = {name: build() for name, build in PRESETS.items()}
    rows: list[Row] = [
        (code(each.name), *(_shown(getattr(policy, each.name)) for policy in policies.values()))
        for each in dataclasses.fields(RetentionPolicy)
        if each.name != "name"
    ]
    return table(["field", *map(code, policies)], rows)


def _shown(value: object) -> str:
    if isinstance(value, linear.Linear):
        return "`classic`" if value == linear.classic() else "`Linear()`"
    if isinstance(value, MODEL_CLASSES):
        return code(f"{type(value).__name__}()")
    if isinstance(value, Budget):
        return f"{value.records:,} records" if value.records is not None else "none"
    if isinstance(value, Triggers):
        return _triggered(value)
    return "none" if value is None or value == {} else _number(value)


def _triggered(triggers: Triggers) -> str:
    when = {
        "over budget": triggers.over_budget,
        f"every {triggers.turns} turns": triggers.turns is not None,
        f"every {_number(triggers.interval)}": triggers.interval is not None,
        "end of session": triggers.session_end,
    }
    return ", ".join(name for name, holds in when.items() if holds) or "none"


def linear_models() -> str:
    """Set the default model and the classic one side by side."""
    plain, classic = linear.Linear().parameters(), linear.classic().parameters()
    rows = [(code(name), plain[name], classic[name]) for name in plain]
    return table(["parameter", "`Linear()`", "`classic`"], rows)


def salience_table() -> str:
    """List the fitted coefficients."""
    rows: list[Row] = [(name, f"{value:+.3f}") for name, value in fitted.COEFFICIENTS.items()]
    rows += [
        ("(centre)", f"{fitted.CENTRE:.3f}"),
        ("(bias of need)", f"{fitted.BIAS:.3f}"),
        ("(weight of importance)", f"{fitted.IMPORTANCE:.3f}"),
        ("(ridge)", f"{fitted.RIDGE:g}"),
    ]
    return table(["measure", "coefficient"], rows)


MODEL_CLASSES = (Activation, Adaptive, Density, Retrievability, Survival)


def model_parameters(name: str) -> str:
    """List a model's parameters with their defaults."""
    given = model_from(name, {}).parameters()
    rows = [(code(each), _listed(value)) for each, value in given.items()]
    return table(["parameter", "default"], rows)


def _listed(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {each:g}" for name, each in value.items())
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def signals() -> str:
    """List how much each signal counts in a recall."""
    default = weights.RankingWeights()
    rows = [
        (code(each.name), _number(getattr(default, each.name)))
        for each in dataclasses.fields(weights.RankingWeights)
    ]
    return table(["weight", "default"], rows)


def _number(value: object) -> str:
    if isinstance(value, timedelta):
        return f"{value.days} days" if value else "0"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def calibration() -> str:
    """List what unrelated texts look like under each embedder."""
    known = (
        ("`bundled`: multilingual-e5-small", bundled.DIMENSION, bundled.CALIBRATION),
        (
            "`bundled` where that has no wheel: USE multilingual",
            use_multilingual.DIMENSION,
            use_multilingual.CALIBRATION,
        ),
        ("`hashing`: no model", hashing.HashingEmbedder().dimension, hashing.CALIBRATION),
    )
    rows = [(name, size, each.mean, each.deviation) for name, size, each in known]
    return table(["embedder", "dimensions", "mean", "deviation"], rows)


def features() -> str:
    """List the content prior."""
    rows = [
        (each.name, f"{each.coefficient:+.2f}", each.kind or "", _fires(each))
        for each in cues.FEATURES
    ]
    return table(
        ["feature", "coefficient", "kind", "fires on, for instance"],
        [("(bias)", f"{cues.BIAS:+.2f}", "", "every text"), *rows],
    )


_COUNTED = {
    "short": f"fewer than {importance._SHORT} words",  # noqa: SLF001  # the page names the number
    "wordless": "no word at all",
    "nothing else": f"small talk of fewer than {importance._BRIEF} words and nothing above 0",  # noqa: SLF001
    "number": "a digit",
    "amount": "a number with a unit or currency",
    "code": "letters and a number, as in TN-88",
    "name": "a capital inside a sentence, @name",
    "foreign name": "Latin letters inside Chinese text",
    "question": "a question mark, 吗, 呢",
}


def _fires(feature: cues.Feature) -> str:
    cues_ = feature.cues.split("|")
    latin = [cue for cue in cues_ if cue.isascii() and cue]
    chinese = [cue for cue in cues_ if not cue.isascii()]
    return _COUNTED.get(feature.name) or ", ".join([*latin[:4], *chinese[:2]])


def limits() -> str:
    """List every limit of input."""
    rows: list[Row] = [
        ("content", f"{checks.MAX_CONTENT:,} characters", "refused"),
        ("query of `recall`", f"{recalling.MAX_QUERY:,} characters", "refused"),
        ("`k` of `recall`", f"1 to {recalling.MAX_K:,}", "refused"),
        ("`limit` of `list`", f"1 to {listing.MAX_LIMIT:,}", "refused; page on with `next`"),
        ("`tokens` of `context`", "1 or more", "refused; what does not fit is left out, counted"),
        ("tags, entities, links", f"{checks.MAX_ITEMS} each", "refused"),
        ("a tag", f"{checks.MAX_TAG} characters", "refused"),
        ("an entity's name", f"{checks.MAX_NAME} characters", "refused"),
        ("an entity's type", f"{checks.MAX_TYPE} of a-z, 0-9, _", "refused"),
        (
            "`who`, `role`, `key`, `subject`, `attribute`",
            f"{checks.MAX_NAME} characters",
            "refused",
        ),
        ("`session`", f"{sessions.MAX_SESSION_LENGTH} characters", "refused"),
        ("`value` of a claim", f"{checks.MAX_VALUE:,} characters", "refused"),
        ("metadata", f"{checks.MAX_METADATA:,} bytes as JSON", "refused"),
        ("metadata, nesting", f"{checks.MAX_DEPTH} levels", "refused"),
        ("whole numbers", "0 to 2^63 - 1; in metadata negative too", "refused"),
        ("`importance`, `trust`, `min_score`", "0 to 1, finite", "refused"),
        ("kind", "64 characters, and 64 behind one `:`", "refused"),
        ("relation type", "64 characters", "refused"),
        ("scope", f"{MAX_PARTS} parts of {MAX_PART_LENGTH} characters", "refused"),
        ("moments", "years 1 to 9999", "refused"),
        ("`ttl`", "above zero; beyond the year 9999 it never ends", "zero and less are refused"),
    ]
    return table(["what", "limit", "beyond it"], rows)


def bounds() -> str:
    """List the bounds of the inner workings."""
    read = f"the first {bundled.HEAD_CHARACTERS:,} and last {bundled.TAIL_CHARACTERS:,} characters"
    rows: list[Row] = [
        (
            "keywords",
            f"the first {text._LONGEST_TERM} characters of a word",  # noqa: SLF001
            "the rest of that word is not searchable",
        ),
        (
            "bundled embedder",
            f"{read} of a text above {bundled.MODEL_WINDOW} tokens",
            "the middle is found by keywords",
        ),
        (
            "estimate of importance",
            f"the first {importance._MOST_READ:,} characters",  # noqa: SLF001
            "what follows does not count",
        ),
        (
            "recall with a `status` other than live",
            f"the newest {archive.LIMIT:,} records that match",
            "the result carries a warning",
        ),
        ("`remember_many`", f"{remembering.CHUNK} texts a transaction", "the next one follows"),
        (
            "`forget`",
            f"up to {forgetting.CHUNK} steps a transaction, fitted to the time",
            "the next one follows",
        ),
        (
            "access counts",
            f"{usage.FLUSH_AT} distinct records are buffered",
            "written; a killed process loses at most these",
        ),
        (
            "moments of accesses",
            f"the latest {traces.KEPT} of a record that lie {traces.SPACING // 60_000_000} minutes apart",
            "earlier ones are counted",
        ),
        (
            "use by logged turn",
            f"the latest {traces.KEPT} turns of a record",
            "earlier ones count for the first of these",
        ),
        (
            "`turn` of `recall`",
            f"the last {usage._TURNS_REMEMBERED:,} record and turn pairs of a process",  # noqa: SLF001
            "an older pair may count again",
        ),
        ("a text in a table of the CLI", f"{output.PREVIEW} characters", "cut, marked with `…`"),
        ("a hit of `sfams recall`", f"{reading.SHOWN} characters", "cut, marked with `…`"),
        ("a refused value in a report", f"{chat_values.MAX_SHOWN} characters", "cut, with `…`"),
    ]
    return table(["what", "bound", "beyond it"], rows)


def bm25() -> str:
    """Name the constants of the keyword score."""
    return f"`k1 = {lexical.K1}`, `b = {lexical.B}`, `SCALE = {lexical.SCALE}`\n"


# ── Settings and errors ──────────────────────────────────────────────────────────────────────────


def settings() -> str:
    """List the settings."""
    rows = [
        (
            code(name),
            code(PREFIX + name.upper()),
            code(each.default) or "empty",
            each.description or "",
        )
        for name, each in Settings.model_fields.items()
    ]
    return table(["name", "variable", "default", "meaning"], rows)


def error_tree() -> str:
    """Repeat the tree that the code draws, and say how each class ends a command."""
    paragraphs = (errors.__doc__ or "").split("\n\n")
    drawn = next(part for part in paragraphs if "├──" in part)
    classes = [
        each
        for each in vars(errors).values()
        if inspect.isclass(each) and issubclass(each, errors.SfamsError)
    ]
    rows = [
        (code(each.__name__), _exit_code(each), "yes" if each.retryable else "", each.__doc__)
        for each in classes
    ]
    listed = table(["class", "exit code", "worth another try", "says"], rows)
    return f"```text\n{drawn.strip()}\n```\n\n{listed}"


def _exit_code(error: type[errors.SfamsError]) -> int:
    return next((number for kind, number in EXIT_CODES if issubclass(error, kind)), UNEXPECTED)


# ── Measurements ─────────────────────────────────────────────────────────────────────────────────

RESULT = DOCS.parent / "benchmarks" / "results" / "quality.json"
"""Written by benchmarks/quality/measure_quality.py; every number of these tables is in it."""


def measured(make: Callable[[quality_tables.Part], quality_tables.Table], *wanted: str) -> str:
    """Write one table for each data set of the result (or for those that are wanted)."""
    found = quality_tables.parts(quality_tables.read_result(RESULT), wanted)
    return "\n".join(f"**{_title(part)}**\n\n{table(*make(part))}" for part in found)


def _title(part: quality_tables.Part) -> str:
    track = f", {part['track']}" if part["track"] else ""
    model = "" if "hashing" not in part["embedder"] else ", without a model"
    return f"{_NAMES.get(part['id'], part['name'])}{track}{model}"


_NAMES = {"own": "Own texts"}


def data_sets() -> str:
    """List what was measured on."""
    found = quality_tables.parts(quality_tables.read_result(RESULT))
    names = ("conversations", "units", "tokens", "questions")
    rows = [(_title(part), *(f"{part[name]:,}" for name in names)) for part in found]
    return table(["data set", *names], rows)


# ── Speed ────────────────────────────────────────────────────────────────────────────────────────

SPEED, PEERS = (
    DOCS.parent / "benchmarks" / "results" / f"{name}.json" for name in ("speed", "peers")
)
"""Written by benchmarks/speed/bench_speed.py and bench_peers.py."""


def speed_alone() -> str:
    """Write what the speed benchmark measured."""
    found = json.loads(SPEED.read_text("utf-8"))
    one = [
        (
            f"{each['records']:,}",
            f"{each['remember']['p50_ms']} / {each['remember']['p99_ms']}",
            f"{each['batch_per_s']:,}",
            f"{each['recall_warm']['p50_ms']} / {each['recall_warm']['p99_ms']}",
            f"{each['recall_cold_start_ms']:,.0f}",
            f"{each['file_mb']}",
            f"{each['process_peak_mb']:.0f}",
        )
        for each in found["one_scope"]
    ]
    head = [
        "records in a scope",
        "remember, p50 / p99 ms",
        "in batches, a second",
        "recall, p50 / p99 ms",
        "first recall, ms",
        "file, MB",
        "process, MB",
    ]
    plans = [
        (
            f"{each['records']:,}",
            f"{each['steps']:,}",
            f"{each['plan_s']}",
            f"{each['save_s']}",
            f"{each['plan_mb']:.0f}",
        )
        for each in found["plan"]
    ]
    many, applying = found["many_scopes"], found["applying"]
    rows = [
        (
            f"recall in one of {many['scopes']:,} scopes of {many['records_each']}, p50 / p99 ms",
            f"{many['recall_warm_scope']['p50_ms']} / {many['recall_warm_scope']['p99_ms']}",
        ),
        *_triggered_row(found),
        (
            f"others wait while {applying['steps']:,} steps are applied, p50 / p99 ms",
            f"{applying['other_write']['p50_ms']} / {applying['other_write']['p99_ms']}",
        ),
    ]
    return "\n".join(
        (
            _machine(found),
            table(head, one),
            table(["", "measured"], rows),
            table(["plan over", "steps", "plan, s", "save, s", "memory added, MB"], plans),
            *_by_model(found["plan"][-1]),
        )
    )


def _triggered_row(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Tell what triggers cost the caller, where the result has it."""
    taken = found.get("triggered")
    if taken is None:
        return []
    name = f"one remember with triggers against without, p50 ms ({taken['runs']} runs), and all of them"
    value = f"{taken['on']['p50_ms']} / {taken['off']['p50_ms']}, {taken['on_to_off']} times"
    return [(name, value)]


def _by_model(plan: dict[str, Any]) -> list[str]:
    """Set the models side by side, where the result has them."""
    rows = [
        (code(name), each["plan_s"], each["columns_s"], each["decide_s"], f"{each['plan_mb']:.0f}")
        for name, each in plan.get("models", {}).items()
    ]
    head = [
        f"plan over {plan['records']:,} by",
        "all, s",
        "reading, s",
        "deciding, s",
        "memory, MB",
    ]
    return [table(head, rows)] if rows else []


def speed_peers() -> str:
    """Write what the comparison measured, size by size."""
    found = json.loads(PEERS.read_text("utf-8"))
    parts = [_machine(found)]
    for each in found["one_scope"]:
        names = list(each["systems"])
        size = each["systems"][names[0]]["records"]
        labels = list(next(iter(each["ratios"].values())))
        rows = [
            (name, *(f"{each['ratios'][name][label]:g}" for label in labels), _exact(each, name))
            for name in each["ratios"]
        ]
        ours = ("SF-AMS", *("1" for _ in labels), _exact(each, "SF-AMS"))
        parts.append(f"**{size:,} records in one scope**\n")
        parts.append(table(["", *labels, "exact"], [ours, *rows]))
    many = found["many_scopes"]
    rows = [
        (name, f"{each['load_per_s']:,}", f"{each['search']['p50_ms']}", f"{each['disk_mb']}")
        for name, each in many.items()
    ]
    scopes = next(iter(many.values()))
    parts.append(f"**{scopes['scopes']:,} scopes of {scopes['records_each']}**\n")
    parts.append(table(["", "taken in, a second", "search p50, ms", "disk, MB"], rows))
    return "\n".join(parts)


def _exact(each: dict[str, Any], name: str) -> str:
    return "(by words too)" if "hybrid" in name else f"{each['systems'][name]['exact']:g}"


def _machine(found: dict[str, Any]) -> str:
    machine = found["machine"]
    packages = ", ".join(f"{name} {number}" for name, number in machine["packages"].items())
    return (
        f"{machine['cpu']}, {machine['cores']} cores, load {machine['load_at_start']} at the start;"
        f" Python {machine['python']}, {packages}.\n"
    )


# ── Pages ────────────────────────────────────────────────────────────────────────────────────────

SUMMARIES = DOCS.parent / "benchmarks" / "results" / "summaries.json"
"""Written by benchmarks/quality/measure_summaries.py."""


def summaries() -> str:
    """Tell how often summaries were refused."""
    rows = [
        (
            row["data"],
            row["summarizer"],
            row["groups"],
            f"{row['rejection_rate']:.0%}",
            "" if row["tokens"] is None else f"{row['tokens']:.0%}",
            ", ".join(f"{kind} {count}" for kind, count in row["groups_that_lose"].items()),
        )
        for row in json.loads(SUMMARIES.read_text("utf-8"))["rows"]
    ]
    heads = ["data", "summarizer", "groups", "refused", "tokens of the sources", "groups that lose"]
    return table(heads, rows)


SECTIONS: dict[str, Callable[[], str]] = {
    "bm25": bm25,
    "bounds": bounds,
    "calibration": calibration,
    "commands": commands,
    "draft-fields": draft_fields,
    "error-tree": error_tree,
    "features": features,
    "limits": limits,
    "linear": linear_models,
    "salience": salience_table,
    "names": names,
    **{
        name: partial(model_parameters, name)
        for name in ("activation", "density", "retrievability", "survival")
    },
    "presets": presets,
    "quality-budgets": lambda: measured(quality_tables.by_budget),
    "quality-controls": lambda: measured(quality_tables.controls),
    "quality-costs": lambda: table(*quality_tables.costs(quality_tables.read_result(RESULT))),
    "quality-forgetting": lambda: measured(quality_tables.line_to_rise_from),
    "quality-published": lambda: measured(quality_tables.against_published, "locomo", "beam"),
    "quality-recall": lambda: measured(quality_tables.recall),
    "quality-sets": data_sets,
    "recall-fields": recall_fields,
    "settings": settings,
    "signals": signals,
    "speed-alone": speed_alone,
    "speed-peers": speed_peers,
    "summaries": summaries,
    "verbs": verbs,
}


def filled(page: str) -> str:
    """Write every section of a page anew."""
    return _SECTION.sub(lambda found: f"{found[1]}{SECTIONS[found[2]]()}{found[3]}", page)


def used() -> set[str]:
    """Name the sections that stand in some page."""
    return {
        found[2]
        for path in DOCS.rglob("*.md")
        for found in _SECTION.finditer(path.read_text("utf-8"))
    }


def stale() -> list[Path]:
    """Name the pages that are out of date."""
    pages = ((path, path.read_text("utf-8")) for path in sorted(DOCS.rglob("*.md")))
    return [path for path, page in pages if filled(page) != page]


def main() -> int:
    """Write, or with --check compare."""
    check = "--check" in sys.argv[1:]
    found = stale()
    for path in found:
        sys.stdout.write(f"{'out of date' if check else 'written'}: {path.relative_to(DOCS)}\n")
        if not check:
            path.write_text(filled(path.read_text("utf-8")), "utf-8")
    return 1 if check and found else 0


if __name__ == "__main__":
    sys.exit(main())
