"""The repository stands by itself: no trace of one machine, pinned tools, the papers in place."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAPERS = (
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    ".editorconfig",
    ".gitignore",
    "docs/adr/0000-template.md",
)
PINNED = sorted((ROOT / "requirements").glob("*.txt"))

# In pieces, so that this file does not hold what it looks for.
REGISTRIES = (
    "pypi" + r"\.org",
    "python" + r"hosted\.org",
    "npmjs" + r"\.(org|com)",
    "deb" + r"ian\.org",
    "golang" + r"\.org",
    "crates" + r"\.io",
)
MACHINES = tuple(
    rf"(^|[^A-Za-z0-9_.~/-]){top}"
    for top in ("/ro" + "ot/", "/wo" + "rk/", "/ho" + "me/", "/Us" + "ers/")
)


def trespasses(patterns: tuple[str, ...]) -> list[str]:
    """Lines of the checkout's text files, committed or about to be, that match a pattern."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    expressions = [part for pattern in patterns for part in ("-e", pattern)]
    done = subprocess.run(
        [git, "-C", str(ROOT), "grep", "--untracked", "-nIE", *expressions],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in {0, 1}, done.stderr
    return done.stdout.splitlines()


def requirements(path: Path) -> list[str]:
    """One entry per requirement, its hashes with it."""
    lines = [
        line for line in path.read_text("utf-8").splitlines() if not line.lstrip().startswith("#")
    ]
    return "\n".join(lines).replace("\\\n", " ").splitlines()


def project_names(path: Path) -> set[str]:
    return {canonical(re.split(r"==", entry)[0]) for entry in requirements(path)}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def test_no_registry_is_named() -> None:
    assert trespasses(REGISTRIES) == []


def test_no_machine_path_is_named() -> None:
    assert trespasses(MACHINES) == []


@pytest.mark.parametrize("paper", PAPERS)
def test_the_paper_exists(paper: str) -> None:
    assert (ROOT / paper).read_text("utf-8").strip()


def test_the_licence_is_the_one_declared() -> None:
    assert "Apache License" in (ROOT / "LICENSE").read_text("utf-8")
    assert project()["license"] == "Apache-2.0"


@pytest.mark.parametrize("command", ["make demo", "make test"])
def test_the_readme_names_the_command(command: str) -> None:
    assert command in (ROOT / "README.md").read_text("utf-8")


def test_there_are_pinned_requirements() -> None:
    assert {path.name for path in PINNED} >= {"base.txt", "dev.txt"}


@pytest.mark.parametrize("path", PINNED, ids=lambda path: path.name)
def test_every_requirement_is_pinned_by_hash(path: Path) -> None:
    whole = re.compile(r"[\w.-]+==\S+( ; .*?)?( +--hash=sha256:[0-9a-f]{64})+ *")
    assert [entry for entry in requirements(path) if not whole.fullmatch(entry)] == []


@pytest.mark.parametrize("path", PINNED, ids=lambda path: path.name)
def test_no_index_is_named(path: Path) -> None:
    assert not re.search(
        r"--(extra-)?index-url|--find-links|--trusted-host|://", path.read_text("utf-8")
    )


def test_what_the_project_needs_is_pinned() -> None:
    needed = {canonical(re.split(r"[<>=!~;\[ ]", each)[0]) for each in project()["dependencies"]}
    assert needed - project_names(ROOT / "requirements" / "base.txt") == set()


def project() -> dict[str, Any]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        table: dict[str, Any] = tomllib.load(file)["project"]
    return table
