-- Settings of a scope: what holds in it and, unless they have their own, in the scopes below it.

CREATE TABLE scope_setting (
    scope  INTEGER NOT NULL REFERENCES scope,
    name   TEXT    NOT NULL,
    value  TEXT    NOT NULL,                -- JSON
    PRIMARY KEY (scope, name)
) STRICT, WITHOUT ROWID;
