"""What is sensitive in a text: found where it stands, masked, and not seen where it is not."""

from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.sensitive_texts import negatives, positives

from sfams.core.checksums import chinese_identity, iban, luhn
from sfams.core.record import Sensitivity
from sfams.core.sensitivity import Secret, find_sensitive, masked, named, redact
from sfams.testing.builders import make_record

CARD = "4111111111111111"


@pytest.mark.parametrize(("kind", "text", "part"), positives())
def test_a_sensitive_part_is_found_where_it_stands(kind: str, text: str, part: str) -> None:
    found = find_sensitive(text)
    assert [(each.type.value, text[each.start : each.end]) for each in found] == [(kind, part)]


@pytest.mark.parametrize("text", negatives())
def test_what_only_looks_so_is_left_alone(text: str) -> None:
    assert find_sensitive(text) == ()


def test_there_are_enough_labelled_texts_in_both_languages() -> None:
    for texts in ([text for _, text, _ in positives()], negatives()):
        chinese = [text for text in texts if any("\u4e00" <= char <= "\u9fff" for char in text)]
        assert len(texts) >= 60
        assert len(chinese) >= 20
        assert len(texts) - len(chinese) >= 20
    assert {kind for kind, _, _ in positives()} == {each.value for each in Secret}


@pytest.mark.parametrize(("_", "text", "part"), positives())
def test_a_mask_takes_the_place_of_what_it_hides(_: str, text: str, part: str) -> None:
    hidden = redact(text)
    assert part not in hidden
    before, _, after = text.partition(part)
    assert hidden.startswith(before)
    assert hidden.endswith(after)
    assert find_sensitive(hidden) == ()


def test_a_mask_keeps_the_end_of_cards_phones_and_accounts_only() -> None:
    card, phone = "４１１１ １１１１ １１１１ １１１１", "13812345678"
    assert redact(f"卡号{card}，打{phone}") == "卡号[card ****1111]，打[phone ****5678]"
    assert redact("IBAN DE89 3704 0044 0532 0130 00") == "IBAN [account ****3000]"
    assert redact("My password is hunter22.") == "My password is [password]."
    assert redact("身份证11010519491231002X") == "身份证[identity number]"


def test_several_findings_come_in_order_and_apart() -> None:
    text = f"api_key = sk-abcdefghijklmnopqrstuvwx1 and my password is hunter2, card {CARD}"
    found = find_sensitive(text)
    assert [each.type for each in found] == [Secret.KEY, Secret.PASSWORD, Secret.CARD]
    assert all(one.end <= two.start for one, two in pairwise(found))
    assert named(found) == "key, password, card"


def test_a_preview_of_a_sensitive_record_shows_masks_alone() -> None:
    record = make_record(content=f"Mira earns 5000; her card is {CARD}.")
    assert masked(record) == record.content
    sensitive = make_record(content=record.content, sensitivity=Sensitivity.SENSITIVE)
    assert masked(sensitive) == "(sensitive: card ****1111)"
    assert masked(make_record(content="x", sensitivity=Sensitivity.SENSITIVE)) == "(sensitive)"


@pytest.mark.parametrize("digits", [CARD, "378282246310005", "6222020000000000018"])
def test_one_wrong_digit_or_two_changed_places_fail_luhn(digits: str) -> None:
    assert luhn(digits)
    for at in range(len(digits)):
        assert not luhn(digits[:at] + str((int(digits[at]) + 1) % 10) + digits[at + 1 :])


def test_check_characters_of_identity_numbers_and_accounts() -> None:
    assert chinese_identity("11010519491231002X")
    assert chinese_identity("11010519491231002x")
    assert not any(chinese_identity("11010519491231002" + last) for last in "0123456789")
    assert iban("GB82WEST12345698765432")
    assert not iban("GB82WEST12345698765423")
    assert not iban("GB82WEST1234569876543")


@given(st.text(max_size=80))
def test_any_text_can_be_looked_at(text: str) -> None:
    found = find_sensitive(text)
    assert all(0 <= each.start < each.end <= len(text) for each in found)
    assert find_sensitive(redact(text, found)) == () or found


PIECES = st.sampled_from(
    [
        *(
            "4111 1111 1111 1111",
            "13812345678",
            "password is ",
            "hunter2",
            "密码是",
            "验证码",
            "482913",
        ),
        *(
            " ",
            ".",
            "，",
            "\u200b",
            "\n",
            '"',
            "a",
            "11010519491231002X",
            "is your code",
            "OTP: ",
            "@",
        ),
        *(
            "sk-abcdefghijklmnopqrstuvwx1",
            "://a:",
            "DE89370400440532013000",
            "-----BEGIN PRIVATE KEY-----",
        ),
    ]
)


@given(st.lists(PIECES, max_size=8).map("".join))
def test_redacting_ends(text: str) -> None:
    """A mask may bring two parts together that are found only then; after that nothing more is found."""
    twice = redact(redact(text))
    assert redact(twice) == twice


@pytest.mark.parametrize("moment", [datetime(2026, 5, 4, 10, 30, tzinfo=UTC)])
def test_moments_are_not_numbers(moment: datetime) -> None:
    for text in (
        moment.isoformat(),
        str(moment.timestamp()),
        f"{moment:%Y%m%d%H%M%S}",
        f"{moment:%Y%m%d}",
    ):
        assert find_sensitive(text) == ()
