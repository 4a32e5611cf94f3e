"""The table of the content prior: what makes a text worth remembering, and how much it counts.

Set by hand from what the features mean, fitted to no data set; a step of 0.4 is about a tenth of
importance in the middle. A refit replaces the coefficients and leaves the rest. Cues are English
and Chinese: in other languages only numbers, names and codes speak, and the prior stays near its
middle.
"""

from dataclasses import dataclass
from typing import Final

from sfams.core.record import Kind
from sfams.core.scripts import CJK


@dataclass(frozen=True, slots=True)
class Feature:
    """One row of the model: its coefficient, the kind it speaks for, and what makes it fire.

    Cues are words or phrases, compared by their stems ("decide" is also "decided"), or runs of
    Chinese characters; `|` stands between them. The pattern is searched in the text in lower case,
    or, where capitals matter, as it was written; it starts with a set of characters where it can,
    because `re` skips fast to those. A row with neither cues nor pattern is a matter of counting
    words, and `importance` knows it by name.
    """

    name: str
    coefficient: float
    kind: Kind | None = None
    cues: str = ""
    pattern: str = ""
    as_written: bool = False


_MONTH: Final = (
    "(?:january|february|march|april|may|june|july|august|september|october|november|december)"
)
# A day or an hour to be ready by, after "by", "until" or "moved to".
_DAY: Final = (
    r"(?:(?:next |this |the )?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|week|month|year)|"
    r"tomorrow|tonight|noon|midnight|eod|(?:the )?end of|"
    rf"{_MONTH}|(?:the )?\d{{1,2}}(?:st|nd|rd|th|:\d\d|[./-]\d|\s?[ap]m| {_MONTH})|\d{{4}}-\d)"
)

BIAS: Final = -0.1

