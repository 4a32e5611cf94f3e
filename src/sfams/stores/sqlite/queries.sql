-- Every fixed statement of the SQLite store, by name. Values are bound, never formatted in.
-- `?1` is the scope's number wherever a statement looks into one scope. CROSS JOIN tells SQLite to
-- begin with the wanted values: it knows nothing of their number and would rather scan the records.

-- name: scope_number
SELECT number FROM scope WHERE path = ?1;

-- name: scope_add
INSERT INTO scope (path) VALUES (?1) RETURNING number;

-- name: scope_paths
SELECT path FROM scope WHERE EXISTS (SELECT 1 FROM record WHERE record.scope = scope.number);

-- name: change_seq
SELECT change_seq FROM scope WHERE number = ?1;

-- name: change_seq_raise
UPDATE scope SET change_seq = change_seq + 1 WHERE number = ?1 RETURNING change_seq;

-- name: meta
SELECT value FROM meta WHERE name = ?1;

-- name: meta_set
INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: setting
SELECT scope_setting.value FROM scope JOIN scope_setting ON scope_setting.scope = scope.number
WHERE scope.path = ?1 AND scope_setting.name = ?2;

-- name: setting_put
INSERT INTO scope_setting (scope, name, value) VALUES (?1, ?2, ?3)
ON CONFLICT (scope, name) DO UPDATE SET value = excluded.value;

-- name: setting_drop
DELETE FROM scope_setting WHERE scope = ?1 AND name = ?2;

-- name: secret
SELECT value FROM secret WHERE name = ?1;


-- ── Records ──────────────────────────────────────────────────────────────────────────────────────

-- name: record_next
SELECT coalesce(max(number), 0) + 1 FROM record;

-- name: record_numbers
SELECT record.id, record.number FROM json_each(?2) AS wanted
CROSS JOIN record ON record.scope = ?1 AND record.id = wanted.value;

-- name: past_versions
SELECT past_version.version, past_version.content, past_version.until FROM record
JOIN past_version ON past_version.record = record.number
WHERE record.scope = ?1 AND record.id = ?2 ORDER BY past_version.number;

-- name: past_version_keep
INSERT INTO past_version (record, version, until, content)
SELECT number, version, ?3, content FROM record WHERE number = ?1 AND content <> ?2;

-- name: past_version_add
INSERT INTO past_version (record, version, until, content) VALUES (?1, ?2, ?3, ?4);

-- name: record_vacate
UPDATE record SET content_hash = 'vacated:' || number, key = NULL WHERE number = ?1;

-- name: record_by_hash
SELECT record.content_hash, record.id FROM json_each(?2) AS wanted
CROSS JOIN record INDEXED BY record_hash
    ON record.scope = ?1 AND record.content_hash = wanted.value AND record.status = 'live';

-- name: record_replaced_by
SELECT record.id FROM json_each(?2) AS wanted
CROSS JOIN record INDEXED BY record_successor
    ON record.scope = ?1 AND record.superseded_by = wanted.value
WHERE record.status <> 'erased' ORDER BY record.id;

-- name: record_by_key
SELECT record.key, record.id FROM json_each(?2) AS wanted
CROSS JOIN record INDEXED BY record_key
    ON record.scope = ?1 AND record.key = wanted.value AND record.status <> 'erased';

-- name: record_by_claim
SELECT record.id FROM json_each(?2) AS wanted
CROSS JOIN record ON record.scope = ?1 AND record.subject_key = wanted.value ->> 0
    AND record.attribute_key = wanted.value ->> 1
WHERE record.status = 'live' ORDER BY record.id;

-- name: record_waiting
SELECT id FROM record
WHERE scope = ?1 AND status = 'live' AND embedding = 'pending' ORDER BY created_at, id LIMIT ?2;

