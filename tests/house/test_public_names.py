"""What `import sfams` offers is small, sorted, importable and documented."""

import inspect
from types import ModuleType

import sfams

MOST_NAMES = 45


def order(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions, each by the alphabet: the order that ruff keeps."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name.lower()


def documented(thing: object) -> bool:
    """Whether it has a docstring of its own, not an inherited or a generated one."""
    if not inspect.isclass(thing):
        return bool(inspect.getdoc(thing))
    text = inspect.cleandoc(vars(thing).get("__doc__") or "")
    return bool(text) and not text.startswith(f"{thing.__name__}(")


def test_the_public_names_are_few_sorted_and_unique() -> None:
    names = list(sfams.__all__)
    assert names == sorted(set(names), key=order)
    assert len(names) <= MOST_NAMES


def test_every_public_name_can_be_imported_and_is_documented() -> None:
    assert [name for name in sfams.__all__ if not hasattr(sfams, name)] == []
    assert [name for name in sfams.__all__ if not documented(getattr(sfams, name))] == []


def test_nothing_else_is_public() -> None:
    others = {
        name
        for name, value in vars(sfams).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    }
    assert others - set(sfams.__all__) == set()
