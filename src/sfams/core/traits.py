"""The table of traits: what a style counts, one row a trait.

Words are compared by their stems, pairs as they are. Chinese cues are runs of characters, looked for in
one pass; the longest counts. `new name` is a name whose word was not in the memory before.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Trait:
    """Something that a text has or has not: a word, a pair of words, a cue, or a pattern as written."""

    name: str
    words: str = ""
    pairs: str = ""
    chinese: str = ""
    pattern: str = ""


TRAITS: Final = (
    Trait("question", pattern=r"[?？]|[吗呢么]\s*$"),
    Trait(
        "request",
        chinese="帮我|能不能|可不可以|怎么办|请你|帮忙",
        pairs="can you|could you|would you|will you|help me|any tips|any advice|any idea|"
        "any ideas|any suggestions|how do|how can|how should|how would|what do|what can|what should|"
        "what would",
    ),
    Trait(
        "reaction",
        pattern=r"(?i)^\W*(?:thanks?|thx|wow|cool|great|awesome|nice|sounds?|that(?:'s| is| sounds)|yeah|"
        r"yes|yep|haha|lol|congrats?|congratulations|sure|ok|okay|hmm|hey|hi|hello|oh|aw+|got it|yup|"
        r"definitely|absolutely|no (?:problem|worries)|totally)\b|"
        r"^\W*(?:谢|哈|好|嗯|哇|是啊|是的|对|太|嘿|收到|真|没事|不客气|哦|噢|行)",
    ),
    Trait(
        "myself", "i i'm i've i'd i'll me my mine we we're we've we'll us our", chinese="我|咱|俺"
    ),
    Trait(
        "event",
        "went got took made met bought start finish join sign moved won lost saw read visit received "
        "complete attend decide agree planned booked learn tried found built added update change switch "
        "install used",
        chinese="了|过",
    ),
    Trait(
        "time",
        "yesterday today tomorrow last next ago since week month year weekend monday tuesday wednesday "
        "thursday friday saturday sunday january february march april june july august september october "
        "november december morning night tonight evening",
        chinese="昨|今天|明天|后天|下周|上周|这周|周一|周二|周三|周四|周五|周六|周日|星期|月|号|年|早上|晚上|下午|上午",
    ),
    Trait("others", "he she they his her him their them hers", chinese="他|她"),
    Trait(
        "family",
        "son daughter kid child children wife husband partner mom mum mother dad father parent sister "
        "brother grandma grandpa grandmother grandfather family friend dog cat boss team colleague "
        "girlfriend boyfriend aunt uncle",
        chinese="妈|爸|女儿|儿子|老婆|老公|妻子|丈夫|姐|妹|哥|弟|爷爷|奶奶|外婆|外公|朋友|同事|老板|邻居|家里",
    ),
    Trait(
        "circumstance",
        "name call because favorite favourite prefer always never allergic born job work school house car "
        "doctor project deadline meeting budget",
        chinese="叫|因为|喜欢|从不|一直|过敏|工作|学校|房子|车|医生|项目|截止|会议|预算",
    ),
    Trait(
        "negation",
        "not never no don't doesn't didn't can't won't isn't aren't wasn't without cannot haven't hasn't",
        chinese="不|没|别|未",
    ),
    Trait("name", pattern=r"(?<=[a-z0-9,;:'\")] )(?!I\b)[A-Z][\w'\u2019-]+|《"),
    Trait("new name"),
)
"""What a style counts, in the order in which it is stored: new ones go to the end."""
