-- +goose Up
-- The processes that share the database.
CREATE TABLE hocket.nodes (
	id    bytea       NOT NULL PRIMARY KEY,
	url   text        NOT NULL,
	until timestamptz NOT NULL -- alive before it
);

-- The number of a claim was never used before, not even by a conversation that is
-- deleted since.
CREATE SEQUENCE hocket.tokens;

-- Who may write a conversation.
CREATE TABLE hocket.claims (
	id     bytea       NOT NULL PRIMARY KEY, -- any bytes
	token  bigint      NOT NULL,
	node   bytea,                            -- NULL: it was given up
	moved  timestamptz NOT NULL,             -- when it was claimed or given up
	ended  boolean     NOT NULL DEFAULT false, -- nobody goes on with it
	access bytea       UNIQUE,               -- the digests of its tokens, if it has any
	resume bytea       UNIQUE
);
CREATE INDEX claims_by_node ON hocket.claims (node);
CREATE INDEX claims_open ON hocket.claims (moved) WHERE NOT ended;

-- No index on saved: a row that is replaced would have to go into it each time. The
-- room left in each page takes the next version of a row.
CREATE TABLE hocket.snapshots (
	id       bytea       NOT NULL PRIMARY KEY,
	saved    timestamptz NOT NULL,
	snapshot bytea       NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE hocket.journal (
	id      bytea       NOT NULL,
	number  bigint      NOT NULL,
	added   timestamptz NOT NULL,
	records bytea       NOT NULL,
	PRIMARY KEY (id, number)
);
-- Expire finds the journals of conversations of which there is nothing else.
CREATE INDEX journals_by_time ON hocket.journal (added) WHERE number = 1;
