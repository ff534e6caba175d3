-- +goose Up
-- The sound of conversations.
CREATE TABLE recordings (
	id       BLOB    NOT NULL,
	number   INTEGER NOT NULL,
	added    INTEGER NOT NULL, -- milliseconds since 1970, UTC
	checksum INTEGER NOT NULL, -- CRC-32 (IEEE) of id, number and records
	records  BLOB    NOT NULL,
	PRIMARY KEY (id, number)
) STRICT;
