"""Entities of a text are stored where the caller gave none."""

from __future__ import annotations

from dataclasses import replace

from sfams.core.record import Entity
from sfams.service.engine import Reading
from sfams.service.memory import Memory

MIRA, WANG = "Mira said the demo moves.", "同事王芳负责预算。"


def names(memory: Memory, text: str, **fields: list[str]) -> list[str]:
    record = memory.get(memory.remember(text, **fields).id)  # type: ignore[arg-type]
    return [each.name for each in record.entities]


def test_a_text_brings_its_own_entities(memory: Memory) -> None:
    assert names(memory, MIRA) == ["Mira"]
    assert names(memory, WANG) == ["王芳"]
    assert {(each.name, each.type) for each in memory.entities()} == {
        ("Mira", "person"),
        ("王芳", "person"),
    }
    assert [record.content for record in memory.list(entities=["王芳"])] == [WANG]


def test_what_the_caller_names_stands_alone(memory: Memory) -> None:
    assert names(memory, MIRA, entities=["project:Apollo"]) == ["Apollo"]


def test_entities_make_nothing_a_duplicate_and_supersede_nothing(memory: Memory) -> None:
    results = memory.remember_many([MIRA, "Mira said it is off.", "Mira likes tea."])
    assert [result.outcome.value for result in results] == ["new"] * 3
    assert not any(result.superseded for result in results)


def test_erasing_by_name_reaches_them(memory: Memory) -> None:
    memory.remember_many([MIRA, WANG, "Write to mira@example.com."])
    assert len(memory.erase(entities=["Mira"]).ids) == 1
    assert [record.content for record in memory.list(descending=False)] == [
        WANG,
        "Write to mira@example.com.",
    ]


def test_a_new_text_brings_new_ones_unless_the_caller_gave_them(memory: Memory) -> None:
    told, given = memory.remember(MIRA), memory.remember("Tea.", entities=["Leo"])
    assert memory.update(told.id, content=WANG).entities == (Entity("王芳", "person"),)
    assert memory.update(told.id, content="Nobody came.").entities == ()
    assert memory.update(given.id, content=MIRA + "!").entities == (Entity("Leo"),)


def test_it_can_be_turned_off(memory: Memory) -> None:
    memory._engine = replace(memory._engine, reading=Reading(entities=False))
    assert names(memory, MIRA) == []
