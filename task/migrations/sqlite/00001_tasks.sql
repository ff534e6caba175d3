-- +goose Up
CREATE TABLE hocket_tasks (
	seq           INTEGER PRIMARY KEY AUTOINCREMENT,
	key           TEXT    NOT NULL UNIQUE,
	agent         TEXT    NOT NULL,
	tool          TEXT    NOT NULL,
	conversation  TEXT    NOT NULL,
	caller        BLOB,              -- a digest; NULL: nobody
	arguments     BLOB    NOT NULL,  -- a digest
	waiting       INTEGER NOT NULL DEFAULT 0,
	task          BLOB    NOT NULL,
	created       INTEGER NOT NULL,  -- times are milliseconds since 1970
	deadline      INTEGER NOT NULL,
	attempt       INTEGER NOT NULL DEFAULT 0,
	worker        TEXT    NOT NULL DEFAULT '',
	beat          INTEGER NOT NULL DEFAULT 0,
	progress      INTEGER NOT NULL DEFAULT 0,
	progress_text BLOB,
	progress_at   INTEGER,
	ended         INTEGER,           -- NULL: it runs
	result        BLOB
);
CREATE INDEX hocket_tasks_conversation ON hocket_tasks (conversation);
CREATE INDEX hocket_tasks_caller ON hocket_tasks (caller);
CREATE INDEX hocket_tasks_ended ON hocket_tasks (ended, deadline);