-- name: record_unreadable
SELECT id FROM record
WHERE scope = ?1 AND NOT (
    typeof(version) = 'integer' AND typeof(importance) = 'real' AND typeof(tokens) = 'integer'
    AND typeof(created_at) = 'integer' AND typeof(recorded_at) = 'integer'
    AND typeof(updated_at) = 'integer' AND typeof(expires_at) IN ('integer', 'null')
    AND typeof(grace_until) IN ('integer', 'null') AND typeof(valid_from) IN ('integer', 'null')
    AND typeof(valid_to) IN ('integer', 'null') AND typeof(turn) IN ('integer', 'null')
    AND typeof(pinned) = 'integer' AND typeof(held) = 'integer'
    AND status IN ('live', 'superseded', 'summarized', 'deleted')
    AND tier IN ('hot', 'cold') AND embedding IN ('ready', 'pending', 'failed')
    AND sensitivity IN ('normal', 'sensitive')
    AND typeof(salience) = 'real'
    AND typeof(hold_until) IN ('integer', 'null') AND typeof(cold_since) IN ('integer', 'null')
    AND coalesce(hold_until, 0) BETWEEN ?2 AND ?3 AND coalesce(cold_since, 0) BETWEEN ?2 AND ?3
    AND json_valid(coalesce(metadata, '{}')) AND json_valid(coalesce(derived_from, '[]'))
    AND typeof(trust) = 'real' AND typeof(twin_similarity) IN ('real', 'null') AND typeof(content) = 'text'
    AND created_at BETWEEN ?2 AND ?3 AND recorded_at BETWEEN ?2 AND ?3
    AND updated_at BETWEEN ?2 AND ?3 AND coalesce(expires_at, 0) BETWEEN ?2 AND ?3
    AND coalesce(grace_until, 0) BETWEEN ?2 AND ?3 AND coalesce(valid_from, 0) BETWEEN ?2 AND ?3
    AND coalesce(valid_to, 0) BETWEEN ?2 AND ?3 AND typeof(learned_turn) = 'integer'
    AND NOT EXISTS (
        SELECT 1 FROM usage WHERE usage.record = record.number AND (
            length(access_ring) % 8 <> 0 OR length(access_ring) < 24 OR length(model_state) % 16 <> 0
        )
    )
) ORDER BY id;

-- name: entities_of
SELECT record, name, type FROM entity
WHERE record IN (SELECT value FROM json_each(?1)) ORDER BY record, position;

-- name: tags_of
SELECT record, name FROM tag WHERE record IN (SELECT value FROM json_each(?1)) ORDER BY record, position;

-- name: relations_of
SELECT source, type, target FROM relation
WHERE source IN (SELECT value FROM json_each(?1)) ORDER BY source, number;

-- name: entity_add
INSERT INTO entity (record, position, scope, key, name, type) VALUES (?1, ?2, ?3, ?4, ?5, ?6);

-- name: entity_clear
DELETE FROM entity WHERE record = ?1;

-- name: tag_add
INSERT INTO tag (record, position, scope, name) VALUES (?1, ?2, ?3, ?4);

-- name: tag_clear
DELETE FROM tag WHERE record = ?1;

-- name: relation_add
INSERT INTO relation (scope, source, type, target) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING;

-- name: relation_remove
DELETE FROM relation WHERE scope = ?1 AND source = ?2 AND type = ?3 AND target = ?4;

-- name: relation_clear
DELETE FROM relation WHERE source = ?1;

-- name: linked
SELECT source.id, relation.type, relation.target
FROM relation
JOIN record AS source ON source.number = relation.source AND source.status = 'live'
JOIN record AS target ON target.scope = relation.scope AND target.id = relation.target AND target.status = 'live'
WHERE relation.number IN (
    SELECT number FROM relation WHERE scope = ?1 AND target IN (SELECT value FROM json_each(?2))
    UNION
    SELECT relation.number FROM json_each(?2) AS wanted
    CROSS JOIN record ON record.scope = ?1 AND record.id = wanted.value
    CROSS JOIN relation ON relation.source = record.number
)
ORDER BY source.id, relation.number;

-- name: entity_counts
SELECT min(entity.name), entity.type, count(DISTINCT entity.record) AS records
FROM entity JOIN record ON record.number = entity.record
WHERE entity.scope = ?1 AND record.status = 'live'
GROUP BY entity.key, entity.type ORDER BY records DESC, min(entity.name), entity.type;

-- name: transition
UPDATE record SET
    change_seq = ?3, version = version + 1, updated_at = ?4,
    tier = coalesce(?5, tier), grace_until = coalesce(?6, grace_until),
    pinned = coalesce(?7, pinned), held = coalesce(?8, held),
    hold_owner = iif(?8 IS NULL, hold_owner, ?9), hold_reason = iif(?8 IS NULL, hold_reason, ?10),
    hold_until = iif(?8 IS NULL, hold_until, ?11),
    cold_since = CASE WHEN ?5 = 'cold' AND tier <> 'cold' THEN ?4 WHEN ?5 = 'hot' THEN NULL ELSE cold_since END
