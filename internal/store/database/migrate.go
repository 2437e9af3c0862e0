package database

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

//go:embed schema
var schemas embed.FS

// schema says how the tables come about.
type schema struct {
	dialect goose.Dialect
	dir     string // below schema/
	// missing asks whether there is no table of versions yet.
	missing string
}

const (
	// latest is the number of the last migration.
	latest = 1
	// versions is goose's table of what was done.
	versions = "banyan_schema"
)

// NewerError says that a store was made, or changed, by a newer version of this
// program. Nothing in it is changed.
type NewerError struct{ Has, Know int64 }

func (e *NewerError) Error() string {
	return fmt.Sprintf("its schema has version %d and this program knows %d: update this program", e.Has, e.Know)
}

// migrate brings the tables up to date. Usually they are, which takes a question.
func (s *Store) migrate(ctx context.Context, db *sql.DB) error {
	done, err := s.upToDate(ctx, db)
	if done || err != nil {
		return err
	}
	return s.dialect.alone(ctx, db, func() error {
		if done, err := s.upToDate(ctx, db); done || err != nil {
			return err // somebody else has done it meanwhile
		}
		sch := s.dialect.schema()
		files, err := fs.Sub(schemas, "schema/"+sch.dir)
		if err != nil {
			return err
		}
		p, err := goose.NewProvider(sch.dialect, db, files, goose.WithTableName(versions), goose.WithDisableGlobalRegistry(true))
		if err != nil {
			return err
		}
		_, err = p.Up(ctx)
		return err
	})
}

func (s *Store) upToDate(ctx context.Context, db *sql.DB) (bool, error) {
	var missing bool
	if err := db.QueryRowContext(ctx, s.dialect.schema().missing).Scan(&missing); err != nil || missing {
		return false, err
	}
	var has int64
	err := db.QueryRowContext(ctx, `SELECT coalesce(max(version_id), 0) FROM `+versions).Scan(&has)
	if err == nil && has > latest {
		err = &NewerError{has, latest}
	}
	return has == latest, err
}
