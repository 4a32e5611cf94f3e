"""The reference names all there is: a name that the code gains and the page lacks fails here."""

from __future__ import annotations

import dataclasses
import inspect
import re
import runpy
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest
import typer

import sfams
from sfams import errors
from sfams.cli.app import app
from sfams.cli.exits import EXIT_CODES, UNEXPECTED
from sfams.core.admission import Outcome
from sfams.core.cues import FEATURES
from sfams.core.draft import DraftFields
from sfams.core.events import Actor, EventType, MemoryEvent
from sfams.core.plan import Reason
from sfams.core.presets import PRESETS
from sfams.core.query import Mode
from sfams.core.weights import RankingWeights
from sfams.service import results
from sfams.service.recalling import RecallFields
from sfams.service.results import Fate
from sfams.settings import Settings

DOCS = Path(__file__).parents[2] / "docs"
GENERATED = runpy.run_path(str(DOCS / "generate.py"))


def read(page: str) -> str:
    return (DOCS / page).read_text("utf-8")


def first_cells(page: str) -> set[str]:
    """What stands as code in the first cell of the rows of a page's tables."""
    rows: list[str] = re.findall(r"^\| (`.+?) \|", read(page), re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


def missing(page: str, names: Iterable[str]) -> list[str]:
    return sorted(set(names) - first_cells(page))


def field_names(value: type) -> set[str]:
    assert dataclasses.is_dataclass(value)
    return {each.name for each in dataclasses.fields(value)}


# ── What is written from the code ────────────────────────────────────────────────────────────────


def test_the_generated_sections_are_up_to_date() -> None:
    stale = [path.relative_to(DOCS).as_posix() for path in GENERATED["stale"]()]
    assert stale == [], "run: python docs/generate.py"


def test_every_section_stands_on_a_page() -> None:
    assert GENERATED["used"]() == GENERATED["SECTIONS"].keys()


def test_the_check_sees_a_difference() -> None:
    page = "<!-- begin: settings -->\n| old |\n<!-- end -->\n"
    assert "| old |" not in GENERATED["filled"](page)
    assert "`SFAMS_DB`" in GENERATED["filled"](page)


# ── The command line ─────────────────────────────────────────────────────────────────────────────

GROUP: Any = typer.main.get_command(app)
COMMANDS: dict[str, Any] = dict(GENERATED["commands"].listed(GROUP))
UNSAID = {"--install-completion", "--show-completion", "--help", "-h"}


def section(command: str) -> str:
    return read("reference/cli.md").partition(f"\n### {command}\n")[2].partition("\n### ")[0]


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_the_command_and_its_options_are_named(command: str) -> None:
    text = section(command)
    assert f"`sfams {command}" in text
    shared = section("Everywhere")
    if "(#which-memories)" in text:
        shared += section("Which memories")
    options = {name for each in COMMANDS[command].params for name in each.opts}
    named = {name for name in options if f"`{name}`" in text or f"`{name}`" in shared}
    assert {name for name in options - UNSAID - named if name.startswith("-")} == set()


def test_no_command_is_invented() -> None:
    headings = set(re.findall(r"^### (.+)$", read("reference/cli.md"), re.MULTILINE))
    assert headings - COMMANDS.keys() == {"Everywhere", "Which memories"}


# ── Python ───────────────────────────────────────────────────────────────────────────────────────


def test_every_verb_is_listed() -> None:
    verbs = {
        name
        for name, each in inspect.getmembers(sfams.Memory, inspect.isfunction)
        if not name.startswith("_")
    }
    calls = {cell.partition("(")[0] for cell in first_cells("reference/python.md")}
    assert verbs - calls == set()


@pytest.mark.parametrize("fields", [DraftFields, RecallFields], ids=lambda each: each.__name__)
def test_every_field_of_a_verb_is_listed(fields: type) -> None:
    assert missing("reference/python.md", fields.__annotations__) == []


def test_every_public_name_is_listed() -> None:
    assert missing("reference/python.md", sfams.__all__) == []


def test_what_the_verbs_answer_is_there() -> None:
    """An attribute that the page names is one, whether a field or a property."""
    text = (
        read("reference/python.md").partition("## What the verbs answer")[2].partition("\n## ")[0]
    )
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", text, re.MULTILINE)
    assert len(rows) > 5
    for name, cell in rows:
        value = getattr(sfams, name, None) or getattr(results, name)
        known = field_names(value) | {each for each in dir(value) if not each.startswith("_")}
        known |= field_names(sfams.Hit) | {"Hit"} if name == "RecallResult" else set()
        assert {each.partition("(")[0] for each in re.findall(r"`([^`]+)`", cell)} <= known, name


# ── Settings, errors, values ─────────────────────────────────────────────────────────────────────


def test_every_setting_is_listed() -> None:
    assert missing("reference/settings.md", Settings.model_fields) == []


ERRORS = [
    each
    for each in vars(errors).values()
    if inspect.isclass(each) and issubclass(each, errors.SfamsError)
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda each: each.__name__)
def test_every_error_is_named_with_its_exit_code(error: type[errors.SfamsError]) -> None:
    code = next((code for kind, code in EXIT_CODES if issubclass(error, kind)), UNEXPECTED)
    assert f"| `{error.__name__}` | {code} |" in read("reference/errors.md")
    assert f"\n| {code} |" in read("reference/errors.md")


def test_every_error_can_be_imported_from_the_package() -> None:
    assert [each.__name__ for each in ERRORS if not hasattr(sfams, each.__name__)] == []


def test_every_field_of_a_record_is_explained() -> None:
    assert missing("reference/record.md", field_names(sfams.MemoryRecord)) == []


def test_every_field_of_an_event_is_explained() -> None:
    assert missing("reference/events.md", field_names(MemoryEvent)) == []


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("reference/events.md", EventType),
        ("reference/events.md", Actor),
        ("reference/record.md", sfams.Status),
        ("explanation/admission.md", Outcome),
        ("explanation/recall.md", Mode),
    ],
    ids=lambda each: each.__name__ if isinstance(each, type) else each,
)
def test_every_word_has_a_row(page: str, words: type[StrEnum]) -> None:
    assert missing(page, words) == []


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("reference/record.md", sfams.Kind),
        ("explanation/forgetting.md", Reason),
        ("explanation/forgetting.md", PRESETS),
    ],
    ids=["kinds", "reasons", "presets"],
)
def test_every_word_is_named(page: str, words: Iterable[str]) -> None:
    assert [word for word in words if f"`{word}`" not in read(page)] == []


def test_every_fate_is_explained() -> None:
    page = read("how-to/undo-and-explain.md")
    assert [fate for fate in Fate if f"| {fate.value} |" not in page] == []


def test_every_signal_has_its_weight() -> None:
    assert missing("explanation/recall.md", field_names(RankingWeights)) == []


def test_every_feature_has_its_coefficient() -> None:
    page = read("explanation/importance.md")
    rows = [f"| {each.name} | {each.coefficient:+.2f} |" for each in FEATURES]
    assert [row for row in rows if row not in page] == []


def test_the_classic_numbers_are_the_ones_of_the_code() -> None:
    """0.5, 0.3 and 0.2, 30 days, 10 accesses and a tenth: what the page spells out."""
    policy = sfams.preset("classic")
    model = policy.model
    assert isinstance(model, sfams.Linear)
    assert (model.alpha, model.gamma, model.beta, model.delta) == (0.5, 0.3, 0.2, 0.0)
    assert (model.recency, model.recency_days, model.n_sat) == ("linear", 30.0, 10.0)
    assert (policy.share, policy.share_action) == (0.1, sfams.Action.DELETE)
