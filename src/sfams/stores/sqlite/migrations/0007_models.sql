-- What retention models count: the turns that a scope has logged, and how far that was when a record came.

ALTER TABLE scope ADD COLUMN turns INTEGER NOT NULL DEFAULT 0;          -- never falls, as session.turns may
ALTER TABLE record ADD COLUMN learned_turn INTEGER NOT NULL DEFAULT 0;  -- scope.turns at its insertion

UPDATE scope SET turns = (SELECT coalesce(sum(turns), 0) FROM session WHERE session.scope = scope.number);
UPDATE record SET learned_turn = (SELECT turns FROM scope WHERE scope.number = record.scope);
