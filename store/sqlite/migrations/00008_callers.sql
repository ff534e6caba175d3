-- +goose Up
-- The mark of the conversation's caller, which is a digest where the snapshot is sealed; NULL:
-- it is not known whose it is. The index has all that a search needs.
ALTER TABLE snapshots ADD COLUMN caller BLOB;
CREATE INDEX snapshots_by_caller ON snapshots (caller, id);
