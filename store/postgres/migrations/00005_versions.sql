-- +goose Up
-- The files of agents, by their digests.
CREATE TABLE hocket.agents (
	digest bytea NOT NULL PRIMARY KEY,
	files  bytea NOT NULL
);

-- Which of them each conversation is held with. The reference keeps files that are deleted
-- at the moment when another conversation begins with them.
CREATE TABLE hocket.versions (
	id     bytea NOT NULL PRIMARY KEY,
	digest bytea NOT NULL REFERENCES hocket.agents
);
CREATE INDEX versions_by_digest ON hocket.versions (digest);