WHERE scope = ?1 AND id = ?2;

-- name: transition_status
UPDATE record SET status = ?3 WHERE scope = ?1 AND id = ?2;

-- name: transition_validity
UPDATE record SET valid_from = ?3, valid_to = ?4, superseded_by = ?5 WHERE scope = ?1 AND id = ?2;

-- name: rivals
SELECT id FROM record WHERE scope = ?1 AND id IN (SELECT value FROM json_each(?2))
UNION SELECT id FROM record WHERE scope = ?1 AND key IN (SELECT value FROM json_each(?3))
UNION SELECT id FROM record
WHERE scope = ?1 AND status = 'live' AND content_hash IN (SELECT value FROM json_each(?4));

-- name: twins
SELECT DISTINCT twin.id FROM json_each(?2) AS wanted
CROSS JOIN record ON record.scope = ?1 AND record.id = wanted.value
CROSS JOIN record AS twin ON twin.scope = ?1 AND twin.content_hash = record.content_hash
    AND twin.status = 'live' AND twin.number <> record.number;

-- name: cold_among
SELECT record.number FROM json_each(?1) AS wanted CROSS JOIN record ON record.number = wanted.value
WHERE record.status = 'live' AND record.tier = 'cold';


-- ── Vectors, keywords, the view ──────────────────────────────────────────────────────────────────

-- name: model_number
INSERT INTO embedding_model (name) VALUES (?1) ON CONFLICT (name) DO UPDATE SET name = name RETURNING number;

-- name: vector_put
INSERT INTO vector (record, model, data) VALUES (?1, ?2, ?3)
ON CONFLICT (record) DO UPDATE SET model = excluded.model, data = excluded.data;

-- name: vector_remove
DELETE FROM vector WHERE record = ?1;

-- name: vector_state
UPDATE record SET embedding = ?2, change_seq = ?3 WHERE number = ?1;

-- name: vectors
SELECT record.id, vector.data FROM json_each(?2) AS wanted
CROSS JOIN record ON record.scope = ?1 AND record.id = wanted.value
JOIN vector ON vector.record = record.number;

-- name: keyword_put
INSERT INTO keyword (record, length, data) VALUES (?1, ?2, ?3)
ON CONFLICT (record) DO UPDATE SET length = excluded.length, data = excluded.data;

-- name: keywords_of
SELECT record, data FROM keyword WHERE record IN (SELECT value FROM json_each(?1));

-- name: posting_add
INSERT OR REPLACE INTO cold_posting (scope, term, record, count) VALUES (?1, ?2, ?3, ?4);

-- name: posting_remove
DELETE FROM cold_posting WHERE scope = ?1 AND term = ?2 AND record = ?3;

-- name: cold_postings
SELECT record.id, posting.term, posting.count, keyword.length,
    record.importance, record.created_at, record.expires_at
FROM json_each(?2) AS wanted
CROSS JOIN cold_posting AS posting ON posting.scope = ?1 AND posting.term = wanted.value
JOIN record ON record.number = posting.record AND record.status = 'live' AND record.tier = 'cold'
JOIN keyword ON keyword.record = posting.record
ORDER BY record.id;

-- name: changed
SELECT record.id, record.status = 'live' AND record.tier = 'hot' AS hot, record.kind, record.importance,
    record.created_at, record.expires_at, record.session, record.who, record.turn, record.tokens,
    vector.data, keyword.data
FROM record
LEFT JOIN vector ON vector.record = record.number AND record.status = 'live' AND record.tier = 'hot'
LEFT JOIN keyword ON keyword.record = record.number AND record.status = 'live' AND record.tier = 'hot'
WHERE record.scope = ?1 AND record.change_seq > ?2;

-- name: hot
SELECT record.id, 1, record.kind, record.importance,
    record.created_at, record.expires_at, record.session, record.who, record.turn, record.tokens,
    vector.data, keyword.data
FROM record
LEFT JOIN vector ON vector.record = record.number
LEFT JOIN keyword ON keyword.record = record.number
WHERE record.scope = ?1 AND record.status = 'live' AND record.tier = 'hot' ORDER BY record.id;

-- name: gone
SELECT DISTINCT record FROM tombstone
WHERE scope = ?1 AND change_seq > ?2
    AND NOT EXISTS (SELECT 1 FROM record WHERE record.scope = ?1 AND record.id = tombstone.record)
