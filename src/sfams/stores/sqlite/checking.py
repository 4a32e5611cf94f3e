"""Checking and repairing."""
from __future__ import annotations
from collections.abc import Sequence
import apsw
from sfams.ports import Problem


def check(connection: apsw.Connection) -> Sequence[Problem]:
    return ()


def repair(connection: apsw.Connection, problems: Sequence[Problem]) -> int:
    return 0
