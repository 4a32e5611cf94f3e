"""Whom and what a text names, in English and Chinese."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfams.core.entities import MOST, find_entities
from sfams.core.record import Entity
from sfams.core.sensitivity import find_sensitive

NAMED = [
    ("Mira said the demo moves to Friday.", ["person:Mira"]),
    ("I met Anna Berg and Tom in Lisbon yesterday.", [":Anna Berg", ":Tom", ":Lisbon"]),
    ("My sister Clara lives in Porto.", ["person:Clara", ":Porto"]),
    ("Yesterday Dr. Weber called.", ["person:Weber"]),
    ("We signed with Acme Corp. on Monday.", ["org:Acme Corp"]),
    ("The University of Bergen agreed.", ["org:University of Bergen"]),
    ("We asked Nordea Bank.", ["org:Nordea Bank"]),
    ("Tickets TN-88 and JIRA-1234 are open.", ["identifier:TN-88", "identifier:JIRA-1234"]),
    ("Write to alice@example.com or @mira_k.", ["email:alice@example.com", "handle:@mira_k"]),
    ('She reads "The Left Hand of Darkness".', ["title:The Left Hand of Darkness"]),
    ("We store it in PostgreSQL.", ["product:PostgreSQL"]),
    ("我叫李小明，住在北京。", ["person:李小明"]),
    ("同事王芳负责预算。", ["person:王芳"]),
    ("张伟说下周三交报告。", ["person:张伟"]),
    ("小王喜欢喝乌龙茶，老李不吃辣。", ["person:小王", "person:老李"]),
    ("她在北京大学读《红楼梦》。", ["org:北京大学", "title:红楼梦"]),
    ("我们和华为公司签了合同", ["org:华为公司"]),
    ("陈经理同意了。", ["person:陈经理"]),
    ("欧阳娜娜说好。", ["person:欧阳娜娜"]),
    ("请联系 zhang@example.cn", ["email:zhang@example.cn"]),
]
NAMELESS = [
    *("Please always answer in Chinese.", "Thanks, see you on Monday!", "The DECISION is final."),
    *("UTF-8 and SHA-256 are standards.", "Die Straße zum Gasthof ist gesperrt.", "I am fine.", ""),
    *(
        "高兴的事情很多，周末方便吗",
        "会议室在三楼",
        "今天天气真好",
        "马上说",
        "周一会很忙",
        "任务的重点",
    ),
    *(
        "We met on Tuesday in January.",
        "Yes. No. Maybe.",
        "a@b",
        "2026-05-04",
        "https://example.com",
    ),
]


@pytest.mark.parametrize(("text", "names"), NAMED)
def test_names_are_found_with_their_type(text: str, names: list[str]) -> None:
    assert [f"{each.type}:{each.name}" for each in find_entities(text)] == names


@pytest.mark.parametrize("text", NAMELESS)
def test_what_is_no_name_is_none(text: str) -> None:
    assert find_entities(text) == ()


def test_nothing_sensitive_becomes_an_entity() -> None:
    text = "My password is TN-8812 and Mira said AB-77 is open."
    assert find_entities(text, find_sensitive(text)) == (
        Entity("Mira", "person"),
        Entity("AB-77", "identifier"),
    )


def test_two_spellings_are_one_entity_and_the_type_is_kept() -> None:
    assert find_entities("I saw Mira today. Mira said hi, MIRA-1.") == (
        Entity("Mira", "person"),
        Entity("MIRA-1", "identifier"),
    )


def test_a_list_of_names_is_cut() -> None:
    assert len(find_entities(" ".join(f"TN-{at}" for at in range(100)))) == MOST


@given(st.text(max_size=80) | st.text('王李说会公司《》"@A-a 1.', max_size=40))
def test_any_text_can_be_read(text: str) -> None:
    for each in find_entities(text):
        assert each.name.strip()
        assert each.name in text
