"""The JSON documents of the commands: what the verbs answer, in the words of `core.wire`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime

from sfams.core.context import ContextBlock
from sfams.core.ghosts import Ghost, PolicyRecord
from sfams.core.moments import format_moment
from sfams.core.plan import ForgettingPlan, ForgettingStep, Receipt
from sfams.core.query import RecallResult
from sfams.core.record import MemoryRecord, RecordId, Sensitivity
from sfams.core.sensitivity import masked, masked_text
from sfams.core.wire import event_to_wire, record_to_wire
from sfams.ports import ScopeStats
from sfams.service.health import Checkup
from sfams.service.results import (
    EraseReceipt,
    ErasureLog,
    Explanation,
    RememberResult,
    Summary,
    SummaryReport,
)

Json = dict[str, object]


def _moment(value: datetime | None) -> str | None:
    return None if value is None else format_moment(value)


def remembered_json(result: RememberResult) -> Json:
    """Write what became of one text."""
    return {
        "id": result.id,
        "outcome": result.outcome.value,
        "stored": result.stored,
        "superseded": list(result.superseded),
        "twin": None if result.twin is None else asdict(result.twin),
        "embedded": result.embedded,
        "warnings": list(result.warnings),
    }


def listed_json(record: MemoryRecord, *, reveal: bool) -> Json:
    """Write a record of a listing; the words of a sensitive one only where they are asked for."""
    shape: Json = {**record_to_wire(record)}
    if record.sensitivity is Sensitivity.SENSITIVE and not reveal:
        shape |= {"content": masked(record), "claim": None, "metadata": {}, "masked": True}
    return shape


def recalled_json(query: str | None, result: RecallResult) -> Json:
    """Write hits, records whole."""
    return {
        "query": query,
        "mode": result.mode.value,
        "hits": [
            {"score": hit.score, "parts": dict(hit.parts), "record": record_to_wire(hit.record)}
            for hit in result
        ],
        "warnings": list(result.warnings),
        "missed": [
            {
                "id": each.id,
                "at": _moment(each.at),
                "action": each.action.value,
                "reason": each.reason,
                "policy": each.policy,
                "plan_id": each.plan_id,
                "share": each.share,
            }
            for each in result.missed
        ],
    }


def ghost_json(ghost: Ghost) -> Json:
    """Write what is left of a forgotten memory."""
    return {
        "id": ghost.record_id,
        "at": _moment(ghost.at),
        "action": ghost.action.value,
        "reason": ghost.reason,
        "policy": ghost.policy,
        "plan_id": ghost.plan_id,
        "score": ghost.score,
        "returned_at": _moment(ghost.returned_at),
        "regrets": ghost.regrets,
        "mark": None if ghost.mark is None else ghost.mark.value,
    }


def policy_record_json(record: PolicyRecord) -> Json:
    """Write how a policy's forgetting has turned out."""
    return {
        "policy": record.policy,
        "forgotten": dict(record.forgotten),
        "undone": record.undone,
        "undo_rate": record.undo_rate,
        "regretted": record.regretted,
        "regret_rate": record.regret_rate,
        "right": record.right,
        "wrong": record.wrong,
        "false_rate": record.false_rate,
        "interval": None if record.interval is None else list(record.interval),
    }


def context_json(block: ContextBlock) -> Json:
    """Write a context block."""
    return {
        "text": block.text,
        "tokens": block.tokens,
        "ids": list(block.ids),
        "omitted": block.omitted,
    }


def stats_json(stats: ScopeStats) -> Json:
    """Write the size of a scope."""
    return {
        "records": dict(stats.records),
        "hot": stats.hot,
        "cold": stats.cold,
        "hot_tokens": stats.hot_tokens,
        "vectors": stats.vectors,
        "pending": stats.pending,
        "kinds": dict(stats.kinds),
    }


def explanation_json(answer: Explanation) -> Json:
    """Write what became of a memory."""
    return {
        "fate": answer.fate.value,
        "sentence": answer.sentence,
        "record_id": answer.record_id,
        "related": answer.related,
        "plan_id": answer.plan_id,
        "at": _moment(answer.at),
        "reason": answer.reason,
        "score": answer.score,
        "parts": dict(answer.parts),
        "protected": answer.protected,
        "undoable": answer.undoable,
        "place": answer.place,
        "cut_off": answer.cut_off,
        "events": [event_to_wire(event) for event in answer.events],
    }


