-- +goose Up
-- A session, or any other log. Its size is the bytes of its lines, each with a
-- line end: where the next line goes.
CREATE TABLE banyan_session (
    n       INTEGER PRIMARY KEY,
    id      TEXT    NOT NULL UNIQUE,
    project TEXT    NOT NULL,           -- of the working directory
    parent  TEXT    NOT NULL DEFAULT '', -- id of the session that a task's belongs to
    older   INTEGER NOT NULL DEFAULT 0, -- it is what another one was before it was migrated
    size    INTEGER NOT NULL DEFAULT 0,
    created INTEGER NOT NULL,           -- Unix ms
    changed INTEGER NOT NULL            -- Unix ms
);
CREATE INDEX banyan_session_project ON banyan_session (project);
CREATE INDEX banyan_session_parent ON banyan_session (parent) WHERE parent <> '';

-- A line, byte for byte, at the offset that it has in a file.
CREATE TABLE banyan_line (
    session INTEGER NOT NULL REFERENCES banyan_session (n) ON DELETE CASCADE,
    at      INTEGER NOT NULL,
    body    BLOB    NOT NULL,
    UNIQUE (session, at)
);

-- +goose Down
DROP TABLE banyan_line;
DROP TABLE banyan_session;
