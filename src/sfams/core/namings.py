"""Names in a text, told by their look: capitals inside a sentence, identifiers, 《titles》, surnames.

Without a dictionary nothing is certain: a name that is missed is not guarded, a word that is taken for
one is guarded for nothing. The first word of a sentence is a name unless it is one that often begins
sentences. In Chinese text every Latin word counts as a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from sfams.core.numerals import units
from sfams.core.scripts import CJK
from sfams.core.spans import Commitment, CommitmentType, clauses, has_cjk, take
from sfams.core.text import fold

__all__ = ["identifiers_of", "known_names", "names_of"]

_IDENTIFIER = re.compile(
    r"https?://[^\s，。、）)]+|www\.[^\s，。、）)]+"
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|(?<!\w)[@#][A-Za-z_]\w*"
    r"|(?<!\w)(?!\d\d?\.\d\d?\.(?:19|20)\d\d\b)v?\d+\.\d+\.\d+[\w.-]*"
    r"|(?<![A-Za-z0-9_])[A-Za-z]+[-_/.]?\d(?:[A-Za-z0-9_./-]*[A-Za-z0-9_])?"
    r"|(?<![A-Za-z0-9_])\d+[A-Za-z]+\d[A-Za-z0-9]*"
    r"|(?<![A-Za-z0-9_])[A-Za-z][A-Za-z0-9]*_[A-Za-z0-9_]+"
    r"|(?<![A-Za-z0-9_])[A-Za-z0-9]+\.(?:py|js|ts|md|txt|json|csv|pdf|docx?|xlsx?|toml|yaml|sql|html?)(?!\w)"
)
_TITLE = re.compile(r"《([^》\n]{1,60})》|「([^」\n]{1,30})」")

_WORD = re.compile(rf"(?<![^\W{CJK}])[^\W\d_{CJK}][^\W_{CJK}]*(?:['-][^\W_{CJK}]+)*")
_OPENS: Final = ':"“”‘(（[【*-–—•>「『'
_POSSESSIVE = re.compile(r"'s?$")

# Words that begin sentences without being names, and words written with a capital out of politeness.
_COMMON_WORDS: Final = """
a an the this that these those there here it its he she we you they i my your his her our their who whom
whose what which when where why how and or but if then so than as of at by for from in into on onto out
over up with without about after before between during under again once all any both each few more most
other some such no nor not only own same too very just also ever still yet even maybe perhaps once
can could will would shall should may might must do does did done doing is am are was were be been being
have has had having let lets get gets got go goes going went come came make makes made take takes took
give gave keep kept see seen saw look looks looking think thinks thought know knows knew want wants need
needs like likes love loved loves hope hoping feel feels felt say says said tell told ask asked try tried
trying use used using work works working thank thanks ok okay yes yeah yep yup nope no hey hi hello bye
wow oh ah aw aww haha hmm well sure right cool nice great good awesome amazing sounds sound glad happy
sorry please congrats congratulations cheers welcome really actually honestly basically definitely
absolutely totally exactly especially finally recently currently lately today tomorrow yesterday tonight
first second third next last later now soon since until till while because although though however
therefore moreover meanwhile otherwise instead anyway besides unless whether either neither none nobody
nothing nowhere someone somebody something anyone anybody anything everyone everybody everything every
many much several another enough lots lot plenty one two three four five six seven eight nine ten
new old big small long short best better worse worst early late ready don't dont can't cant won't
didn't doesn't isn't aren't wasn't couldn't wouldn't shouldn't haven't hasn't it's that's i'm i've i'll
i'd we're we've we'll you're you've they're he's she's there's here's what's let's who's how's
always never usually often sometimes almost already nearly around against along across through
note notes remember reminder please dear mom dad mum mother father sister brother wife husband son
daughter boss team everyone family friends friend people person kids guys man woman boy girl
mr mrs ms miss dr prof sir madam jr sr am pm tv id ok asap fyi btw lol omg etc re ps
put set run ran add added start started stop stopped end ended begin began bought buy sold sell paid pay
met meet moved move went left leave called call sent send read write wrote plan plans planned planning
check checked update updated review reviewed fix fixed change changed create created find found show
due price prices cost costs budget deadline release project visa trip flight hotel rent receipt order
payment meeting call report task tasks goal goals problem question answer idea issue reason result
people customers users clients colleagues students teachers music movie book books food coffee tea lunch
dinner breakfast home house school office company job weather rain sun water money bank phone car bike
train bus dog cat kids child children everyone's true false yes'm part number name names list item items
key value data code test tests build deploy feature features bug bugs version draft final open close
closed done todo action actions next decision decisions risk risks blocked blocker blockers progress
learn learned learning try believe remember forgot forget wish wonder guess suppose imagine mind care
watch watched play played cook cooked eat ate drink drank sleep slept wake woke walk walked drive drove
fly flew travel travelled visit visited stay stayed live lived help helped follow followed agree agreed
decide decided prefer preferred enjoy enjoyed hate hated miss missed lose lost win won pass passed fail
failed hear heard listen talk talked speak spoke spend spent save saved wait waited turn turned hold held
bring brought pick picked choose chose grow grew join joined finish finished happen happened seem seems
happy sad tired busy free hard easy simple full half whole real nice-to-meet-you clear possible important
interesting hopefully luckily unfortunately apparently obviously certainly probably possibly clearly
mostly mainly nearly together alone outside inside above below behind beyond within despite except per via
consider ensure include includes provide based given using regarding overall additionally furthermore
similarly specifically generally currently typically step steps example examples summary total date time
day week month year morning afternoon evening night weekend standup stand-up daily weekly meeting
"""
_COMMON: Final = frozenset(_COMMON_WORDS.split()) | frozenset(units())
_ENDINGS = re.compile(r".{3,}(?:ing|ly)")

_SURNAMES: Final = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯董萧程曹袁邓"
    "许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田姜范方石姚谭廖邹熊"
    "陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段钱汤尹黎易常武乔贺赖龚文"
)
_GIVEN: Final = "一-龥"
_HONORIFIC = re.compile(
    rf"(?P<name>[{_SURNAMES}][{_GIVEN}]{{0,2}}?)(?P<how>先生|女士|小姐|老师|经理|医生|教授|博士|律师|主任|师傅|总监|同学|阿姨|叔叔|总(?![是之共体结数]))"
)
_FAMILIAR = re.compile(rf"(?P<name>[小老阿][{_SURNAMES}])(?![时心鼠师板家伙年人外二])")
_BEFORE_NAME: Final = '和跟与给找请叫是由让向对为问约把被见陪听说,，。.、;；:：!！?？\\s（(「『“"'
_AFTER_NAME: Final = (
    ',，。.、;；:：!！?？\\s）)」』”"说在的是和跟把要去来有会也已负提将与从今明昨上下周对不没给'
    "问想买住喜建决完先正最都同接做发写表认需叫请"
)
_FULL_NAME = re.compile(
    rf"(?:^|(?<=[{_BEFORE_NAME}]))(?P<name>[{_SURNAMES}][{_GIVEN}]{{1,2}}?)(?=[{_AFTER_NAME}]|$)"
)
_NO_NAME_WORDS: Final = """
高兴 高中 高铁 高级 高度 高速 方便 方法 方面 方式 方向 方案 马上 马路 白天
白色 白菜 黄色 黄金 黄昏 江边 石头 常常 常见 常用 常规 平时 成功 程序 程度
任务 任何 包括 毛病 毛巾 田里 夏天 夏季 周末 周一 周二 周三 周四 周五 周六
周日 周边 周围 周期 周年 钟头 万一 万元 万分 易于 易懂 文件 文章 文化 文档
文字 文本 龙虾 段落 钱包 钱是 汤里 康复 顾客 顾问 石油 林业 金额 何时 何况
许多 许可 余额 余下 曾经 程式 丁点 叶子 单位 武器 白酒 江南 唐诗 宋词 方才
马虎 黄油 黄瓜 沈默 胡乱 罗列 梁上 贺卡 范围 范例 史上 严格 秦朝 陆续 熊猫
孔子 田野 蒋 万能 尹 常年 常驻 易用 高考 高温
"""
_NO_NAMES: Final = frozenset(_NO_NAME_WORDS.split())
_PLACE_NAMES: Final = """
北京 上海 广州 深圳 杭州 南京 苏州 成都 重庆 武汉 西安 天津 青岛 大连 厦门
长沙 郑州 宁波 无锡 合肥 济南 沈阳 哈尔滨 长春 昆明 贵阳 南宁 海口 三亚
拉萨 兰州 银川 西宁 太原 石家庄 南昌 福州 珠海 东莞 佛山 香港 澳门 台北
台湾 新疆 西藏 内蒙古 云南 四川 广东 浙江 江苏 山东 东京 大阪 京都 首尔
新加坡 曼谷 巴厘岛 伦敦 巴黎 柏林 法兰克福 慕尼黑 罗马 米兰 马德里 巴塞罗那
阿姆斯特丹 维也纳 莫斯科 纽约 旧金山 洛杉矶 西雅图 波士顿 芝加哥 华盛顿 悉尼
墨尔本 多伦多 温哥华 迪拜 中国 日本 韩国 美国 英国 法国 德国 意大利 西班牙
俄罗斯 印度 泰国 越南 加拿大 澳大利亚 新西兰 欧洲 亚洲 非洲
"""
_PLACE = re.compile("|".join(sorted(_PLACE_NAMES.split(), key=len, reverse=True)))


def identifiers_of(text: str) -> tuple[list[Commitment], str]:
    """Find identifiers and 《titles》; returns them and the text without them."""
    titles, rest = take(text, _TITLE, lambda found: _name(found[1] or found[2], found[0]))
    codes, rest = take(rest, _IDENTIFIER, _from_identifier)
    return [*titles, *codes], rest


def _from_identifier(found: re.Match[str]) -> Commitment:
    shown = found[0].rstrip(".,;:")
    return _name(shown, shown)


def names_of(text: str) -> list[Commitment]:
    """Find names by their look in a plain text from which identifiers have been taken."""
    found = [name for clause in clauses(text) for name in _in_clause(clause)]
    return found + (list(_chinese_names(text)) if has_cjk(text) else [])


def known_names(text: str, names: Iterable[str]) -> list[Commitment]:
    """Find names that are given, whole, wherever they are mentioned."""
    folded = fold(text)
    return [_name(name, name) for name in names if name.strip() and _mentions(folded, fold(name))]


def _mentions(folded: str, name: str) -> bool:
    if has_cjk(name):
        return name in folded
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", folded) is not None


def _in_clause(clause: str) -> Iterator[Commitment]:
    dense = has_cjk(clause)
    words = [(found[0], found.start()) for found in _WORD.finditer(clause)]
    if not dense and _shouts([word for word, _ in words]):
        return
    for word, at in words:
        bare = _POSSESSIVE.sub("", word)
        named = bare[0].isupper() or any(char.isupper() for char in bare[1:])
        if dense:
            if len(bare) > 1 and bare.lower() not in _COMMON:
                yield _name(bare, bare)
        elif named and _is_name(bare, opens=_opens(clause, at)):
            yield _name(bare, bare)


_FEW: Final = 3


def _shouts(words: list[str]) -> bool:
    return len(words) > _FEW and sum(word.isupper() for word in words) * 10 > len(words) * 7


def _is_name(word: str, *, opens: bool) -> bool:
    lower = word.lower()
    if lower in _COMMON or len(word) == 1 or "'" in lower[1:]:
        return "'" in lower[1:] and lower not in _COMMON and lower.split("'")[0] not in _COMMON
    return not (opens and _ENDINGS.fullmatch(lower))


def _opens(clause: str, at: int) -> bool:
    before = clause[:at].rstrip()
    return not before or before[-1] in _OPENS


def _chinese_names(text: str) -> Iterator[Commitment]:
    for found in _PLACE.finditer(text):
        yield _name(found[0], found[0])
    for pattern in (_HONORIFIC, _FAMILIAR, _FULL_NAME):
        for found in pattern.finditer(text):
            name = found["name"] + (found.groupdict().get("how") or "")
            if name not in _NO_NAMES and name[:2] not in _NO_NAMES:
                yield _name(name, name)


def _name(value: str, shown: str) -> Commitment:
    return Commitment(CommitmentType.NAME, " ".join(fold(value).split()), shown.strip())