ORDER BY record;

-- name: columns
SELECT record.id, record.version, record.kind, record.importance, record.salience, record.created_at,
    coalesce(usage.last_accessed_at, ?2), coalesce(usage.access_count, 0), coalesce(usage.used_count, 0),
    coalesce(record.expires_at, ?3), coalesce(record.grace_until, ?2), record.tokens,
    octet_length(record.content), iif(record.tier = 'cold', coalesce(record.cold_since, record.updated_at), ?2), record.twin, coalesce(record.twin_similarity, 0.0),
    record.pinned + 2 * (record.held AND coalesce(record.hold_until > ?4, 1))
        + 4 * (record.tier = 'cold') + 8 * (record.sensitivity <> 'normal')
    /* on demand */
FROM record LEFT JOIN usage ON usage.record = record.number
WHERE record.scope = ?1 AND record.status = 'live' ORDER BY record.id;


-- ── Use, sessions, activity ──────────────────────────────────────────────────────────────────────

-- name: usage_set
INSERT INTO usage (record, access_count, last_accessed_at, used_count, last_used_at, access_ring, model_state)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7);

-- name: usage_add
INSERT INTO usage (record, access_count, last_accessed_at, used_count, last_used_at, access_ring, model_state)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (record) DO UPDATE SET
    access_count = access_count + excluded.access_count,
    used_count = used_count + excluded.used_count,
    access_ring = excluded.access_ring,
    model_state = excluded.model_state,
    last_accessed_at = coalesce(max(last_accessed_at, excluded.last_accessed_at), last_accessed_at, excluded.last_accessed_at),
    last_used_at = coalesce(max(last_used_at, excluded.last_used_at), last_used_at, excluded.last_used_at);

-- name: usage_of
SELECT record.id, record.number, record.created_at, record.learned_turn,
    coalesce(usage.access_count, 0), usage.last_accessed_at, coalesce(usage.used_count, 0), usage.last_used_at,
    usage.access_ring, usage.model_state
FROM record LEFT JOIN usage ON usage.record = record.number
WHERE record.scope = ?1 AND record.id IN (SELECT value FROM json_each(?2));

-- name: scope_turns
SELECT turns FROM scope WHERE number = ?1;

-- name: scope_turn_log
UPDATE scope SET turns = turns + 1 WHERE number = ?1;

-- name: turns
SELECT turns FROM session WHERE scope = ?1 AND name = ?2;

-- name: turn_log
INSERT INTO session (scope, name, turns, last_at) VALUES (?1, ?2, 1, ?3)
ON CONFLICT (scope, name) DO UPDATE SET turns = turns + 1, last_at = excluded.last_at RETURNING turns;

-- name: session_end
INSERT INTO session (scope, name, ended_at) VALUES (?1, ?2, ?3)
ON CONFLICT (scope, name) DO UPDATE SET ended_at = excluded.ended_at;

-- name: active_days
SELECT day FROM active_day WHERE scope = ?1 ORDER BY day;

-- name: active_day_add
INSERT INTO active_day (scope, day) VALUES (?1, ?2) ON CONFLICT DO NOTHING;

-- name: count_statuses
SELECT iif(status = 'live' AND expires_at <= ?2, 'expired', status) AS standing, count(*)
FROM record WHERE scope = ?1 GROUP BY standing ORDER BY standing;

-- name: count_kinds
SELECT kind, count(*) FROM record
WHERE scope = ?1 AND status = 'live' AND (expires_at IS NULL OR expires_at > ?2)
GROUP BY kind ORDER BY kind;

-- name: count_live
SELECT count(*) FILTER (WHERE tier = 'hot' AND fresh), count(*) FILTER (WHERE tier = 'cold' AND fresh),
    coalesce(sum(tokens) FILTER (WHERE tier = 'hot' AND fresh), 0), count(embedded),
    count(*) FILTER (WHERE embedding = 'pending')
FROM (
    SELECT tier, tokens, embedding, vector.record AS embedded,
        expires_at IS NULL OR expires_at > ?2 AS fresh
    FROM record LEFT JOIN vector ON vector.record = record.number
    WHERE record.scope = ?1 AND record.status = 'live'
);


-- ── The log, plans, erasures ─────────────────────────────────────────────────────────────────────

-- name: event_next
SELECT coalesce(max(number), 0) + 1 FROM event WHERE scope = ?1;

