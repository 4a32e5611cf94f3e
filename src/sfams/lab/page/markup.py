"""Elements as values: a tree that is written out once, with every text escaped."""

from __future__ import annotations

from xml.etree import ElementTree as ET

Element = ET.Element
Child = Element | str | None
Attributes = dict[str, str | float | int | None]


def el(tag: str, attributes: Attributes | None = None, *children: Child) -> Element:
    """Build an element; attributes and children of None are left out."""
    given = {n: _text(v) for n, v in (attributes or {}).items() if v is not None}
    made = Element(tag, given)
    for child in children:
        append(made, child)
    return made


def append(parent: Element, child: Child) -> None:
    """Add an element or a text behind what an element has."""
    if child is None:
        return
    if not isinstance(child, str):
        parent.append(child)
    elif len(parent):
        last = parent[-1]
        last.tail = (last.tail or "") + child
    else:
        parent.text = (parent.text or "") + child


def written(document: Element) -> str:
    """Write a document as HTML."""
    return "<!doctype html>\n" + ET.tostring(document, encoding="unicode", method="html") + "\n"


def _text(value: str | float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
