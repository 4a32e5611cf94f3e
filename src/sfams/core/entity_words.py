"""The words by which `entities` tells a name from other capitals and characters."""

from __future__ import annotations

from typing import Final

_NO_NAMES: Final = """
I The A An This That These Those My Your Our Their His Her Its He She It They We You Who What When
Where Why How Which Whose And Or But If So As At By For From In Into Of On Onto To With Without
Within About After Before Until Since While Because Although Though However Therefore Then Than
There Here Now Today Tomorrow Yesterday Tonight Yes No Not Never Always Often Maybe Perhaps Please
Thanks Thank Sorry Hello Hi Hey Dear Ok Okay Sure Also Only Just Even Still Already Again Once Every
Everyone Everybody Everything Each All Any Anyone Anybody Anything Some Someone Somebody Something
Nobody Nothing None Both Either Neither Most Many Much More Less Few Several Another Other One Two
Three Four Five Six Seven Eight Nine Ten First Second Third Next Last New Old Good Bad Great Nice
Let Make Keep Take Get Give Go Come Do Does Did Is Are Was Were Be Been Has Have Had Will Would Can
Could Should May Might Must Shall Use Using Remember Note Send Call Ask Tell Say See Look Try Add
Set Put Run Stop Start Open Monday Tuesday Wednesday Thursday Friday Saturday Sunday Mon Tue Wed Thu
Fri Sat Sun January February March April June July August September October November December Jan
Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Mr Mrs Ms Dr Prof Sir Madam Mom Dad Mum God Am Pm Id
Url Api Usd Eur Cny Tv Pc Ai Ui Faq Diy Asap Eta Fyi English Chinese French German Spanish Italian
Japanese Korean Russian Portuguese Dutch Arabic Hindi American British European Asian African
Christmas Easter Internet Web
"""
NO_NAMES: Final = frozenset(_NO_NAMES.split())
"""Capitals that begin sentences, days, months, languages: never a name by themselves."""

SAYING: Final = (
    "said|says|told|tells|asked|asks|thinks|believes|wants|likes|loves|hates|prefers|lives|works|studies|teaches|"
    "agreed|suggested|promised|replied|joined|moved|plays|owns|drives|speaks|married|called|emailed|wrote|reviews|"
    "reviewed|approved|owes|knows"
)
KIN: Final = (
    "wife|husband|partner|son|daughter|mother|father|mom|dad|mum|sister|brother|cousin|aunt|uncle|friend|boss|"
    "manager|colleague|coworker|teammate|neighbour|neighbor|roommate|teacher|doctor|dentist|girlfriend|boyfriend|"
    "fiancée?|assistant|mentor|client|landlord|coach"
)
COMPANY: Final = (
    "Inc|Ltd|LLC|GmbH|AG|Corp|Corporation|Company|Group|Labs|Bank|University|College|Institute|Hospital|Foundation|"
    "Museum|Airlines|Systems|Technologies|Partners|Agency"
)

SURNAMES: Final = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡"
    "贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷"
    "钱汤尹黎易常武乔贺赖龚文"
)
COMPOUND: Final = "欧阳|司马|诸葛|上官|司徒|夏侯|慕容|尉迟|皇甫|东方|令狐"
NO_CHINESE_NAMES: Final = frozenset(
    {
        *(
            "高兴",
            "高度",
            "高中",
            "高级",
            "方便",
            "方面",
            "方法",
            "方式",
            "方案",
            "方向",
            "马上",
            "马路",
            "常常",
            "常用",
        ),
        *(
            "金额",
            "金融",
            "黄色",
            "黄金",
            "白天",
            "白色",
            "周末",
            "周年",
            "周围",
            "周期",
            "周到",
            "江苏",
            "江西",
            "万一",
        ),
        *(
            "任务",
            "任何",
            "任意",
            "程序",
            "程度",
            "许多",
            "许可",
            "于是",
            "何时",
            "何人",
            "石头",
            "石油",
            "史上",
            "段落",
        ),
        *(
            "雷达",
            "雷雨",
            "黎明",
            "夏天",
            "夏季",
            "范围",
            "钱包",
            "余额",
            "余下",
            "文件",
            "文章",
            "文化",
            "文字",
            "易于",
        ),
        *(
            "林业",
            "毛病",
            "毛巾",
            "康复",
            "田里",
            "龙头",
            "龙虾",
            "马桶",
            "张贴",
            "陈述",
            "钟头",
            "钟点",
            "江边",
            "贺卡",
        ),
        *(
            "周一",
            "周二",
            "周三",
            "周四",
            "周五",
            "周六",
            "周日",
            "周天",
            "金鱼",
            "白菜",
            "黄瓜",
            "石榴",
            "马拉松",
            "武器",
        ),
    }
)
CHINESE_BEFORE: Final = (
    "我叫|他叫|她叫|名叫|叫做|名字是|同事|老师|经理|主管|老板|朋友|同学|客户|妻"
    "子|丈夫|老公|老婆|儿子|女儿|室友|邻居|医生|教授|哥哥|姐姐|弟弟|妹妹|爸爸|"
    "妈妈|联系人|负责人"
)
CHINESE_AFTER: Final = (
    "说|告诉|认为|觉得|表示|建议|负责|喜欢|讨厌|住在|来自|先生|女士|小姐|老师|"
    "经理|教授|医生|同学|总监|主任|会|想|要|不吃|爱|接手|同意|答应|提出|决定|"
    "打电话|发邮件|跟|和|与|的"
)
CHINESE_TITLE: Final = "先生|女士|小姐|老师|经理|教授|医生|同学|总监|主任|师傅|阿姨|叔叔"
CHINESE_COMPANY: Final = (
    "有限公司|公司|集团|大学|学院|银行|医院|研究院|研究所|中学|小学|幼儿园|协会|"
    "基金会|出版社|博物馆|图书馆|法院|派出所"
)
