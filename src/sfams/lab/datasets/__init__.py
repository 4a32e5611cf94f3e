"""Data sets by path: what kind one is, is told by its form. Nothing is shipped, nothing is fetched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from sfams.errors import InvalidInputError
from sfams.lab.datasets.beam import read_beam
from sfams.lab.datasets.jsonl import read_jsonl
from sfams.lab.datasets.locomo import read_locomo
from sfams.lab.datasets.longmemeval import read_longmemeval
from sfams.lab.datasets.memdaily import read_memdaily
from sfams.lab.datasets.reading import read_json, refuse
from sfams.lab.datasets.values import Dataset

READERS: Mapping[str, Callable[[Path], Dataset]] = {
    "locomo": read_locomo,
    "locomo-original": lambda path: read_locomo(path, audited=False),
    "beam": read_beam,
    "beam-mixed": lambda path: read_beam(path, mixed=True),
    "longmemeval": read_longmemeval,
    "memdaily": read_memdaily,
    "jsonl": read_jsonl,
}
"""How to read a data set, by the name of its format."""


def read_dataset(path: Path, form: str | None = None) -> Dataset:
    """Read a data set; without a `form` (see `READERS`) its form is found out.

    Raises:
        InvalidInputError: There is nothing at the path, the form is unknown or cannot be told, or
            the data is not in it.
    """
    if form is not None and form not in READERS:
        message = f"format: {form[:40]!r} is unknown; there is {', '.join(READERS)}"
        raise InvalidInputError(message, field="format")
    if not path.exists():
        refuse(path, "there is no such file or folder")
    return READERS[form or detect(path)](path)


def detect(path: Path) -> str:
    """Tell the form of a data set from its files.

    Raises:
        InvalidInputError: It is none that is known.
    """
    found = _in_folder(path) if path.is_dir() else _in_file(path)
    if found is None:
        refuse(path, f"in no known form; name it with --format: {', '.join(READERS)}")
    return found


def _in_folder(path: Path) -> str | None:
    if any(path.glob("*/probing_questions.json")):
        return "beam"
    return "jsonl" if any(path.glob("*.jsonl")) else None


def _in_file(path: Path) -> str | None:
    if path.suffix == ".jsonl":
        return "jsonl"
    found = read_json(path)
    if isinstance(found, dict):
        return "memdaily"
    first = found[0] if isinstance(found, list) and found else None
    names = {"haystack_sessions": "longmemeval", "conversation": "locomo"}
    keys = first if isinstance(first, dict) else {}
    return next((name for key, name in names.items() if key in keys), None)
