-- Who holds a record, why and until when; since when a record is cold; what a plan says besides its steps.

ALTER TABLE record ADD COLUMN hold_owner TEXT;
ALTER TABLE record ADD COLUMN hold_reason TEXT;
ALTER TABLE record ADD COLUMN hold_until INTEGER;
ALTER TABLE record ADD COLUMN cold_since INTEGER;

ALTER TABLE plan ADD COLUMN notes TEXT NOT NULL DEFAULT '{}';  -- JSON: cause, alarm, spared, unmet

UPDATE record SET cold_since = updated_at WHERE tier = 'cold';
