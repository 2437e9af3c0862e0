-- +goose Up
-- A session, or any other log. Its size is the bytes of its lines, each with a
-- line end: where the next line goes.
CREATE TABLE banyan_session (
    n       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id      text    NOT NULL UNIQUE,
    project text    NOT NULL,             -- of the working directory
    parent  text    NOT NULL DEFAULT '',  -- id of the session that a task's belongs to
    older   integer NOT NULL DEFAULT 0,   -- it is what another one was before it was migrated
    size    bigint  NOT NULL DEFAULT 0,
    created bigint  NOT NULL,             -- Unix ms
    changed bigint  NOT NULL              -- Unix ms
);
CREATE INDEX banyan_session_project ON banyan_session (project);
CREATE INDEX banyan_session_parent ON banyan_session (parent) WHERE parent <> '';

-- A line, byte for byte, at the offset that it has in a file.
CREATE TABLE banyan_line (
    session bigint NOT NULL REFERENCES banyan_session (n) ON DELETE CASCADE,
    at      bigint NOT NULL,
    body    bytea  NOT NULL,
    PRIMARY KEY (session, at)
);

-- Whoever watches a session listens to its channel.
-- +goose StatementBegin
CREATE FUNCTION banyan_tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('banyan_' || OLD.n, '');
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER banyan_session_changed AFTER UPDATE OR DELETE ON banyan_session
    FOR EACH ROW EXECUTE FUNCTION banyan_tell();

-- +goose Down
DROP TABLE banyan_line;
DROP TABLE banyan_session;
DROP FUNCTION banyan_tell;