def plan_json(
    plan: ForgettingPlan,
    records: Mapping[RecordId, MemoryRecord],
    texts: Mapping[RecordId, str],
) -> Json:
    """Write a plan with all its steps; `texts` are previews, masked where sensitive."""
    return {
        "plan_id": plan.id,
        "scope": list(plan.scope),
        "created_at": format_moment(plan.created_at),
        "state": plan.state.value,
        "policy": dict(plan.policy),
        "examined": plan.examined,
        "hot": plan.hot,
        "blast_share": plan.blast_share,
        "blast_limit": plan.blast_limit,
        "steps": [
            _step(step, records.get(step.record_id), texts.get(step.record_id, ""))
            for step in plan.steps
        ],
    }


def _step(step: ForgettingStep, record: MemoryRecord | None, text: str) -> Json:
    shape: Json = {
        "record_id": step.record_id,
        "version": step.version,
        "action": step.action.value,
        "reason": step.reason.value,
        "score": step.score,
        "parts": dict(step.parts),
        "tokens": step.tokens,
    }
    if record is not None:
        shape["kind"] = record.kind
        shape["created_at"] = format_moment(record.created_at)
        shape["preview"] = text
    return shape


def receipt_json(receipt: Receipt) -> Json:
    """Write what was done."""
    return {
        "plan_id": receipt.plan_id,
        "at": format_moment(receipt.at),
        "demoted": receipt.demoted,
        "deleted": receipt.deleted,
        "restored": receipt.restored,
        "erased": receipt.erased,
        "skipped": dict(receipt.skipped),
        "undo_until": _moment(receipt.undo_until),
    }


def summaries_json(report: SummaryReport) -> Json:
    """Write what was summarized, or would be; the texts of sensitive sources are masked."""
    return {
        "at": format_moment(report.at),
        "dry_run": report.dry_run,
        "made": len(report.made),
        "refused": report.refused,
        "summaries": [_summary(each) for each in report.summaries],
        "left": dict(report.left),
    }


def _summary(summary: Summary) -> Json:
    shape: Json = asdict(summary)
    if summary.sensitive:
        shape["content"] = masked_text(summary.content)
    return shape


def erased_json(receipt: EraseReceipt) -> Json:
    """Write the proof of an erasure, or its preview."""
    return {
        "at": format_moment(receipt.at),
        "dry_run": receipt.dry_run,
        "count": len(receipt.ids),
        "ids": list(receipt.ids),
        "hashes": list(receipt.hashes),
        "reach": dict(receipt.reach),
        "withdrawn": list(receipt.withdrawn),
        "revived": [list(group) for group in receipt.revived],
        "unsure": list(receipt.unsure),
        "residue": receipt.residue.value,
        "checked": None if receipt.checked is None else asdict(receipt.checked),
        "number": receipt.number,
        "seal": receipt.seal,
        "signature": receipt.signature,
        "out_of_reach": list(receipt.out_of_reach),
    }


def erasures_json(log: ErasureLog) -> Json:
    """Write the chain of receipts and what is wrong with it."""
    return {
        "erasures": [
            {
                "number": each.number,
                "at": format_moment(each.at),
                "count": each.count,
                "ids": list(each.ids),
                "digest": each.digest,
                "reach": dict(each.reach),
                "residue": each.residue.value,
                "checked_at": _moment(each.checked_at),
                "seal": each.seal,
                "signature": each.signature,
            }
            for each in log
        ],
        "problems": list(log.problems),
        "head": log.head,
        "signed": log.signed,
    }


def checkup_json(checkup: Checkup) -> Json:
    """Write what `doctor` found."""
    return {
        "healthy": checkup.healthy,
        "problems": [
            {
                "check": problem.check,
                "scope": None if problem.scope is None else list(problem.scope),
                "ids": list(problem.ids),
                "message": problem.message,
                "repair": problem.repair,
            }
            for problem in checkup.problems
        ],
        "repaired": checkup.repaired,
        "embedded": checkup.embedded,
        "warnings": list(checkup.warnings),
    }
