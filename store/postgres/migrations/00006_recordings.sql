-- +goose Up
-- The sound of conversations.
CREATE TABLE hocket.recordings (
	id      bytea       NOT NULL,
	number  bigint      NOT NULL,
	added   timestamptz NOT NULL,
	records bytea       NOT NULL,
	PRIMARY KEY (id, number)
);
