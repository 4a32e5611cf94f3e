-- 0001: the first schema. It holds what this release keeps and has room for what the next ones need.
--
-- Moments are microseconds since 1970, flags 0 or 1, lists and mappings JSON, vectors little-endian
-- float32. In wide tables the small columns come first, so that scans do not read long texts.

CREATE TABLE migration (                    -- what has been applied to this file
    number    INTEGER PRIMARY KEY,
    name      TEXT NOT NULL,
    checksum  TEXT NOT NULL                 -- SHA-256 of the migration's text
) STRICT;

CREATE TABLE meta (                         -- store-wide settings: embedding model, tokenizer version
    name   TEXT PRIMARY KEY,
    value  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE secret (                       -- never exported: the key of the tombstones' HMACs
    name   TEXT PRIMARY KEY,
    value  BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE scope (
    number      INTEGER PRIMARY KEY,
    path        TEXT    NOT NULL UNIQUE,    -- JSON list of the scope's parts
    change_seq  INTEGER NOT NULL DEFAULT 0  -- raised by every write of records
) STRICT;

-- ── Records ────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE record (                       -- not STRICT: `check` reports a damaged cell by record id
    number           INTEGER PRIMARY KEY,
    scope            INTEGER NOT NULL REFERENCES scope,
    id               TEXT    NOT NULL,
    change_seq       INTEGER NOT NULL,      -- the scope's change_seq when the record last changed
    version          INTEGER NOT NULL,
    status           TEXT    NOT NULL,      -- live, superseded, summarized, deleted
    tier             TEXT    NOT NULL,      -- hot, cold
    embedding        TEXT    NOT NULL,      -- ready, pending, failed
    pinned           INTEGER NOT NULL,
    held             INTEGER NOT NULL,
    kind             TEXT    NOT NULL,
    importance       REAL    NOT NULL,
    trust            REAL    NOT NULL,
    tokens           INTEGER NOT NULL,
    created_at       INTEGER NOT NULL,
    recorded_at      INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    expires_at       INTEGER,
    grace_until      INTEGER,
    valid_from       INTEGER,
    valid_to         INTEGER,
    superseded_by    TEXT,
    twin             TEXT,                  -- the nearest other record at admission
    twin_similarity  REAL,
    sensitivity      TEXT    NOT NULL,
    language         TEXT    NOT NULL,
    session          TEXT    NOT NULL,
    turn             INTEGER,               -- ordinal in the session
    role             TEXT    NOT NULL,
    who              TEXT    NOT NULL,
    key              TEXT,                  -- the caller's own name for the record
    content_hash     TEXT    NOT NULL,
    subject          TEXT,                  -- the claim as it was said ...
    attribute        TEXT,
    value            TEXT,
    subject_key      TEXT,                  -- ... and folded, to find others about the same
    attribute_key    TEXT,
    derived_from     TEXT,                  -- JSON list of record ids, NULL if empty
    metadata         TEXT,                  -- JSON object, NULL if empty
    content          TEXT    NOT NULL
);

CREATE UNIQUE INDEX record_id ON record (scope, id);
CREATE UNIQUE INDEX record_key ON record (scope, key) WHERE key IS NOT NULL AND status <> 'erased';
CREATE UNIQUE INDEX record_hash ON record (scope, content_hash) WHERE status = 'live';
CREATE INDEX record_change ON record (scope, change_seq);
CREATE INDEX record_created ON record (scope, created_at);
CREATE INDEX record_expiry ON record (scope, expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX record_claim ON record (scope, subject_key, attribute_key) WHERE subject_key IS NOT NULL;
CREATE INDEX record_successor ON record (scope, superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX record_waiting ON record (scope, created_at) WHERE status = 'live' AND embedding = 'pending';

CREATE TABLE past_version (                 -- what a record said before it was changed
    number   INTEGER PRIMARY KEY,
    record   INTEGER NOT NULL REFERENCES record ON DELETE CASCADE,
    version  INTEGER NOT NULL,
    until    INTEGER NOT NULL,
    content  TEXT    NOT NULL
) STRICT;

CREATE INDEX past_version_record ON past_version (record, number);

CREATE TABLE entity (                       -- things that records name, in the record's spelling
    record    INTEGER NOT NULL REFERENCES record ON DELETE CASCADE,
    position  INTEGER NOT NULL,
    scope     INTEGER NOT NULL REFERENCES scope,
    key       TEXT    NOT NULL,             -- folded name: two spellings, one entity
    name      TEXT    NOT NULL,
    type      TEXT    NOT NULL,
    PRIMARY KEY (record, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX entity_key ON entity (scope, key);

CREATE TABLE tag (
    record    INTEGER NOT NULL REFERENCES record ON DELETE CASCADE,
    position  INTEGER NOT NULL,
    scope     INTEGER NOT NULL REFERENCES scope,
    name      TEXT    NOT NULL,
    PRIMARY KEY (record, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX tag_name ON tag (scope, name);

CREATE TABLE relation (
    number  INTEGER PRIMARY KEY,
    scope   INTEGER NOT NULL REFERENCES scope,
    source  INTEGER NOT NULL REFERENCES record ON DELETE CASCADE,
    type    TEXT    NOT NULL,
    target  TEXT    NOT NULL                -- record id; an import may link before the target is there
) STRICT;

CREATE UNIQUE INDEX relation_link ON relation (source, type, target);
CREATE INDEX relation_target ON relation (scope, target);

-- ── What makes records findable ────────────────────────────────────────────────────────────────

CREATE TABLE embedding_model (              -- every vector says which model made it
    number  INTEGER PRIMARY KEY,
    name    TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE vector (                       -- of the record's own text
    record  INTEGER PRIMARY KEY REFERENCES record ON DELETE CASCADE,
    model   INTEGER NOT NULL REFERENCES embedding_model,
    data    BLOB    NOT NULL
) STRICT;

CREATE TABLE context_vector (               -- second slot: the record together with what came before it
    record  INTEGER PRIMARY KEY REFERENCES record ON DELETE CASCADE,
    model   INTEGER NOT NULL REFERENCES embedding_model,
    data    BLOB    NOT NULL
) STRICT;

CREATE TABLE keyword (                      -- term ids (uint64) of a record, then counts (uint16)
    record  INTEGER PRIMARY KEY REFERENCES record ON DELETE CASCADE,
    length  INTEGER NOT NULL,               -- number of terms, repeats included
    data    BLOB    NOT NULL
) STRICT;

CREATE TABLE cold_posting (                 -- inverted index of the live records that left the view
    scope   INTEGER NOT NULL REFERENCES scope,
    term    INTEGER NOT NULL,               -- term id as a signed number
    record  INTEGER NOT NULL,
    count   INTEGER NOT NULL,
    PRIMARY KEY (scope, term, record)
) STRICT, WITHOUT ROWID;

-- ── Use, sessions, activity ────────────────────────────────────────────────────────────────────

CREATE TABLE usage (                        -- apart from `record`, so that counting never bumps `version`
    record            INTEGER PRIMARY KEY REFERENCES record ON DELETE CASCADE,
    access_count      INTEGER NOT NULL DEFAULT 0,
    last_accessed_at  INTEGER,
    used_count        INTEGER NOT NULL DEFAULT 0,
    last_used_at      INTEGER,
    access_ring       BLOB,                 -- later: a bounded ring of spaced access moments
    model_state       BLOB                  -- later: what a retention model keeps per record
) STRICT;

CREATE TABLE usage_turn (                   -- later: one access per record and turn, across processes
    record  INTEGER NOT NULL REFERENCES record ON DELETE CASCADE,
    turn    TEXT    NOT NULL,
    PRIMARY KEY (record, turn)
) STRICT, WITHOUT ROWID;

CREATE TABLE session (
    scope     INTEGER NOT NULL REFERENCES scope,
    name      TEXT    NOT NULL,
    turns     INTEGER NOT NULL DEFAULT 0,
    last_at   INTEGER,
    ended_at  INTEGER,
    PRIMARY KEY (scope, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE active_day (                   -- days (since 1970, UTC) on which something was said
    scope  INTEGER NOT NULL REFERENCES scope,
    day    INTEGER NOT NULL,
    PRIMARY KEY (scope, day)
) STRICT, WITHOUT ROWID;

-- ── The log, plans, erasures ───────────────────────────────────────────────────────────────────

CREATE TABLE event (
    scope   INTEGER NOT NULL REFERENCES scope,
    number  INTEGER NOT NULL,
    type    TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    actor   TEXT    NOT NULL,
    record  TEXT,                           -- ids, for events outlive what they tell of
    plan    TEXT,
    detail  TEXT    NOT NULL,
    PRIMARY KEY (scope, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX event_record ON event (scope, record, number) WHERE record IS NOT NULL;

CREATE TABLE plan (
    number       INTEGER PRIMARY KEY,
    scope        INTEGER NOT NULL REFERENCES scope,
    id           TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    examined     INTEGER NOT NULL,
    hot          INTEGER NOT NULL,
    blast_share  REAL    NOT NULL,
    blast_limit  REAL    NOT NULL,
    state        TEXT    NOT NULL,
    cursor       INTEGER NOT NULL,
    steps        BLOB    NOT NULL,          -- fingerprint of the steps' columns
    applied_at   INTEGER,
    undo_until   INTEGER,
    skipped      TEXT    NOT NULL,
    policy       TEXT    NOT NULL
) STRICT;

CREATE UNIQUE INDEX plan_id ON plan (scope, id);

CREATE TABLE plan_column (                  -- a plan's steps, one compressed array a column
    number  INTEGER PRIMARY KEY,
    plan    INTEGER NOT NULL REFERENCES plan ON DELETE CASCADE,
    name    TEXT    NOT NULL,
    data    BLOB    NOT NULL
) STRICT;

CREATE UNIQUE INDEX plan_column_name ON plan_column (plan, name);

CREATE TABLE tombstone (                    -- what is left of an erased record
    number      INTEGER PRIMARY KEY,
    scope       INTEGER NOT NULL REFERENCES scope,
    record      TEXT    NOT NULL,
    hash        BLOB    NOT NULL,           -- HMAC-SHA256 of its content hash under the store's key
    erased_at   INTEGER NOT NULL,
    change_seq  INTEGER NOT NULL
) STRICT;

CREATE INDEX tombstone_hash ON tombstone (scope, hash);
CREATE INDEX tombstone_change ON tombstone (scope, change_seq);

-- ── Later: work that follows a commit ──────────────────────────────────────────────────────────

CREATE TABLE outbox (                       -- for a second vector index; no text
    number   INTEGER PRIMARY KEY,
    scope    INTEGER NOT NULL REFERENCES scope,
    record   TEXT    NOT NULL,
    version  INTEGER NOT NULL,
    action   TEXT    NOT NULL,              -- upsert, delete
    at       INTEGER NOT NULL
) STRICT;

CREATE INDEX outbox_record ON outbox (scope, record);

CREATE TABLE job (
    number        INTEGER PRIMARY KEY,
    scope         INTEGER NOT NULL REFERENCES scope,
    kind          TEXT    NOT NULL,
    record        TEXT,
    state         TEXT    NOT NULL,         -- waiting, running, failed
    attempts      INTEGER NOT NULL DEFAULT 0,
    run_at        INTEGER NOT NULL,
    leased_until  INTEGER,
    detail        TEXT    NOT NULL DEFAULT '{}'
) STRICT;

CREATE INDEX job_due ON job (state, run_at);
CREATE INDEX job_record ON job (scope, record) WHERE record IS NOT NULL;
