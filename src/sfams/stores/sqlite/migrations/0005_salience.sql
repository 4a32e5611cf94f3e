-- How much a text stood out from what was usual when it was told; one half where nobody measured it.

ALTER TABLE record ADD COLUMN salience REAL NOT NULL DEFAULT 0.5;
