"""The charts, as SVG that needs no script: timeline, budget over time, outlooks, scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from sfams.lab.page.markup import Attributes, Element, append, el
from sfams.lab.report import SessionTrail
from sfams.lab.story import Life, Story

WIDTH = 960.0
LEFT, RIGHT = 92.0, 20.0
LANE = 26.0
BINS = 20

Scale = Callable[[float], float]


def scale(low: float, high: float, start: float, end: float) -> Scale:
    """Map a range of values to a range of pixels; a range of one point lies in the middle."""
    span = high - low
    if not span:
        return lambda _: (start + end) / 2
    return lambda value: start + (value - low) / span * (end - start)


def _svg(height: float, label: str) -> Element:
    box: Attributes = {"viewBox": f"0 0 {WIDTH:g} {height:g}", "role": "img", "aria-label": label}
    return el("svg", {**box, "class": "chart"})


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Element:
    return el("line", {"x1": x1, "y1": y1, "x2": x2, "y2": y2, "class": kind})


def _words(x: float, y: float, text: str, kind: str, anchor: str = "start") -> Element:
    return el("text", {"x": x, "y": y, "class": kind, "text-anchor": anchor}, text)


# ── Time ──────────────────────────────────────────────────────────────────────────────────────────


def _time_scale(start: datetime, end: datetime) -> Callable[[datetime], float]:
    along = scale(0.0, (end - start).total_seconds(), LEFT, WIDTH - RIGHT)
    return lambda at: along((at - start).total_seconds())


def _months(start: datetime, end: datetime) -> list[datetime]:
    first = start.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    found = []
    while first <= end:
        if first >= start - timedelta(days=3):
            found.append(max(first, start))
        first = (first + timedelta(days=32)).replace(day=1)
    return found


def _time_axis(
    chart: Element, x: Callable[[datetime], float], span: tuple[datetime, datetime], bottom: float
) -> None:
    for month in _months(*span):
        at = x(month)
        append(chart, _line(at, 8, at, bottom, "grid"))
        append(chart, _words(at, bottom + 18, f"{month.day} {month:%B}", "tick"))


def timeline(lives: Sequence[Life], trail: Sequence[SessionTrail], asked_at: datetime) -> Element:
    """Show every memory at the moment it was said, one lane a kind, its mark telling its fate."""
    start = min(life.at for life in lives)
    x = _time_scale(start, asked_at)
    lanes = _lanes(lives, x)
    bottom = 12 + sum(height for height, _ in lanes.values())
    label = "Timeline of all memories by kind; the mark tells what became of each"
    chart = _svg(bottom + 26, label)
    _time_axis(chart, x, (start, asked_at), bottom)
    for plan in trail:
        append(chart, _line(x(plan.at), bottom - 5, x(plan.at), bottom, "plan"))
    top = 12.0
    for kind, (height, places) in lanes.items():
        y = top + height / 2
        append(chart, _words(LEFT - 12, y + 4, kind, "lane", "end"))
        append(chart, _line(LEFT, y, WIDTH - RIGHT, y, "lane-line"))
        for life, along, across in places:
            append(chart, mark(life.fate, along, y + across, tip(life)))
        top += height
    return chart


Places = list[tuple[Life, float, float]]
_SIZE = 4.6
_STEP = 2 * _SIZE + 1.4


def _lanes(
    lives: Sequence[Life], x: Callable[[datetime], float]
) -> dict[str, tuple[float, Places]]:
    """Give each kind a lane, the fullest first, as high as its marks need to stand beside each other."""
    lanes: dict[str, tuple[float, Places]] = {}
    by_kind: dict[str, list[Life]] = {}
    for life in lives:
        by_kind.setdefault(life.kind, []).append(life)
    for kind in sorted(by_kind, key=lambda kind: (-len(by_kind[kind]), kind)):
        piles: dict[int, int] = {}
        places: Places = []
        for life in by_kind[kind]:
            spot = round(x(life.at) / _STEP)
            number = piles[spot] = piles.get(spot, 0) + 1
            side = (number // 2) * (1 if number % 2 else -1)
            places.append((life, spot * _STEP, side * _STEP))
        lanes[kind] = (max(LANE, (max(piles.values()) + 1) * _STEP), places)
    return lanes


def tip(life: Life) -> str:
    """Say in a few lines what a mark stands for."""
    lines = [f"{life.turn} {life.who}, {life.at:%d %b %Y}: {life.text}", sentence(life)]
    return "\n".join(lines)


def sentence(life: Life) -> str:
    """Say what became of a memory."""
    when = "" if life.since is None else f" on {life.since.day} {life.since:%B}"
    why = f": {life.reason}" if life.reason else ""
    by = f" ({life.successor})" if life.successor else ""
    return f"{life.fate}{when}{why}{by}"


def mark(fate: str, x: float, y: float, title: str = "") -> Element:
    """Draw the sign of a fate: filled, hollow, diamond or cross, so that colour is not needed."""
    kind = f"mark {fate}"
    if fate in ("hot", "cold"):
        made = el("circle", {"cx": x, "cy": y, "r": _SIZE, "class": kind})
    elif fate == "superseded":
        r = _SIZE + 1
        path = f"M{x:.1f} {y - r:.1f}l{r} {r}l{-r} {r}l{-r} {-r}z"
        made = el("path", {"d": path, "class": kind})
    else:
        r = _SIZE - 0.6
        path = f"M{x - r:.1f} {y - r:.1f}l{2 * r} {2 * r}m0 {-2 * r}l{-2 * r} {2 * r}"
        made = el("path", {"d": path, "class": kind})
    if title:
        append(made, el("title", None, title))
    return made


def sizes_over_time(trail: Sequence[SessionTrail], budget: int, asked_at: datetime) -> Element:
    """Show how many records were hot and cold after each session, and the budget."""
    bottom = 190.0
    start = trail[0].at
    x = _time_scale(start, asked_at)
    top = max(budget, 1, *(each.hot + each.cold for each in trail))
    y = scale(0.0, float(top), bottom, 12.0)
    chart = _svg(bottom + 26, "Hot and cold records after each session, and the budget")
    _time_axis(chart, x, (start, asked_at), bottom)
    steps = [*trail, trail[-1]]
    moments = [*(each.at for each in trail), asked_at]
    for kind, height in (
        ("cold", [float(each.hot + each.cold) for each in steps]),
        ("hot", [float(each.hot) for each in steps]),
    ):
        points = _staircase([x(at) for at in moments], [y(value) for value in height])
        area = f"M{x(start):.1f} {bottom:.1f}L{points}L{x(asked_at):.1f} {bottom:.1f}z"
        append(chart, el("path", {"d": area, "class": f"area {kind}"}))
    append(chart, _line(LEFT, y(budget), WIDTH - RIGHT, y(budget), "budget"))
    append(chart, _words(LEFT - 10, y(budget) + 4, f"budget {budget}", "lane", "end"))
    append(chart, _words(LEFT - 10, y(top) + 8, str(top), "lane", "end"))
    append(chart, _words(LEFT - 10, bottom, "0", "lane", "end"))
    return chart


def _staircase(xs: Sequence[float], ys: Sequence[float]) -> str:
    points = [f"{xs[0]:.1f} {ys[0]:.1f}"]
    for (_, y), (x2, y2) in pairwise(zip(xs, ys, strict=True)):
        points += [f"{x2:.1f} {y:.1f}", f"{x2:.1f} {y2:.1f}"]
    return "L".join(points)


# ── Scores ────────────────────────────────────────────────────────────────────────────────────────


def outlooks(story: Story) -> Element:
    """Draw how the scores of a few memories would run, and the line below which the next ones go."""
    bottom, right = 250.0, WIDTH - 200.0
    x = scale(0.0, max(line.days[-1] for line in story.outlooks), LEFT, right)
    y = scale(0.0, 1.0, bottom, 14.0)
    chart = _svg(
        bottom + 34, "Retention score of four memories over the next half year, left alone"
    )
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        append(chart, _line(LEFT, y(tick), right, y(tick), "grid"))
        append(chart, _words(LEFT - 10, y(tick) + 4, f"{tick:.2f}", "lane", "end"))
    for day in range(0, 181, 30):
        append(chart, _words(x(day), bottom + 18, f"{day} d", "tick", "middle"))
    if story.least_hot is not None:
        least = y(story.least_hot)
        append(chart, _line(LEFT, least, right, least, "budget"))
    ends = _apart([y(line.values[-1]) for line in story.outlooks], 30.0)
    for number, (line, end) in enumerate(zip(story.outlooks, ends, strict=True)):
        points = " ".join(
            f"{x(day):.1f},{y(value):.1f}"
            for day, value in zip(line.days, line.values, strict=True)
        )
        append(chart, el("polyline", {"points": points, "class": f"outlook o{number}"}))
        append(chart, _words(right + 12, end, line.label, f"name o{number}"))
        said = f"{line.turn}: {line.values[0]:.2f} to {line.values[-1]:.2f}"
        append(chart, _words(right + 12, end + 14, said, "tick"))
    return chart


def _apart(wanted: Sequence[float], gap: float) -> list[float]:
    """Move labels down until none covers another; they stay in order of height."""
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    places = list(wanted)
    for above, below in pairwise(order):
        places[below] = max(places[below], places[above] + gap)
    return places


def histogram(story: Story) -> Element:
    """Count scores: those of hot memories today, and those that went with the score they went with."""
    bottom = 170.0
    counted = {fate: [0] * BINS for fate in ("hot", "cold")}
    for life in story.lives:
        if life.fate in counted and life.score is not None:
            counted[life.fate][min(int(max(life.score, 0.0) * BINS), BINS - 1)] += 1
    top = max(max(values) for values in counted.values()) or 1
    x = scale(0.0, 1.0, LEFT, WIDTH - RIGHT)
    y = scale(0.0, float(top), bottom, 14.0)
    chart = _svg(bottom + 34, "How many memories have which score: kept hot, or demoted")
    width = (x(1.0) - x(0.0)) / BINS / 2 - 1.5
    for at in range(BINS):
        for side, fate in enumerate(("cold", "hot")):
            count = counted[fate][at]
            if count:
                low = f"{at / BINS:.2f} to {(at + 1) / BINS:.2f}"
                bar: Attributes = {
                    "x": x(at / BINS) + 1 + side * (width + 1),
                    "y": y(count),
                    "width": width,
                    "height": bottom - y(count),
                    "class": f"bar {fate}",
                }
                title = el("title", None, f"{count} {fate}, score {low}")
                append(chart, el("rect", bar, title))
    append(chart, _line(LEFT, bottom, WIDTH - RIGHT, bottom, "axis"))
    append(chart, _words(LEFT - 10, y(top) + 8, str(top), "lane", "end"))
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        append(chart, _words(x(tick), bottom + 18, f"{tick:.2f}", "tick", "middle"))
    if story.least_hot is not None:
        append(chart, _line(x(story.least_hot), 8, x(story.least_hot), bottom, "budget"))
    return chart


PART_WIDTH, PART_HEIGHT = 120.0, 12.0


def parts_bar(life: Life) -> Element:
    """Draw the parts of a score side by side, those that take away in grey."""
    box: Attributes = {"viewBox": f"0 0 {PART_WIDTH:g} {PART_HEIGHT:g}", "class": "parts"}
    chart = el("svg", {**box, "role": "img", "aria-label": parts_in_words(life)})
    append(chart, el("title", None, parts_in_words(life)))
    at = 0.0
    for name, value in life.parts.items():
        if name == "expired" or not value:
            continue
        width = min(abs(value) * PART_WIDTH, PART_WIDTH - at)
        kind = f"part {name}" if value > 0 else "part less"
        append(chart, el("rect", {"x": at, "y": 1, "width": width, "height": 10, "class": kind}))
        at += width
    return chart


def parts_in_words(life: Life) -> str:
    """Say what a score is made of."""
    return ", ".join(f"{name} {value:+.2f}" for name, value in life.parts.items() if value)
