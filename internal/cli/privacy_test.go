//go:build unix

package cli

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestPrivacyInPostgres checks that with privacy "none", or with a key, the server's
// files and its log never contain the words of a conversation, and that with "session"
// the tables' files do not contain them after they were rewritten.
func TestPrivacyInPostgres(t *testing.T) {
	t.Setenv("HOCKET_TEST_KEY", base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32)))
	for _, c := range []struct {
		name, config          string
		listed, tables, files bool // where the word is expected
	}{
		{"keep", "privacy: keep\n", true, true, true},
		{"session", "privacy: session\n", false, false, true},
		{"none", "privacy: none\n", false, false, false},
		{"encrypted", "store: {keys: [HOCKET_TEST_KEY]}\n", true, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := server.Database(t)
			config := write(t, "c.yaml", c.config)
			chat := func(said string) {
				t.Helper()
				if _, stderr, status := run(t, said+"\n", "chat", "--agent", flights, "--store", store, "--config", config); status != 0 {
					t.Fatal(stderr)
				}
			}
			chat("hello") // creates the tables
			// Compression would hide the word.
			administer(t, store, "ALTER TABLE hocket.snapshots ALTER snapshot SET STORAGE EXTERNAL")
			word := "quetzalcoatl" + c.name
			chat("tell me about " + word)
			out := output(t, "", "conversations", "list", "--store", store, "--config", config)
			if (out != "") != c.listed {
				t.Errorf("listed: %q", out)
			}
			administer(t, store, "CHECKPOINT")
			if files := inData(t, word); (len(files) > 0) != c.files {
				t.Errorf("the word is in %v, expected %v", files, c.files)
			}
			administer(t, store, "VACUUM FULL", "CHECKPOINT")
			for _, file := range inData(t, word) {
				if !c.tables && !strings.HasPrefix(file, "pg_wal/") {
					t.Errorf("the word is left in %s", file)
				}
			}
		})
	}
}

// administer runs statements.
func administer(t *testing.T, store string, statements ...string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if _, err := c.Exec(t.Context(), s); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// inData returns the server's files that contain a word.
func inData(t *testing.T, word string) (names []string) {
	t.Helper()
	data := os.DirFS(server.Data())
	err := fs.WalkDir(data, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return unlessGone(err)
		}
		b, err := fs.ReadFile(data, path)
		if bytes.Contains(bytes.ToLower(b), []byte(word)) {
			names = append(names, filepath.ToSlash(path))
		}
		return unlessGone(err)
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// unlessGone returns the error, unless the server has removed the file.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