FEATURES: Final = (
    # What people ask to be kept. The first of these to fire names the kind.
    Feature(
        "instruction",
        1.1,
        Kind.INSTRUCTION,
        "please always|please never|from now on|going forward|make sure|don't forget|keep in mind|"
        "please remember|always remember|remember that|remember to|in the future|"
        "记住|以后|从现在起|从今往后|今后|别忘|不要忘|务必|请始终|请总是",
        r"^(?:please )?(?:remember|note|always|never)\b",
    ),
    Feature(
        "deadline",
        1.2,
        Kind.DEADLINE,
        "deadline|no later than|expire|overdue|postpone|reschedule|"
        "截止|改到|推迟|延期|提前到|期限|到期|之前交|前完成|前提交",
        rf"\bdue\b(?! to\b)|\b(?:by|until|before) {_DAY}\b|"
        rf"\b(?:moves?|moved|pushed|shifted|delayed|brought) (?:\w+ ){{0,3}}(?:to|until) {_DAY}",
    ),
    Feature(
        "decision",
        1.1,
        Kind.DECISION,
        "decide|decision|we'll go with|we will go with|let's go with|i'll go with|going with the|"
        "went with|settled on|agreed to|agreed on|we agreed|we chose|chose to|signed off|"
        "switch to|"
        "决定|改用|选定|敲定|定下来|商定|一致同意|拍板|决议|采用",
    ),
    Feature(
        "restriction",
        1.2,
        Kind.PREFERENCE,
        "allergic|allergy|allergies|intolerant|intolerance|vegan|vegetarian|diabetic|diabetes|"
        "can't eat|cannot eat|can't stand|"
        "过敏|忌口|吃素|素食|不能吃|不吃|不耐受|糖尿病",
    ),
    Feature(
        "preference",
        0.8,
        Kind.PREFERENCE,
        "prefer|preference|favorite|favourite|i'd rather|would rather|i hate|i dislike|"
        "喜欢|讨厌|最爱|偏好|更爱|不爱|不想|宁愿|习惯",
    ),
    Feature(
        "habit",
        0.6,
        Kind.PREFERENCE,
        "always|never|usually|every day|every morning|every week|i love|i like|i enjoy|"
        "不要|一定要|总是|从不|从来不|每天|每周|爱吃|爱喝",
    ),
    Feature(
        "risk",
        0.8,
        Kind.RISK,
        "risk|danger|blocked|blocker|outage|incident|vulnerability|vulnerable|leak|breach|"
        "emergency|critical|fail|failure|crash|"
        "风险|危险|故障|失败|泄漏|泄露|事故|漏洞|宕机|隐患|紧急",
    ),
    Feature(
        "goal",
        0.8,
        Kind.GOAL,
        "goal|objective|aim to|plan to|hope to|intend to|working towards|"
        "i want to|we want to|dream of|would like to|saving for|training for|"
        "目标|打算|计划|希望能|想要|争取|梦想|准备考",
    ),
    Feature(
        "action",
        0.5,
        Kind.ACTION,
        "need to|have to|has to|todo|to do list|follow up|action item|responsible for|in charge of|"
        "i'll send|we'll send|will send|will review|will prepare|takes over|assigned to|"
        "需要|待办|负责|跟进|安排|接手",
    ),
    # What makes a sentence a fact worth having.
    Feature(
        "person",
        0.5,
        Kind.FACT,
        "my name is|my wife|my husband|my partner|my daughter|my son|my mother|my father|my mom|"
        "my dad|my sister|my brother|my boss|my birthday|birthday|i live in|lives in|i work|"
        "works at|works for|i am from|i'm from|phone number|address|"
        "我叫|我是|生日|住在|电话|地址|女儿|儿子|妻子|丈夫|老公|老婆|妈妈|爸爸|同事|老板",
    ),
    Feature(
        "identifier",
        1.2,
        Kind.FACT,
        "card number|account number|passport|insurance number|password|passcode|licence number|"
        "license number|serial number|iban|tax number|social security|membership number|"
        "卡号|银行卡|账号|密码|口令|身份证|护照|保单号|会员号|车牌|序列号|税号",
    ),
    Feature(
        "change",
        0.5,
        Kind.FACT,
        "no longer|instead of|moved to|moved from|changed|new job|quit|hired|married|engaged|"
        "divorced|pregnant|born|graduated|promoted|diagnosed|started|stopped|passed away|"
        "不再|换成|换了|搬到|搬家|改成|改为|辞职|入职|结婚|离婚|怀孕|出生|毕业|升职|确诊",
    ),
    Feature("number", 0.2, pattern=r"\d"),
    Feature(
        "date",
        0.2,
        cues="monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|april|"
        "june|july|august|september|october|november|december|tomorrow|yesterday|last week|"
        "next week|next month|last month|last year|next year|"
        "明天|后天|昨天|下周|上周|周一|周二|周三|周四|周五|周六|周日|星期|下个月|上个月|明年|去年",
        pattern=r"[\d一二三四五六七八九十](?:\d{3}-\d\d|\d?:\d\d|\d? ?[ap]m\b|\s?[年月号日点])",
    ),
    Feature(
        "amount",
        0.2,
        pattern=r"[$€£¥₹\d](?:(?<=\D)\s?\d|\s?(?:%|(?:[kmg]b|k?m|kg|mg|ms|h|hours?|minutes?|days?|weeks?|"
        r"euros?|dollars?)\b|元|块|万|亿|度|人|个|台|公斤|公里|小时|分钟))",
    ),
    Feature("code", 0.2, pattern=r"[A-Z][A-Z]{0,5}-?\d", as_written=True),
    Feature(
        "name",
        0.25,
        pattern=r"[A-Z@《](?:(?<=[a-z0-9,;:] [A-Z])\w|(?<!\w@)(?<=@)\w|(?<=《))",
        as_written=True,
    ),
    Feature(
        "foreign name",
        0.25,
        pattern=f"[{CJK}](?: ?[A-Za-z]{{2}}|(?<=[A-Za-z]{{2}}.)|(?<=[A-Za-z]{{2}} .))",
        as_written=True,
    ),
    # What is said to be kind, to ask, or to say nothing.
    Feature(
        "courtesy",
        -0.9,
        Kind.DIALOGUE,
        "thank|thx|ok|okay|yes|yep|yeah|yup|nope|lol|haha|hahaha|lmao|hehe|hi|hey|hello|bye|goodbye|"
        "congrats|congratulations|cheers|good morning|good afternoon|good evening|good night|"
        "how are you|how's it|how have you|what's up|see you|take care|have a great|have a good|"
        "have a nice|good to see|got it|no problem|no worries|my pleasure|never mind|"
        "you're welcome|talk to you|good luck|"
        "好的|好啊|好呀|好吧|谢谢|多谢|感谢|哈哈|嘻嘻|呵呵|嗯|哦|早上好|早安|晚安|晚上好|下午好|中午好|"
        "你好|您好|再见|拜拜|不客气|没关系|没问题|收到|知道了|明白了|辛苦",
    ),
    Feature(
        "chatter",
        -0.6,
        Kind.DIALOGUE,
        "cool|nice|great|awesome|wow|sure|welcome|fun|funny|weather|sunny|rainy|so sweet|so cute|"
        "sounds good|sounds great|glad to|so happy for|proud of you|same here|me too|"
        "can't wait|of course|oh well|just chilling|"
        "天气|加油|厉害|真棒|不错|太好了|是的|真好|好开心|有意思|真可爱",
    ),
    Feature("question", -0.7, Kind.DIALOGUE, pattern=r"[?？]|[吗呢么]\s*$"),
    Feature("short", -0.7),
    Feature("wordless", -1.6, Kind.DIALOGUE),
    Feature("nothing else", -1.0),
)
