"""Fill in what the pages repeat from the code, between `<!-- begin: name -->` and `<!-- end -->`.

`python docs/generate.py` writes the sections anew; with `--check` it only names the pages that are
out of date and ends with exit code 1.
"""  # noqa: INP001  a script beside the pages, no package

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from generating import commands, library, markdown, measurements, numbers, policies

from sfams.lab import quality_tables

DOCS = Path(__file__).parent
_SECTION = re.compile(r"(<!-- begin: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)

SECTIONS: dict[str, Callable[[], str]] = {
    "bm25": numbers.bm25,
    "bounds": numbers.bounds,
    "calibration": numbers.calibration,
    "commands": commands.commands,
    "draft-fields": library.draft_fields,
    "error-tree": library.error_tree,
    "features": numbers.features,
    "limits": numbers.limits,
    "linear": policies.linear_models,
    "salience": policies.salience_table,
    "names": library.names,
    **{
        name: partial(policies.model_parameters, name)
        for name in ("activation", "density", "retrievability", "survival")
    },
    "presets": policies.presets,
    "quality-budgets": lambda: measurements.measured(quality_tables.by_budget),
    "quality-controls": lambda: measurements.measured(quality_tables.controls),
    "quality-costs": lambda: markdown.table(
        *quality_tables.costs(quality_tables.read_result(measurements.RESULT))
    ),
    "quality-forgetting": lambda: measurements.measured(quality_tables.line_to_rise_from),
    "quality-published": lambda: measurements.measured(
        quality_tables.against_published, "locomo", "beam"
    ),
    "quality-recall": lambda: measurements.measured(quality_tables.recall),
    "quality-sets": measurements.data_sets,
    "recall-fields": library.recall_fields,
    "settings": library.settings,
    "signals": numbers.signals,
    "speed-alone": measurements.speed_alone,
    "speed-peers": measurements.speed_peers,
    "summaries": measurements.summaries,
    "verbs": library.verbs,
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
