-- +goose Up
-- A statement that nobody waits for any more may still be on its way to the database, and
-- arrive behind one that was sent later. Each write has a number that rises with every call
-- of the process that has the claim: what is older than what is there changes nothing.
ALTER TABLE hocket.snapshots ADD COLUMN token bigint NOT NULL DEFAULT 0, ADD COLUMN number bigint NOT NULL DEFAULT 0;
ALTER TABLE hocket.claims ADD COLUMN granted bigint NOT NULL DEFAULT 0;
