-- +goose Up
-- The tokens that a client had before those it was given last. They stay good until it
-- has used these.
ALTER TABLE claims ADD COLUMN access_before BLOB;
ALTER TABLE claims ADD COLUMN resume_before BLOB;
CREATE UNIQUE INDEX claims_by_access_before ON claims (access_before);
CREATE UNIQUE INDEX claims_by_resume_before ON claims (resume_before);
