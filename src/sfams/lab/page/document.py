"""The page as a whole: what is told, in which order, and the head that keeps it to itself."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from importlib.resources import files

from sfams.lab.page import charts
from sfams.lab.page.markup import Element, append, el, written
from sfams.lab.report import Answer, Asked, DemoReport
from sfams.lab.story import Life

MARK = "sfams-demo-page/1"
"""Names the generator in the page's head, by which a page of ours is known again."""

FATES = {
    "hot": "hot: searched by meaning and by words",
    "cold": "cold: found by its words alone, can come back",
    "superseded": "superseded by a newer value",
    "deleted": "deleted, can be restored inside a window",
}


def render(report: DemoReport) -> str:
    """Write the page of a run. The same report gives the same page."""
    style, script = _resource("style.css"), _resource("script.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    head = el(
        "head",
        None,
        el("meta", {"charset": "utf-8"}),
        el("meta", {"http-equiv": "Content-Security-Policy", "content": policy}),
        el("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        el("meta", {"name": "generator", "content": MARK}),
        el("meta", {"name": "color-scheme", "content": "light dark"}),
        el("title", None, "SF-AMS: what was forgotten, and why"),
        el("style", None, style),
    )
    main = el("main", None, *_sections(report))
    body = el("body", None, main, el("script", None, script))
    return written(el("html", {"lang": "en"}, head, body))


def _resource(name: str) -> str:
    return "\n" + files(__package__).joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _sections(report: DemoReport) -> Iterator[Element]:
    yield _opening(report)
    yield _answers(report)
    yield _timeline(report)
    yield _scores(report)
    yield _forgotten(report)
    yield _closing(report)


def _section(title: str, text: str, *children: Element) -> Element:
    return el("section", None, el("h2", None, title), el("p", None, text), *children)


def day(at: datetime) -> str:
    """Write a day as people do."""
    return f"{at.day} {at:%B %Y}"


# ── Opening ───────────────────────────────────────────────────────────────────────────────────────


def _opening(report: DemoReport) -> Element:
    sizes, trail = report.sizes, report.trail
    ours = report.systems[0]
    share = round(100 * sizes.hot_tokens / sizes.history_tokens) if sizes.history_tokens else 0
    return el(
        "header",
        None,
        el("p", {"class": "kicker"}, "SF-AMS demonstration"),
        el("h1", None, "What was forgotten, and why"),
        el(
            "p",
            {"class": "lead"},
            f"A project team talked for three months, {day(trail[0].at)} to {day(trail[-1].at)}, in"
            f" English and Chinese. After each of {len(trail)} sessions a plan kept the"
            f" {report.budget} most valuable memories at hand and moved the others aside.",
        ),
        el(
            "ul",
            {"class": "figures"},
            _figure(f"{sizes.turns}", "turns told"),
            _figure(f"{sizes.hot}", f"still hot, {share} % of the tokens"),
            _figure(f"{sizes.cold}", "cold, found by words"),
            _figure(f"{ours.right} of {len(report.asked)}", "questions answered"),
            _figure(f"{ours.stale_shown}", "outdated answers shown"),
        ),
    )


def _figure(value: str, label: str) -> Element:
    return el("li", None, el("strong", None, value), el("span", None, label))


# ── Answers ───────────────────────────────────────────────────────────────────────────────────────


def _answers(report: DemoReport) -> Element:
    names = [system.name for system in report.systems]
    heads = [el("th", {"scope": "col"}, name) for name in ("Question", *names)]
    rows = [_asked_row(asked, names) for asked in report.asked]
    totals = [
        el("td", {"class": "verdict"}, f"{each.right} of {len(report.asked)}")
        for each in report.systems
    ]
    foot = el("tr", None, el("th", {"scope": "row"}, "Right"), *totals)
    table = el(
        "table",
        {"class": "answers"},
        el("thead", None, el("tr", None, *heads)),
        el("tbody", None, *rows),
        el("tfoot", None, foot),
    )
    return _section(
        "Asked afterwards",
        f"The same questions, {report.tokens} tokens of context for each. Right means that a turn"
        " which answers stands in the context; old, that an answer which no longer holds does.",
        el("div", {"class": "scroll"}, table),
    )


def _asked_row(asked: Asked, names: list[str]) -> Element:
    question = el("th", {"scope": "row"}, asked.question.text)
    append(question, el("small", None, f"{asked.evidence.turn}: {asked.evidence.text}"))
    return el("tr", None, question, *(_verdict(asked.answers[name]) for name in names))


def _verdict(answer: Answer) -> Element:
    right = el("span", {"class": "yes"}, "✓") if answer.right else el("span", {"class": "no"}, "✗")
    cell = el("td", {"class": "verdict"}, right)
    append(cell, el("span", {"class": "sr"}, " right" if answer.right else " wrong"))
    if answer.stale:
        append(cell, el("span", {"class": "old"}, " old"))
    return cell


# ── Time and scores ───────────────────────────────────────────────────────────────────────────────


def _timeline(report: DemoReport) -> Element:
    lives = report.story.lives
    legend = el("ul", {"class": "legend"})
    for fate, words in FATES.items():
        count = sum(life.fate == fate for life in lives)
        sign = el("svg", {"viewBox": "0 0 14 14", "class": "sign"}, charts.mark(fate, 7.0, 7.0))
        append(legend, el("li", None, sign, f"{count} {words}"))
    return _section(
        "Three months at a glance",
        "Each mark is a memory at the moment it was said; the ticks at the bottom are the plans."
        " Point at a mark to read it.",
        el("div", {"class": "scroll"}, charts.timeline(lives, report.trail, report.asked_at)),
        legend,
        el("h3", None, "Kept within the budget"),
        el(
            "div",
            {"class": "scroll"},
            charts.sizes_over_time(report.trail, report.budget, report.asked_at),
        ),
        el(
            "p",
            {"class": "note"},
            "Dark: hot records after each session. Light: cold ones. Nothing in either is lost.",
        ),
    )


def _scores(report: DemoReport) -> Element:
    story = report.story
    children: list[Element] = []
    if story.outlooks:
        children += [
            el("div", {"class": "scroll"}, charts.outlooks(story)),
            el(
                "p",
                {"class": "note"},
                "Dashed: the least score that is hot today; who falls below it goes when room is needed.",
            ),
        ]
    children += [
        el("h3", None, "Where the line fell"),
        el("div", {"class": "scroll"}, charts.histogram(story)),
        el(
            "p",
            {"class": "note"},
            "Dark: hot memories by their score today. Light: demoted ones by the score they went with.",
        ),
    ]
    return _section(
        "How long a memory lasts",
        "The retention score is a sum: importance, use and recency, less age for what ages. Left alone"
        " it falls; every use lifts it again.",
        *children,
    )


# ── What went ─────────────────────────────────────────────────────────────────────────────────────


def _forgotten(report: DemoReport) -> Element:
    gone = [life for life in report.story.lives if life.fate != "hot"]
    heads = [
        el("th", {"scope": "col", "class": kind}, name)
        for name, kind in (
            ("Said", ""),
            ("Memory", ""),
            ("What became of it", ""),
            ("Score", "number"),
            ("Made of", ""),
            ("Tokens", "number"),
        )
    ]
    body = el("tbody", None, *(_life_row(life) for life in gone))
    table = el(
        "table", {"class": "lives", "id": "lives"}, el("thead", None, el("tr", None, *heads)), body
    )
    counts = {fate: sum(life.fate == fate for life in gone) for fate in FATES if fate != "hot"}
    tokens = sum(life.tokens for life in gone)
    return _section(
        f"All {len(gone)} that left",
        f"{tokens:,} tokens that no longer fill the context. Every row says why it went; none needed"
        " a language model to decide.",
        _filter(counts),
        el("div", {"class": "scroll tall"}, table),
        el("p", {"class": "note", "id": "shown", "aria-live": "polite"}),
    )


def _filter(counts: dict[str, int]) -> Element:
    box = el("div", {"class": "filter", "hidden": "hidden", "id": "filter"})
    label = el("label", None, el("span", {"class": "sr"}, "Search"))
    append(label, el("input", {"type": "search", "id": "search", "placeholder": "Search 搜索"}))
    append(box, label)
    for fate, count in counts.items():
        tick = el("input", {"type": "checkbox", "value": fate, "checked": "checked"})
        append(box, el("label", {"class": "tick"}, tick, f"{fate} {count}"))
    return box


def _life_row(life: Life) -> Element:
    said = el("td", {"class": "said"}, f"{life.at.day} {life.at:%b}", el("small", None, life.turn))
    who = el("small", None, f"{life.who}, {life.kind}")
    sign = el("svg", {"viewBox": "0 0 14 14", "class": "sign"}, charts.mark(life.fate, 7.0, 7.0))
    score = "" if life.score is None else ("expired" if life.score < 0 else f"{life.score:.2f}")
    return el(
        "tr",
        {"data-fate": life.fate},
        said,
        el("td", {"class": "text"}, life.text, who),
        el("td", {"class": "fate"}, sign, charts.sentence(life)),
        el("td", {"class": "number"}, score),
        el("td", None, charts.parts_bar(life) if life.parts else None),
        el("td", {"class": "number"}, str(life.tokens)),
    )


def _closing(report: DemoReport) -> Element:
    undo = report.undo
    exact = "every count is what it was before" if undo.exact else "counts differ from before"
    text = (
        f"The last plan was taken back at the end: {undo.restored} memories restored,"
        f" {undo.skipped} skipped; {exact}. Embedding model: {report.embedder}. This page holds all"
        " it shows, loads nothing and sends nothing."
    )
    return el("footer", None, el("h2", None, "And undone"), el("p", None, text))
