"""The reference of the library: verbs, names, fields, settings and errors."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from itertools import pairwise

import sfams
from generating.markdown import Row, code, first_sentence, table
from sfams import errors
from sfams.cli.exits import EXIT_CODES, UNEXPECTED
from sfams.core import draft
from sfams.core.selecting import FilterFields
from sfams.service import recalling
from sfams.settings import PREFIX, Settings


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
