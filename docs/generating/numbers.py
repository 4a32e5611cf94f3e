"""Constants of the code: weights of recall, cues, limits and bounds."""

from __future__ import annotations

import dataclasses

from generating.markdown import Row, code, number, table
from sfams.bridges import chat_values
from sfams.cli import output, reading
from sfams.core import checks, cues, importance, lexical, text, traces, weights
from sfams.core.scope import MAX_PART_LENGTH, MAX_PARTS
from sfams.providers import bundled, hashing, use_multilingual
from sfams.service import archive, forgetting, listing, recalling, remembering, sessions, usage

_COUNTED = {
    "short": f"fewer than {importance._SHORT} words",  # noqa: SLF001  # the page names the number
    "wordless": "no word at all",
    "nothing else": f"small talk of fewer than {importance._BRIEF} words and nothing above 0",  # noqa: SLF001
    "number": "a digit",
    "amount": "a number with a unit or currency",
    "code": "letters and a number, as in TN-88",
    "name": "a capital inside a sentence, @name",
    "foreign name": "Latin letters inside Chinese text",
    "question": "a question mark, 吗, 呢",
}


def signals() -> str:
    """List how much each signal counts in a recall."""
    default = weights.RankingWeights()
    rows = [
        (code(each.name), number(getattr(default, each.name)))
        for each in dataclasses.fields(weights.RankingWeights)
    ]
    return table(["weight", "default"], rows)


def calibration() -> str:
    """List what unrelated texts look like under each embedder."""
    known = (
        ("`bundled`: multilingual-e5-small", bundled.DIMENSION, bundled.CALIBRATION),
        (
            "`bundled` where that has no wheel: USE multilingual",
            use_multilingual.DIMENSION,
            use_multilingual.CALIBRATION,
        ),
        ("`hashing`: no model", hashing.HashingEmbedder().dimension, hashing.CALIBRATION),
    )
    rows = [(name, size, each.mean, each.deviation) for name, size, each in known]
    return table(["embedder", "dimensions", "mean", "deviation"], rows)


def features() -> str:
    """List the content prior."""
    rows = [
        (each.name, f"{each.coefficient:+.2f}", each.kind or "", _fires(each))
        for each in cues.FEATURES
    ]
    return table(
        ["feature", "coefficient", "kind", "fires on, for instance"],
        [("(bias)", f"{cues.BIAS:+.2f}", "", "every text"), *rows],
    )


def _fires(feature: cues.Feature) -> str:
    cues_ = feature.cues.split("|")
    latin = [cue for cue in cues_ if cue.isascii() and cue]
    chinese = [cue for cue in cues_ if not cue.isascii()]
    return _COUNTED.get(feature.name) or ", ".join([*latin[:4], *chinese[:2]])


def limits() -> str:
    """List every limit of input."""
    rows: list[Row] = [
        ("content", f"{checks.MAX_CONTENT:,} characters", "refused"),
        ("query of `recall`", f"{recalling.MAX_QUERY:,} characters", "refused"),
        ("`k` of `recall`", f"1 to {recalling.MAX_K:,}", "refused"),
        ("`limit` of `list`", f"1 to {listing.MAX_LIMIT:,}", "refused; page on with `next`"),
        ("`tokens` of `context`", "1 or more", "refused; what does not fit is left out, counted"),
        ("tags, entities, links", f"{checks.MAX_ITEMS} each", "refused"),
        ("a tag", f"{checks.MAX_TAG} characters", "refused"),
        ("an entity's name", f"{checks.MAX_NAME} characters", "refused"),
        ("an entity's type", f"{checks.MAX_TYPE} of a-z, 0-9, _", "refused"),
        (
            "`who`, `role`, `key`, `subject`, `attribute`",
            f"{checks.MAX_NAME} characters",
            "refused",
        ),
        ("`session`", f"{sessions.MAX_SESSION_LENGTH} characters", "refused"),
        ("`value` of a claim", f"{checks.MAX_VALUE:,} characters", "refused"),
        ("metadata", f"{checks.MAX_METADATA:,} bytes as JSON", "refused"),
        ("metadata, nesting", f"{checks.MAX_DEPTH} levels", "refused"),
        ("whole numbers", "0 to 2^63 - 1; in metadata negative too", "refused"),
        ("`importance`, `trust`, `min_score`", "0 to 1, finite", "refused"),
        ("kind", "64 characters, and 64 behind one `:`", "refused"),
        ("relation type", "64 characters", "refused"),
        ("scope", f"{MAX_PARTS} parts of {MAX_PART_LENGTH} characters", "refused"),
        ("moments", "years 1 to 9999", "refused"),
        ("`ttl`", "above zero; beyond the year 9999 it never ends", "zero and less are refused"),
    ]
    return table(["what", "limit", "beyond it"], rows)


def bounds() -> str:
    """List the bounds of the inner workings."""
    read = f"the first {bundled.HEAD_CHARACTERS:,} and last {bundled.TAIL_CHARACTERS:,} characters"
    rows: list[Row] = [
        (
            "keywords",
            f"the first {text._LONGEST_TERM} characters of a word",  # noqa: SLF001
            "the rest of that word is not searchable",
        ),
        (
            "bundled embedder",
            f"{read} of a text above {bundled.MODEL_WINDOW} tokens",
            "the middle is found by keywords",
        ),
        (
            "estimate of importance",
            f"the first {importance._MOST_READ:,} characters",  # noqa: SLF001
            "what follows does not count",
        ),
        (
            "recall with a `status` other than live",
            f"the newest {archive.LIMIT:,} records that match",
            "the result carries a warning",
        ),
        ("`remember_many`", f"{remembering.CHUNK} texts a transaction", "the next one follows"),
        (
            "`forget`",
            f"up to {forgetting.CHUNK} steps a transaction, fitted to the time",
            "the next one follows",
        ),
        (
            "access counts",
            f"{usage.FLUSH_AT} distinct records are buffered",
            "written; a killed process loses at most these",
        ),
        (
            "moments of accesses",
            f"the latest {traces.KEPT} of a record that lie {traces.SPACING // 60_000_000} minutes apart",
            "earlier ones are counted",
        ),
        (
            "use by logged turn",
            f"the latest {traces.KEPT} turns of a record",
            "earlier ones count for the first of these",
        ),
        (
            "`turn` of `recall`",
            f"the last {usage._TURNS_REMEMBERED:,} record and turn pairs of a process",  # noqa: SLF001
            "an older pair may count again",
        ),
        ("a text in a table of the CLI", f"{output.PREVIEW} characters", "cut, marked with `…`"),
        ("a hit of `sfams recall`", f"{reading.SHOWN} characters", "cut, marked with `…`"),
        ("a refused value in a report", f"{chat_values.MAX_SHOWN} characters", "cut, with `…`"),
    ]
    return table(["what", "bound", "beyond it"], rows)


def bm25() -> str:
    """Name the constants of the keyword score."""
    return f"`k1 = {lexical.K1}`, `b = {lexical.B}`, `SCALE = {lexical.SCALE}`\n"
