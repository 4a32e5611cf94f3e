"""A made-up labelled history, in English and Chinese, long enough for a budget to matter."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sfams.lab.datasets.values import Conversation, GoldQuestion, Unit, UnitLabel

START = datetime(2025, 3, 4, 18, 20, tzinfo=UTC)
CITIES = ("Porto", "Lisbon", "Bergen", "Turin", "Graz", "Lyon", "Ghent", "Malmö")
THINGS = ("bicycle", "piano", "kayak", "telescope", "sewing machine", "camera")
CHINESE = ("我对花生过敏。", "下周三下午三点开会。", "她喜欢喝乌龙茶。", "哈哈好的")


def conversation(units: int = 60, name: str = "made-up") -> Conversation:
    """Facts, small talk and updates in turn; a question for every fact."""
    told, labels, questions = [], {}, []
    for number in range(units):
        text, noise = _text(number)
        unit = Unit(
            id=f"u{number:03}",
            session=f"s{number // 10}",
            turn=number % 10 + 1,
            at=START + timedelta(hours=7 * number),
            who=("Mia", "Leo")[number % 2],
            role="user",
            text=text,
        )
        told.append(unit)
        labels[unit.id] = UnitLabel(noise="small_talk" if noise else None)
        if not noise:
            stale = (f"u{number - 12:03}",) if number % 12 == 0 and number >= 12 else ()
            questions.append(
                GoldQuestion(
                    id=f"q{number:03}",
                    text=f"Which thing number {number} was talked about back then?",
                    category="update" if stale else "single",
                    evidence=(unit.id,),
                    stale=stale,
                )
            )
    return Conversation(
        id=name, units=tuple(told), questions=tuple(questions), labels=labels, language="en"
    )


def _text(number: int) -> tuple[str, bool]:
    if number % 5 == 3:
        return f"Haha, nice! {number}", True
    if number % 5 == 4:
        return f"{CHINESE[number % 4]}（{number}）", False
    city, thing = CITIES[number % 8], THINGS[number % 6]
    more = f" She promised to send photos on day {number}." if number % 2 else ""
    return f"My aunt in {city} sold her {thing} number {number} to a neighbour.{more}", False


def write_jsonl(path: Path, *conversations: Conversation) -> Path:
    """Write conversations in our own format."""
    lines: list[dict[str, Any]] = []
    for each in conversations:
        lines.append({"type": "conversation", "id": each.id, "language": each.language})
        for unit in each.units:
            label = each.labels.get(unit.id, UnitLabel())
            lines.append(
                {
                    "type": "unit",
                    "id": unit.id,
                    "session": unit.session,
                    "turn": unit.turn,
                    "at": unit.at.isoformat(),
                    "who": unit.who,
                    "text": unit.text,
                    "noise": label.noise,
                }
            )
        lines += [
            {
                "type": "question",
                "id": asked.id,
                "text": asked.text,
                "category": asked.category,
                "evidence": list(asked.evidence),
                "stale": list(asked.stale),
            }
            for asked in each.questions
        ]
    path.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in lines), "utf-8")
    return path
