"""Sentences to measure a model's calibration on: a question fits the statement beside it alone."""

from __future__ import annotations

from typing import Final

_TOPICS: Final = (
    ("When does the ferry to the island leave?", "The last boat sails at a quarter past six."),
    ("Which language is the parser written in?", "We rewrote the tokeniser in Rust last spring."),
    ("What is Ana allergic to?", "Shellfish gives her a rash within minutes."),
    ("How much is the monthly rent?", "The landlord asks for eleven hundred euros."),
    ("Who plays the organ on Sundays?", "Mr. Brandt has been our musician since 1998."),
    ("Where is the spare key?", "It hangs behind the boiler in the cellar."),
    ("年会在哪个城市举行？", "今年大家要去成都聚会。"),
    ("服务器为什么会重启？", "内存泄漏让进程每晚被系统杀掉。"),
    ("小猫多大了？", "我们家的橘猫刚满三个月。"),
    ("他喜欢喝什么茶？", "爷爷每天早上泡一壶铁观音。"),
    ("合同什么时候到期？", "租约签到明年六月三十号。"),
    ("周末爬哪座山？", "我们打算去黄山看日出。"),
)

QUESTIONS: Final = tuple(question for question, _ in _TOPICS)
STATEMENTS: Final = tuple(statement for _, statement in _TOPICS)
