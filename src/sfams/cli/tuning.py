"""tune: fit what the product judges by, on labelled data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option, Typer

from sfams.cli.output import pairs, table
from sfams.cli.progress import bar
from sfams.cli.run import Run, add


def register(app: Typer) -> None:
    """Add the commands."""
    group = Typer(no_args_is_help=True, help="Fit what is judged by, on labelled conversations.")
    add(group, importance, "importance", panel="Recipes")
    app.add_typer(group, name="tune", rich_help_panel="The file")


def importance(
    run: Run,
    datasets: Annotated[
        list[Path],
        Argument(metavar="DATASET...", help="Labelled conversations, in any known form."),
    ],
    ridge: Annotated[
        float | None, Option("--ridge", help="Strength of the ridge; larger trusts the data less.")
    ] = None,
    write: Annotated[
        Path | None,
        Option("--write", metavar="FILE", help="Write them as the module sfams/core/fitted.py."),
    ] = None,
) -> None:
    """Fit the coefficients of salience and importance, and try them on conversations left out.

    Examples:
        sfams tune importance benchmarks/quality/texts
        sfams tune importance my-history.jsonl --ridge 100 --json
    """
    from sfams.lab.datasets import read_dataset
    from sfams.lab.tuning import RIDGE, fit_importance, fits

    read = [read_dataset(path) for path in datasets]
    with bar(run.out, "Fitting", fits(read)) as shown:
        found = fit_importance(read, RIDGE if ridge is None else ridge, shown.advance)
    if write is not None:
        write.write_text(found.module(), encoding="utf-8")
    document = {
        "coefficients": dict(found.coefficients),
        "centre": found.centre,
        "bias": found.bias,
        "importance": found.importance,
        "ridge": found.ridge,
        "texts": found.texts,
        "needed": found.needed,
        "auc": found.ranked,
        "auc_importance_alone": found.ranked_by_importance,
    }
    rows = [(name, f"{value:+.3f}") for name, value in found.coefficients.items()]
    summary = [
        ("centre", f"{found.centre:.3f}"),
        ("bias", f"{found.bias:.3f}"),
        ("importance", f"{found.importance:.3f}"),
        ("texts", f"{found.texts}, {found.needed} of them needed"),
        ("AUC", f"{found.ranked:.3f} on conversations left out"),
        ("", f"{found.ranked_by_importance:.3f} by importance alone"),
    ]
    run.out.result(document, table(["measure", "coefficient"], rows), pairs(summary))
    done = "Nothing was changed; --write FILE writes a module."
    run.out.note(done if write is None else f"Written: {write}")
