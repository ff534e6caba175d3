-- +goose Up
CREATE TABLE hocket_tasks (
	seq           BIGSERIAL PRIMARY KEY,
	key           TEXT    NOT NULL UNIQUE,
	agent         TEXT    NOT NULL,
	tool          TEXT    NOT NULL,
	conversation  TEXT    NOT NULL,
	caller        BYTEA,             -- a digest; NULL: nobody
	arguments     BYTEA   NOT NULL,  -- a digest
	waiting       BIGINT  NOT NULL DEFAULT 0,
	task          BYTEA   NOT NULL,
	created       BIGINT  NOT NULL,  -- times are milliseconds since 1970
	deadline      BIGINT  NOT NULL,
	attempt       BIGINT  NOT NULL DEFAULT 0,
	worker        TEXT    NOT NULL DEFAULT '',
	beat          BIGINT  NOT NULL DEFAULT 0,
	progress      BIGINT  NOT NULL DEFAULT 0,
	progress_text BYTEA,
	progress_at   BIGINT,
	ended         BIGINT,           -- NULL: it runs
	result        BYTEA
);
CREATE INDEX hocket_tasks_conversation ON hocket_tasks (conversation);
CREATE INDEX hocket_tasks_caller ON hocket_tasks (caller);
CREATE INDEX hocket_tasks_ended ON hocket_tasks (ended, deadline);

-- Who follows a task on another node hears of it at once.
-- +goose StatementBegin
CREATE FUNCTION hocket_tasks_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_notify('hocket_tasks', OLD.key);
	RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER hocket_tasks_changed AFTER UPDATE OF progress, ended OR DELETE ON hocket_tasks
	FOR EACH ROW EXECUTE FUNCTION hocket_tasks_changed();
