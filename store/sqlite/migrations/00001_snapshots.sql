-- +goose Up
-- The last column is the long one: what stands before it is read without it.
CREATE TABLE snapshots (
	id       BLOB    NOT NULL PRIMARY KEY, -- any bytes, compared as bytes
	saved    INTEGER NOT NULL,             -- milliseconds since 1970, UTC
	checksum INTEGER NOT NULL,             -- CRC-32 (IEEE) of id and snapshot
	snapshot BLOB    NOT NULL
) STRICT;
