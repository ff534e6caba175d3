-- +goose Up
-- The processes that share the file.
CREATE TABLE nodes (
	id    BLOB    NOT NULL PRIMARY KEY,
	url   TEXT    NOT NULL,
	until INTEGER NOT NULL -- alive before it: milliseconds since 1970, UTC
) STRICT;

-- Who may write a conversation. Each claim has a row of its own, with a number that
-- was never used before, not even by a conversation that is deleted since: it takes
-- the place of the row before.
CREATE TABLE claims (
	token  INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	id     BLOB    NOT NULL UNIQUE,
	node   BLOB,                        -- NULL: it was given up
	moved  INTEGER NOT NULL,            -- when it was claimed or given up, in milliseconds
	ended  INTEGER NOT NULL DEFAULT 0,  -- nobody goes on with it
	access BLOB UNIQUE,                 -- the digests of its tokens, if it has any
	resume BLOB UNIQUE
) STRICT;
CREATE INDEX claims_by_node ON claims (node);
CREATE INDEX claims_open ON claims (moved) WHERE NOT ended;

CREATE TABLE journal (
	id       BLOB    NOT NULL,
	number   INTEGER NOT NULL,
	added    INTEGER NOT NULL, -- milliseconds since 1970, UTC
	checksum INTEGER NOT NULL, -- CRC-32 (IEEE) of id, number and records
	records  BLOB    NOT NULL,
	PRIMARY KEY (id, number)
) STRICT;
-- Expire finds the journals of conversations of which there is nothing else.
CREATE INDEX journals_by_time ON journal (added) WHERE number = 1;
