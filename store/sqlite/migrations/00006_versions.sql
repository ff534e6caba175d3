-- +goose Up
-- The files of agents, by their digests.
CREATE TABLE agents (
	digest   BLOB    NOT NULL PRIMARY KEY,
	checksum INTEGER NOT NULL, -- CRC-32 (IEEE) of digest and files
	files    BLOB    NOT NULL
) STRICT;

-- Which of them each conversation is held with.
CREATE TABLE versions (
	id     BLOB NOT NULL PRIMARY KEY,
	digest BLOB NOT NULL
) STRICT;
CREATE INDEX versions_by_digest ON versions (digest);
