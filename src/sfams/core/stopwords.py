"""Function words of a question: "when", "how", "什么". They match, but count little.

In a small memory such words are rare, so that inverse document frequency alone would rank "how do we
make coffee" high for "how long is the release delayed". A question made of nothing else still finds
what holds its words. English words are closed classes (articles, pronouns, auxiliaries, prepositions,
question words); Chinese ones are the pairs of characters that such words leave in the index.
"""

from __future__ import annotations

from sfams.core.keywords import term_id
from sfams.core.text import tokenise

WEIGHT = 0.2
"""What a function word's share of BM25 is multiplied with."""

_ENGLISH = """
a an the this that these those and or but if then so than as of at by for from in into on onto out over
to up with without about after before between during under again once here there all any both each few
more most other some such no nor not only own same too very can could will would shall should may might
must do does did done doing is am are was were be been being have has had having i me my mine we us our
ours you your yours he him his she her hers it its they them their theirs who whom whose which what when
where why how just also ever still yet please tell
"""
_CHINESE = """
什么 怎么 怎样 哪个 哪些 哪里 哪天 哪儿 何时 为什么 是什么 多少 几个 谁的 是谁 吗 呢 吧 啊 的 了 着 过
是 在 有 和 与 或 我们 你们 他们 她们 我的 你的 他的 她的 这个 那个 这些 那些 一个 时候 什么时候 是不是
有没有 可以 应该 现在 已经 还是
"""

FUNCTION_TERMS: frozenset[int] = frozenset(
    term_id(term)
    for words in (_ENGLISH, _CHINESE)
    for word in words.split()
    for term in tokenise(word)
)
