-- +goose Up
-- List and Expire go by time.
CREATE INDEX snapshots_by_time ON snapshots (saved);
