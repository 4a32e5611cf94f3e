"""Screening: before anything is stored, each scope's rule decides what becomes of what is sensitive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sfams.core.admission import Outcome
from sfams.core.draft import Draft
from sfams.core.entities import find_entities
from sfams.core.record import RecordId, Sensitivity
from sfams.core.scope import Scope
from sfams.core.screening import found_beside, found_in_value, redacted_draft
from sfams.core.sensitivity import Finding, SensitiveRule, find_sensitive, named
from sfams.errors import InvalidInputError, StoreError
from sfams.ports import Reader
from sfams.service import scope_settings
from sfams.service.engine import Engine
from sfams.service.results import RememberResult

SETTING = "sensitive_rule"


@dataclass(frozen=True, slots=True)
class Screened:
    """A draft as it may be stored, None if it may not, and what the caller should know."""

    draft: Draft | None
    warning: str = ""


def rule(engine: Engine, scope: Scope) -> SensitiveRule:
    """Tell the rule that holds in a scope: its own, the nearest above it, or the setting's."""
    with engine.store.read() as reader:
        return _rule(engine, reader, scope)


def set_rule(engine: Engine, scope: Scope, wanted: str | None) -> None:
    """Set a scope's own rule; None: what is above it holds again.

    Raises:
        InvalidInputError: No such rule.
    """
    if wanted is not None and wanted not in {each.value for each in SensitiveRule}:
        message = f"sensitive_rule: {wanted[:40]!r} is not one of {', '.join(SensitiveRule)}"
        raise InvalidInputError(message, field="sensitive_rule")
    scope_settings.put(engine, scope, SETTING, None if wanted is None else str(wanted))


def screen(engine: Engine, scope: Scope, drafts: Sequence[Draft]) -> list[Screened]:
    """Look at drafts on their way in; the store is asked for a rule only where something was found.

    What is let in has the label and the entities that its text tells, where the caller gave none.
    """
    found = [(find_sensitive(draft.content), found_beside(draft)) for draft in drafts]
    holds = rule(engine, scope) if any(any(each) for each in found) else SensitiveRule.STORE
    return [
        _screened(engine, draft, *findings, holds)
        for draft, findings in zip(drafts, found, strict=True)
    ]


def _screened(
    engine: Engine,
    draft: Draft,
    inside: Sequence[Finding],
    beside: Sequence[Finding],
    holds: SensitiveRule,
) -> Screened:
    findings, warning = (*inside, *beside), ""
    if findings and holds is SensitiveRule.REFUSE:
        return Screened(None, refusal(findings))
    if findings and holds is SensitiveRule.REDACT:
        draft, inside, warning = (
            redacted_draft(draft),
            (),
            f"redacted before storing: {named(findings)}",
        )
    elif findings and draft.sensitivity is None and (inside or found_in_value(draft)):
        draft = replace(draft, sensitivity=Sensitivity.SENSITIVE)
    if engine.reading.entities and not draft.entities:
        named_here = find_entities(draft.content, inside)
        draft = replace(draft, entities=named_here) if named_here else draft
    return Screened(draft, warning)


def refusal(findings: Sequence[Finding]) -> str:
    """Say why something was refused, and what to do; never what it was."""
    return (
        f"content: holds what this scope refuses ({named(findings)}); "
        "leave it out, or set the scope's rule to redact or store"
    )


def refused(warning: str) -> RememberResult:
    """Give the result of a text that was not stored."""
    return RememberResult(
        id=RecordId(""), outcome=Outcome.REFUSED, embedded=False, warnings=(warning,)
    )


def _rule(engine: Engine, reader: Reader, scope: Scope) -> SensitiveRule:
    own = scope_settings.inherited(reader, scope, SETTING)
    if own is None:
        return engine.reading.sensitive_rule
    where, value = own
    try:
        return SensitiveRule(str(value))
    except ValueError as error:
        message = f"the setting {SETTING} of {where} is unknown to this release"
        raise StoreError(message, name=SETTING) from error
