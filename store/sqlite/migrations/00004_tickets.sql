-- +goose Up
-- What secrets of a short life are good for, by their digests. One that was spent stays
-- for its time: it must not be kept again.
CREATE TABLE tickets (
	digest BLOB    NOT NULL PRIMARY KEY,
	kind   TEXT    NOT NULL,
	until  INTEGER NOT NULL, -- good before it: milliseconds since 1970, UTC
	spent  INTEGER NOT NULL DEFAULT 0,
	value  BLOB    NOT NULL
) STRICT;
CREATE INDEX tickets_by_time ON tickets (until);