-- name: event_add
INSERT INTO event (scope, number, type, at, actor, record, plan, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8);

-- name: events
SELECT number, type, at, actor, record, plan, detail FROM event
WHERE scope = ?1 AND number > ?2 ORDER BY number LIMIT ?3;

-- name: events_of
SELECT number, type, at, actor, record, plan, detail FROM event
WHERE scope = ?1 AND number > ?2 AND record IN (SELECT value FROM json_each(?4)) ORDER BY number LIMIT ?3;

-- name: event_scrub
UPDATE event SET detail = '{}' WHERE scope = ?1 AND record IN (SELECT value FROM json_each(?2));

-- name: event_details
SELECT number, detail FROM event WHERE scope = ?1 AND instr(detail, '-') > 0;

-- name: event_detail_set
UPDATE event SET detail = ?3 WHERE scope = ?1 AND number = ?2;

-- name: plan_ids
SELECT id FROM plan WHERE scope = ?1 ORDER BY created_at DESC, id DESC LIMIT ?2;

-- name: plan
SELECT number, steps, created_at, examined, hot, blast_share, blast_limit, policy, notes,
    state, cursor, applied_at, undo_until, skipped
FROM plan WHERE scope = ?1 AND id = ?2;

-- name: plan_put
INSERT INTO plan (scope, id, created_at, examined, hot, blast_share, blast_limit, state, cursor,
    applied_at, undo_until, skipped, policy, notes, steps)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
ON CONFLICT (scope, id) DO UPDATE SET
    created_at = excluded.created_at, examined = excluded.examined, hot = excluded.hot,
    blast_share = excluded.blast_share, blast_limit = excluded.blast_limit, state = excluded.state,
    cursor = excluded.cursor, applied_at = excluded.applied_at, undo_until = excluded.undo_until,
    skipped = excluded.skipped, policy = excluded.policy, notes = excluded.notes,
    steps = excluded.steps
RETURNING number;

-- name: plan_advance
UPDATE plan SET state = ?3, cursor = ?4, applied_at = ?5, undo_until = ?6, skipped = ?7
WHERE scope = ?1 AND id = ?2 RETURNING number;

-- name: plan_members
SELECT plan.id, plan.skipped, plan.notes, plan_column.data FROM plan
JOIN plan_column ON plan_column.plan = plan.number AND plan_column.name = 'ids'
WHERE plan.scope = ?1;

-- name: plan_columns
SELECT name, data FROM plan_column WHERE plan = ?1 ORDER BY number;

-- name: plan_column_add
INSERT INTO plan_column (plan, name, data) VALUES (?1, ?2, ?3);

-- name: plan_columns_clear
DELETE FROM plan_column WHERE plan = ?1;

-- name: tombstones
SELECT hash, record FROM tombstone
WHERE scope = ?1 AND hash IN (SELECT unhex(value) FROM json_each(?2)) ORDER BY number;

-- name: tombstone_lifted
SELECT DISTINCT record FROM tombstone
WHERE scope = ?1 AND hash <> x'' AND (
    record IN (SELECT value FROM json_each(?2)) OR hash IN (SELECT unhex(value) FROM json_each(?3))
) ORDER BY record;

-- The row stays: it tells open views that the record is gone.
-- name: tombstone_lift
UPDATE tombstone SET hash = x'' WHERE scope = ?1 AND hash IN (
    SELECT hash FROM tombstone
    WHERE scope = ?1 AND hash <> x'' AND record IN (SELECT value FROM json_each(?2))
);

-- name: erasure_add
INSERT INTO erasure (scope, number, at, body, previous, seal, signature) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7);

-- name: erasures
SELECT number, at, body, previous, seal, signature FROM (
    SELECT * FROM erasure WHERE scope = ?1 ORDER BY number DESC LIMIT ?2
) ORDER BY number;

-- name: record_made_from
SELECT DISTINCT record.id FROM record INDEXED BY record_derived
CROSS JOIN json_each(record.derived_from) AS source
WHERE record.scope = ?1 AND record.derived_from IS NOT NULL
    AND source.value IN (SELECT value FROM json_each(?2))
ORDER BY record.id;

-- name: tombstone_add
INSERT INTO tombstone (scope, record, hash, erased_at, change_seq) VALUES (?1, ?2, ?3, ?4, ?5);

-- name: erase_targets
SELECT record.id, record.number FROM json_each(?2) AS wanted
CROSS JOIN record ON record.scope = ?1 AND record.id = wanted.value
GROUP BY record.number ORDER BY record.id;

