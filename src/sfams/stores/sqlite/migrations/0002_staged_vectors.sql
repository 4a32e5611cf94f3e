-- Vectors of a model that is to become the store's, laid aside until all are made.

CREATE TABLE staged_vector (
    number     INTEGER PRIMARY KEY,
    record     INTEGER NOT NULL REFERENCES record ON DELETE CASCADE,
    model      INTEGER NOT NULL REFERENCES embedding_model,
    dimension  INTEGER NOT NULL,            -- two of one name but another length are two models
    data       BLOB                         -- NULL: the model has no vector for this text
) STRICT;

CREATE UNIQUE INDEX staged_vector_record ON staged_vector (record, model, dimension);
CREATE INDEX staged_vector_model ON staged_vector (model, dimension);
