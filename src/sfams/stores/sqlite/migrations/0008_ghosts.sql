-- What is left of a forgotten record, no text: a later question or a second telling shows that it is missed.

CREATE TABLE ghost (
    number        INTEGER PRIMARY KEY,
    scope         INTEGER NOT NULL REFERENCES scope,
    record        TEXT    NOT NULL,
    at            INTEGER NOT NULL,
    action        TEXT    NOT NULL,
    reason        TEXT    NOT NULL,
    policy        TEXT    NOT NULL,
    plan          TEXT,                     -- NULL: deleted by hand
    score         REAL,
    hash          BLOB    NOT NULL,         -- HMAC-SHA256 of its content hash under the store's key
    returned_at   INTEGER,
    regrets       INTEGER NOT NULL DEFAULT 0,
    regretted_on  INTEGER,                  -- UTC day from 1970: at most one regret a day
    mark          TEXT
) STRICT;

CREATE INDEX ghost_record ON ghost (scope, record);
CREATE INDEX ghost_hash ON ghost (scope, hash);

CREATE TABLE ghost_term (
    scope  INTEGER NOT NULL,
    term   INTEGER NOT NULL,                -- 63 bits of the HMAC of a term id
    ghost  INTEGER NOT NULL REFERENCES ghost ON DELETE CASCADE,
    PRIMARY KEY (scope, term, ghost)
) STRICT, WITHOUT ROWID;

CREATE INDEX ghost_term_ghost ON ghost_term (ghost);
