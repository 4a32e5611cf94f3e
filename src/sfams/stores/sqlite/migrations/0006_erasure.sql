-- Receipts of erasures as a chain, and what finds everything that points to an erased record.

CREATE TABLE erasure (
    scope      INTEGER NOT NULL REFERENCES scope,
    number     INTEGER NOT NULL,            -- from 1, without gaps
    at         INTEGER NOT NULL,
    body       TEXT    NOT NULL,            -- ids, counts, digests; no text
    previous   TEXT    NOT NULL,            -- seal of the link before
    seal       TEXT    NOT NULL,
    signature  TEXT    NOT NULL,            -- '' where no key was given
    PRIMARY KEY (scope, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX record_derived ON record (scope) WHERE derived_from IS NOT NULL;
CREATE INDEX record_twin ON record (scope, twin) WHERE twin IS NOT NULL;
CREATE INDEX tombstone_record ON tombstone (scope, record);
