"""Dated lines are messages, whoever speaks and however often; a grown file adds what is new."""

from __future__ import annotations

import pytest

from sfams.bridges.chatlog import read_chatlog

THREE = {
    "bracketed": ["[2026-03-02 09:14] Mira: hi all", "[2026-03-02 09:15] Jun: the code is 4417",
                  "[2026-03-02 09:16] Tom: ok", "[2026-03-02 09:17] Mira: bye"],
    "bare": ["2026-03-02 09:14 Mira: hi all", "2026-03-02 09:15 Jun: the code is 4417",
             "2026-03-02 09:16 Tom: ok", "2026-03-02 09:17 Mira: bye"],
    "chinese": ["[2026/3/2 下午1:56] 李伟：大家好", "[2026/3/2 下午1:57] 陈静：密码是4417",
                "[2026/3/2 下午1:58] Tom：好", "[2026/3/2 下午1:59] 李伟：再见"],
}  # fmt: skip


@pytest.mark.parametrize("name", THREE)
def test_three_people_who_speak_once_each(name: str) -> None:
    lines = THREE[name]
    before = read_chatlog("\n".join(lines[:3]).encode(), name="gr.txt").drafts
    after = read_chatlog("\n".join(lines).encode(), name="gr.txt").drafts
    assert len(before) == 3
    assert len({draft.source.who for draft in before}) == 3
    assert [draft.key for draft in after[:3]] == [draft.key for draft in before]
    assert len(after) == 4
