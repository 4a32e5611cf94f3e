"""Links inside the repository lead somewhere, and every page can be reached from the index."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INDEX = ROOT / "docs" / "index.md"
PAGES = (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")))

CODE = re.compile(r"^(`{3,}|~{3,}).*?^\1$|`[^`\n]+`", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:")


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """Give the page and anchor of each link that stays inside the repository."""
    for target in LINK.findall(CODE.sub("", page.read_text("utf-8"))):
        if not SCHEME.match(target):
            path, _, anchor = target.partition("#")
            yield (page.parent / path).resolve() if path else page, anchor


def anchors(page: Path) -> set[str]:
    """Give the anchors of a page's headings, as they are made from their text."""
    text = re.sub(
        r"^(`{3,}|~{3,}).*?^\1$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    titles = re.findall(r"^#{1,6} (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_links_of_the_page_resolve(page: Path) -> None:
    broken = [
        f"{path}#{anchor}" if anchor else str(path)
        for path, anchor in links(page)
        if not path.exists() or (anchor and anchor not in anchors(path))
    ]
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_links_of_the_page_stay_inside(page: Path) -> None:
    """A relative link out of the repository works on one machine only."""
    assert [str(path) for path, _ in links(page) if not path.is_relative_to(ROOT)] == []


def test_the_index_names_every_page() -> None:
    listed = {path for path, _ in links(INDEX)}
    pages = {page for page in PAGES if page.is_relative_to(INDEX.parent)} - {INDEX}
    assert {name(page) for page in pages - listed} == set()


def test_there_are_links() -> None:
    assert sum(1 for page in PAGES for _ in links(page)) > 50
