"""Every Python block of the documentation runs, and prints what the page says it prints."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
READMES = (ROOT / "README.md", ROOT / "README.zh-CN.md")
# The blocks of a decision record show what was weighed, not what is there.
DOCS = tuple(p for p in sorted((ROOT / "docs").rglob("*.md")) if p.parent.name != "adr")

EXCUSED: tuple[str, ...] = ()
"""Pages with a block that cannot run here, marked `<!-- no-run -->`; one entry per block."""

FENCE = re.compile(r"(?P<fence>`{3,}|~{3,})(?P<info>[^`]*)")
MARK = re.compile(r"<!-- (?P<mark>no-run|output)\b.*-->")


@dataclass(frozen=True)
class Block:
    """A fenced block: the line where its text begins, its language, the mark above it, its text."""

    line: int
    language: str
    mark: str
    text: str


def read_blocks(page: str) -> Iterator[Block]:
    lines = page.splitlines()
    mark, at = "", 0
    while at < len(lines):
        line = lines[at].strip()
        if found := FENCE.fullmatch(line):
            end = lines.index(found["fence"], at + 1)
            text = "".join(f"{each}\n" for each in lines[at + 1 : end])
            yield Block(at + 2, found["info"].strip(), mark, text)
            mark, at = "", end
        elif line:
            marked = MARK.fullmatch(line)
            mark = marked["mark"] if marked else ""
        at += 1


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


BLOCKS = {page: list(read_blocks(page.read_text("utf-8"))) for page in (*READMES, *DOCS)}
PYTHON = {
    page: [each for each in blocks if each.language == "python"] for page, blocks in BLOCKS.items()
}


@pytest.mark.parametrize("page", [page for page, blocks in PYTHON.items() if blocks], ids=name)
def test_the_blocks_of_the_page_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In order, in one namespace, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    printed = ""
    for block in BLOCKS[page]:
        if block.language == "python" and block.mark != "no-run":
            printed = run(page, block, namespace)
        elif block.mark == "output":
            assert printed == block.text, f"{name(page)}:{block.line} prints something else"


def run(page: Path, block: Block, namespace: dict[str, Any]) -> str:
    # The blank lines in front give tracebacks the line numbers of the page.
    code = compile("\n" * (block.line - 1) + block.text, str(page), "exec", dont_inherit=True)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, namespace)
    return printed.getvalue()


def test_there_are_blocks_to_run() -> None:
    assert all(PYTHON[page] for page in READMES)
    assert sum(map(len, PYTHON.values())) > 30


def test_hardly_a_block_is_excused() -> None:
    excused = [name(page) for page, blocks in PYTHON.items() for b in blocks if b.mark == "no-run"]
    assert tuple(excused) == EXCUSED


def test_an_output_follows_a_block() -> None:
    stray = []
    for page, blocks in BLOCKS.items():
        before = ["", *(block.language for block in blocks)]
        stray += [
            f"{name(page)}:{block.line}"
            for block, language in zip(blocks, before, strict=False)
            if block.mark == "output" and language != "python"
        ]
    assert stray == []


def test_the_reader_reads() -> None:
    page = "a\n\n```python\nx = 1\n```\n\n<!-- output -->\n```text\n1\n```\n\n~~~\n```python\n~~~\n"
    assert list(read_blocks(page)) == [
        Block(4, "python", "", "x = 1\n"),
        Block(9, "text", "output", "1\n"),
        Block(13, "", "", "```python\n"),
    ]