-- name: erase_successors
UPDATE record SET superseded_by = NULL WHERE scope = ?1 AND superseded_by IN (SELECT value FROM json_each(?2));

-- name: erase_twins
UPDATE record SET twin = NULL, twin_similarity = NULL
WHERE scope = ?1 AND twin IN (SELECT value FROM json_each(?2));

-- name: erase_sources
UPDATE record SET derived_from = (
    SELECT CASE count(*) WHEN 0 THEN NULL ELSE json_group_array(source.value ORDER BY source.key) END
    FROM json_each(record.derived_from) AS source
    WHERE source.value NOT IN (SELECT value FROM json_each(?2))
)
WHERE scope = ?1 AND derived_from IS NOT NULL AND EXISTS (
    SELECT 1 FROM json_each(record.derived_from) AS source
    WHERE source.value IN (SELECT value FROM json_each(?2))
);

-- name: erase_sessions
DELETE FROM session WHERE scope = ?1 AND name IN (SELECT value FROM json_each(?2))
    AND NOT EXISTS (SELECT 1 FROM record WHERE record.scope = ?1 AND record.session = session.name);

-- name: erase_all_sessions
DELETE FROM session WHERE scope = ?1 AND NOT EXISTS (SELECT 1 FROM record WHERE record.scope = ?1);

-- name: erase_record
DELETE FROM record WHERE number = ?1;

-- name: erase_links
DELETE FROM relation WHERE scope = ?1 AND target IN (SELECT value FROM json_each(?2));

-- name: erase_outbox
DELETE FROM outbox WHERE scope = ?1 AND record IN (SELECT value FROM json_each(?2));

-- name: erase_jobs
DELETE FROM job WHERE scope = ?1 AND record IN (SELECT value FROM json_each(?2));

-- name: erase_ghosts
DELETE FROM ghost WHERE scope = ?1 AND record IN (SELECT value FROM json_each(?2));


-- ── Ghosts ───────────────────────────────────────────────────────────────────────────────────────

-- name: ghosts
SELECT record, at, action, reason, policy, plan, score, returned_at, regrets, mark
FROM ghost WHERE scope = ?1 ORDER BY number;

-- name: ghosts_of
SELECT record, at, action, reason, policy, plan, score, returned_at, regrets, mark
FROM ghost WHERE scope = ?1 AND record IN (SELECT value FROM json_each(?2)) ORDER BY number;

-- name: ghosts_by_term
SELECT ghost.record FROM ghost_term CROSS JOIN ghost ON ghost.number = ghost_term.ghost
WHERE ghost_term.scope = ?1 AND ghost_term.term = ?2 AND ghost.returned_at IS NULL
ORDER BY ghost_term.ghost DESC LIMIT ?3;

-- name: ghosts_by_hash
SELECT hash, record FROM ghost
WHERE scope = ?1 AND hash IN (SELECT unhex(value) FROM json_each(?2)) AND returned_at IS NULL
ORDER BY number;

-- name: ghost_any
SELECT 1 FROM ghost WHERE scope = ?1 LIMIT 1;

-- name: ghost_next
SELECT coalesce(max(number), 0) + 1 FROM ghost;

-- name: ghost_add
INSERT INTO ghost (number, scope, record, at, action, reason, policy, plan, score, hash)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10);

-- name: ghost_term_add
INSERT OR IGNORE INTO ghost_term (scope, term, ghost) VALUES (?1, ?2, ?3);

-- name: ghost_regret
UPDATE ghost SET regrets = regrets + 1, regretted_on = ?3
WHERE coalesce(regretted_on, ?3 - 1) < ?3 AND number IN (
    SELECT max(number) FROM ghost
    WHERE scope = ?1 AND record IN (SELECT value FROM json_each(?2)) GROUP BY record
);

-- name: ghost_return
UPDATE ghost SET returned_at = ?3
WHERE returned_at IS NULL AND number IN (
    SELECT max(number) FROM ghost
    WHERE scope = ?1 AND record IN (SELECT value FROM json_each(?2)) GROUP BY record
);

-- name: ghost_mark
UPDATE ghost SET mark = ?3 WHERE number = (
    SELECT max(number) FROM ghost WHERE scope = ?1 AND record = ?2
) RETURNING number;


-- ── Checks and repairs ───────────────────────────────────────────────────────────────────────────

