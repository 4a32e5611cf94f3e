"""FollowedView: what a reader knows of a scope who has only listened to the change feed."""

from __future__ import annotations

from sfams.core.record import RecordId
from sfams.core.scope import Scope
from sfams.core.view import ViewRow
from sfams.ports import Reader
from sfams.testing.snapshot import plain_row


class FollowedView:
    """A view kept up to date from the feed alone."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.seq = 0
        self.rows: dict[RecordId, ViewRow] = {}

    def follow(self, reader: Reader) -> None:
        """Take in what changed."""
        changes = reader.changes(self.scope, self.seq)
        for row in changes.rows:
            self.rows.pop(row.id, None)
            if row.hot:
                self.rows[row.id] = row
        for record_id in changes.gone:
            self.rows.pop(record_id, None)
        self.seq = changes.seq

    def plain(self) -> dict[RecordId, tuple[object, ...]]:
        """Give the rows as plain values."""
        return {record_id: plain_row(row) for record_id, row in self.rows.items()}
