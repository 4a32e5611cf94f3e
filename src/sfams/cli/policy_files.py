"""Policies as the command line names them: a preset, or a file."""

from __future__ import annotations

from pathlib import Path

from sfams.core.policy import RetentionPolicy
from sfams.core.policy_toml import policy_from_toml
from sfams.core.presets import PRESETS, preset
from sfams.errors import InvalidInputError, NotFoundError


def read(named: str) -> RetentionPolicy:
    """Take a preset by name, or read a file."""
    if named in PRESETS:
        return preset(named)
    path = Path(named)
    if not path.exists():
        message = f"policy: {named[:60]!r} is neither a file nor one of {', '.join(PRESETS)}"
        raise NotFoundError(message)
    try:
        return policy_from_toml(path.read_text(encoding="utf-8"), path.name)
    except (OSError, UnicodeDecodeError) as error:
        message = f"policy: {path.name} cannot be read: {error}"
        raise InvalidInputError(message, field="policy") from error