-- name: scopes
SELECT number, path FROM scope ORDER BY path;

-- name: check_vectors
SELECT id FROM record
WHERE scope = ?1 AND embedding = 'ready' AND NOT EXISTS (SELECT 1 FROM vector WHERE vector.record = record.number);

-- name: check_models
SELECT record.id FROM vector
JOIN record ON record.number = vector.record
JOIN embedding_model AS model ON model.number = vector.model
WHERE record.scope = ?1 AND (
    model.name <> (SELECT value FROM meta WHERE name = 'embedding_model')
    OR length(vector.data) <> 4 * (SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'embedding_dimension')
);

-- name: record_ids
SELECT id FROM record WHERE scope = ?1 ORDER BY id;

-- name: check_keywords
SELECT record.id, keyword.data FROM json_each(?2) AS wanted
CROSS JOIN record ON record.scope = ?1 AND record.id = wanted.value
JOIN keyword ON keyword.record = record.number;

-- name: check_cold_keywords
SELECT record.id, keyword.data FROM record JOIN keyword ON keyword.record = record.number
WHERE record.scope = ?1 AND record.status = 'live' AND record.tier = 'cold';

-- name: check_postings
SELECT record.id, count(*), sum(posting.count), sum(posting.term % ?2)
FROM cold_posting AS posting JOIN record ON record.number = posting.record
WHERE posting.scope = ?1 GROUP BY posting.record;

-- name: repair_vectors
UPDATE record SET embedding = 'pending', change_seq = ?2
WHERE scope = ?1 AND embedding = 'ready' AND NOT EXISTS (SELECT 1 FROM vector WHERE vector.record = record.number);

-- name: repair_models
DELETE FROM vector WHERE record IN (
    SELECT vector.record FROM vector
    JOIN record ON record.number = vector.record
    JOIN embedding_model AS model ON model.number = vector.model
    WHERE record.scope = ?1 AND (
        model.name <> (SELECT value FROM meta WHERE name = 'embedding_model')
        OR length(vector.data) <> 4 * (SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'embedding_dimension')
    )
);

-- name: record_touch
UPDATE record SET change_seq = ?2 WHERE number = ?1;

-- name: repair_cells
UPDATE record SET
    created_at = CASE WHEN typeof(created_at) = 'integer' AND created_at BETWEEN ?2 AND ?3 THEN created_at
        WHEN typeof(recorded_at) = 'integer' AND recorded_at BETWEEN ?2 AND ?3 THEN recorded_at
        WHEN typeof(updated_at) = 'integer' AND updated_at BETWEEN ?2 AND ?3 THEN updated_at ELSE 0 END,
    recorded_at = CASE WHEN typeof(recorded_at) = 'integer' AND recorded_at BETWEEN ?2 AND ?3 THEN recorded_at
        WHEN typeof(created_at) = 'integer' AND created_at BETWEEN ?2 AND ?3 THEN created_at
        WHEN typeof(updated_at) = 'integer' AND updated_at BETWEEN ?2 AND ?3 THEN updated_at ELSE 0 END,
    updated_at = CASE WHEN typeof(updated_at) = 'integer' AND updated_at BETWEEN ?2 AND ?3 THEN updated_at
        WHEN typeof(created_at) = 'integer' AND created_at BETWEEN ?2 AND ?3 THEN created_at
        WHEN typeof(recorded_at) = 'integer' AND recorded_at BETWEEN ?2 AND ?3 THEN recorded_at ELSE 0 END,
    expires_at = iif(typeof(expires_at) = 'integer' AND expires_at BETWEEN ?2 AND ?3, expires_at, NULL),
    grace_until = iif(typeof(grace_until) = 'integer' AND grace_until BETWEEN ?2 AND ?3, grace_until, NULL),
    valid_from = iif(typeof(valid_from) = 'integer' AND valid_from BETWEEN ?2 AND ?3, valid_from, NULL),
    valid_to = iif(typeof(valid_to) = 'integer' AND valid_to BETWEEN ?2 AND ?3, valid_to, NULL),
    importance = iif(typeof(importance) = 'real' AND importance BETWEEN 0 AND 1, importance, 0.5),
    tokens = iif(typeof(tokens) = 'integer', tokens, 1),
    salience = iif(typeof(salience) = 'real' AND salience BETWEEN 0 AND 1, salience, 0.5),
    version = iif(typeof(version) = 'integer', version, 1) + 1,
    turn = iif(typeof(turn) = 'integer', turn, NULL),
    learned_turn = iif(typeof(learned_turn) = 'integer', learned_turn, 0),
    twin_similarity = iif(typeof(twin_similarity) = 'real', twin_similarity, NULL),
    twin = iif(typeof(twin_similarity) = 'real', twin, NULL),
    pinned = iif(typeof(pinned) = 'integer', pinned, 1),
    held = iif(typeof(held) = 'integer', held, 0),
    hold_until = iif(typeof(hold_until) = 'integer' AND hold_until BETWEEN ?2 AND ?3, hold_until, NULL),
    cold_since = iif(typeof(cold_since) = 'integer' AND cold_since BETWEEN ?2 AND ?3, cold_since, NULL),
    change_seq = ?5
