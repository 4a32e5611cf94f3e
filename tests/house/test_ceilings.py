"""Good and bad code have the same median; they differ in the tail, so the tail has ceilings."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src" / "sfams").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

MODULE_LINES = 400
TEST_MODULE_LINES = 500
FUNCTION_LINES = 50
PARAMETERS = 6

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions() -> Iterator[tuple[str, Function]]:
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, Function):
                yield f"{place(path)}:{node.lineno} {node.name}", node


def place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def height(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def lines_of(function: Function) -> int:
    """Lines from `def` to the last statement, without the docstring."""
    documented = ast.get_docstring(function, clean=False) is not None
    return height(function) - (height(function.body[0]) if documented else 0)


def parameters_of(function: Function) -> int:
    """Named parameters without self and cls; `*args` and `**fields` do not count."""
    given = function.args
    names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def module_lines(paths: list[Path]) -> dict[str, int]:
    return {place(path): len(path.read_text("utf-8").splitlines()) for path in paths}


def above(ceiling: int, measured: dict[str, int]) -> dict[str, int]:
    return {name: value for name, value in measured.items() if value > ceiling}


def test_there_is_something_to_measure() -> None:
    assert SOURCES
    assert TESTS


def test_no_module_is_too_long() -> None:
    assert above(MODULE_LINES, module_lines(SOURCES)) == {}


def test_no_test_module_is_too_long() -> None:
    assert above(TEST_MODULE_LINES, module_lines(TESTS)) == {}


def test_no_function_is_too_long() -> None:
    assert above(FUNCTION_LINES, {name: lines_of(node) for name, node in functions()}) == {}


def test_no_function_takes_too_many_parameters() -> None:
    assert above(PARAMETERS, {name: parameters_of(node) for name, node in functions()}) == {}


def test_the_measures_measure() -> None:
    head = "def f(self, a, /, b, *args, c=1, **fields):"
    function = ast.parse(f"{head}\n    'A docstring' \\\n    'of two lines.'\n    return a\n").body[
        0
    ]
    assert isinstance(function, Function)
    assert lines_of(function) == 2
    assert parameters_of(function) == 3
