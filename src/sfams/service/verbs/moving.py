"""Export, import, repair."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Unpack

from sfams.core.selecting import FilterFields, make_filter
from sfams.service import (
    dossier,
    health,
    transfer,
)
from sfams.service.reach import EraseFields
from sfams.service.results import (
    Progress,
)
from sfams.service.transfer import ImportReport
from sfams.service.verbs.base import not_text
from sfams.service.verbs.reading import ReadingVerbs


class MovingVerbs(ReadingVerbs):
    """Export, import, repair."""

    def export(self, *, below: bool = False, **fields: Unpack[FilterFields]) -> Iterator[str]:
        """Write records as JSON lines, oldest first; without a filter, every status.

        With `below` also those of the scopes below this one; each line names its scope.
        """
        selection = make_filter({"status": ["all"], "expired": True, **fields})
        scopes = self.scopes() if below else [self.scope]
        return transfer.export_lines(self._engine, scopes, selection)

    def export_subject(self, **fields: Unpack[EraseFields]) -> Iterator[str]:
        """Write all that is held on a subject as JSON lines: records of every status, versions, log."""
        return dossier.subject_lines(self._engine, self.scope, fields)

    def import_(
        self,
        lines: Iterable[str],
        *,
        keep_scopes: bool = False,
        erased: bool = False,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Take JSON lines in: our own export whole, or the classic shapes; again adds nothing.

        Exported records keep ids, dates, use, links and earlier versions; they go into this scope, or with
        `keep_scopes` into their own (this one or below it), and wait for a vector (`embed_pending`). A
        text that was erased here is refused unless `erased` lets it back in.
        """
        rules = transfer.ImportRules(keep_scopes=keep_scopes, erased=erased)
        given = not_text(lines, "lines")
        return transfer.import_lines(self._engine, self.scope, given, rules, progress)

    def doctor(self, *, repair: bool = False) -> health.Checkup:
        """Look for damage in the whole store; with `repair`, mend what can be mended."""
        return health.check(self._engine, repair=repair)