WHERE scope = ?1 AND id IN (SELECT value FROM json_each(?4)) AND typeof(content) = 'text';

-- name: repair_traces
UPDATE usage SET access_ring = NULL, model_state = NULL
WHERE record IN (SELECT number FROM record WHERE scope = ?1 AND id IN (SELECT value FROM json_each(?2)))
    AND (length(access_ring) % 8 <> 0 OR length(access_ring) < 24 OR length(model_state) % 16 <> 0);

-- name: repair_content
UPDATE record SET content_hash = ?2, embedding = 'pending', version = version + 1, change_seq = ?3
WHERE number = ?1;

-- name: postings_drop
DELETE FROM cold_posting WHERE scope = ?1 AND record IN (SELECT value FROM json_each(?2));


-- ── Reindexing ───────────────────────────────────────────────────────────────────────────────────

-- name: record_count
SELECT count(*) FROM record;

-- name: staged_counts
SELECT model.name, count(*) FROM staged_vector AS staged
JOIN embedding_model AS model ON model.number = staged.model GROUP BY model.name;

-- name: unstaged
SELECT scope.number, scope.path, record.id FROM record JOIN scope ON scope.number = record.scope
WHERE NOT EXISTS (
    SELECT 1 FROM staged_vector AS staged
    WHERE staged.record = record.number AND staged.dimension = ?2
        AND staged.model = (SELECT number FROM embedding_model WHERE name = ?1)
)
ORDER BY record.number LIMIT ?3;

-- name: stage
INSERT INTO staged_vector (record, model, dimension, data)
SELECT number, ?3, ?4, ?5 FROM record WHERE scope = ?1 AND id = ?2 AND content = ?6 AND who = ?7
ON CONFLICT (record, model, dimension) DO UPDATE SET data = excluded.data;

-- name: staged_outdated
DELETE FROM staged_vector WHERE record = ?1 AND EXISTS (
    SELECT 1 FROM record WHERE number = ?1 AND (content <> ?2 OR who <> ?3)
);

-- name: staged_remove
DELETE FROM staged_vector WHERE record = ?1;

-- name: adopt_seqs
UPDATE scope SET change_seq = change_seq + 1
WHERE EXISTS (SELECT 1 FROM record WHERE record.scope = scope.number);

-- name: adopt_states
UPDATE record SET
    change_seq = (SELECT scope.change_seq FROM scope WHERE scope.number = record.scope),
    embedding = coalesce(
        (
            SELECT CASE WHEN staged.data IS NULL THEN 'failed' ELSE 'ready' END FROM staged_vector AS staged
            WHERE staged.record = record.number AND staged.model = ?1 AND staged.dimension = ?2
        ),
        (
            SELECT record.embedding FROM vector
            WHERE vector.record = record.number AND vector.model = ?1 AND length(vector.data) = 4 * ?2
        ),
        'pending'
    );

-- name: adopt_leave
DELETE FROM vector WHERE model <> ?1 OR length(data) <> 4 * ?2
    OR record IN (SELECT record FROM staged_vector WHERE model = ?1 AND dimension = ?2);

-- name: adopt_leave_context
DELETE FROM context_vector WHERE model <> ?1 OR length(data) <> 4 * ?2;

-- name: adopt_take
INSERT INTO vector (record, model, data)
SELECT record, model, data FROM staged_vector
WHERE model = ?1 AND dimension = ?2 AND data IS NOT NULL ORDER BY record;

-- name: adopt_clear
DELETE FROM staged_vector;

-- name: adopt_counts
SELECT embedding, count(*) FROM record GROUP BY embedding;
