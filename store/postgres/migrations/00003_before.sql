-- +goose Up
-- The tokens that a client had before those it was given last. They stay good until it
-- has used these.
ALTER TABLE hocket.claims ADD COLUMN access_before bytea UNIQUE, ADD COLUMN resume_before bytea UNIQUE;
