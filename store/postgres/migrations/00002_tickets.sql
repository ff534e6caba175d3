-- +goose Up
-- What secrets of a short life are good for, by their digests. One that was spent stays
-- for its time: it must not be kept again.
CREATE TABLE hocket.tickets (
	digest bytea       NOT NULL PRIMARY KEY,
	kind   text        NOT NULL,
	until  timestamptz NOT NULL, -- good before it
	spent  boolean     NOT NULL DEFAULT false,
	value  bytea       NOT NULL
);
CREATE INDEX tickets_by_time ON hocket.tickets (until);
