package pgtest

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Words searches for words in the server's files: its write-ahead log, the shared
// files, and those of the database with this URL. It returns, for each word found,
// the names of the files.
func (s *Server) Words(t testing.TB, database string, words []string) map[string][]string {
	t.Helper()
	own, err := folder(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string][]string)
	files := 0
	root := os.DirFS(s.Data())
	err = fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // the server may remove files at any time
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(path, "base/") && path != own:
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		b, err := fs.ReadFile(root, path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		files++
		for _, w := range words {
			if bytes.Contains(b, []byte(w)) {
				found[w] = append(found[w], path)
			}
		}
		return err
	})
	if err != nil || files == 0 {
		t.Fatalf("%d files, error %v", files, err)
	}
	return found
}

// folder returns a database's folder within the data folder.
func folder(ctx context.Context, database string) (path string, err error) {
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return "", err
	}
	err = conn.QueryRow(ctx, "SELECT 'base/' || oid FROM pg_database WHERE datname = current_database()").Scan(&path)
	return path, errors.Join(err, conn.Close(ctx))
}
