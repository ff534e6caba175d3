-- +goose Up
-- The mark of the conversation's caller, which is a digest where the snapshot is sealed; NULL:
-- it is not known whose it is. A save does not change it, and so does not go into the index.
ALTER TABLE hocket.snapshots ADD COLUMN caller bytea;
CREATE INDEX snapshots_by_caller ON hocket.snapshots (caller);
