package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver of database/sql
)

// ownerOnly is the mode of the file: it holds what people said. SQLite gives the
// files beside it the same mode.
const ownerOnly = 0o600

// prepareFile sees to it that the file is there and that nobody else may read it.
// It never opens a file that is there: closing it would drop the locks that
// another store of this process has on it.
func prepareFile(path string) error {
	dir := filepath.Dir(path)
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the folder %s does not exist: expected one, it is not made", dir)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is no folder: expected the folder of the file", dir)
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeFile(dir, path); err != nil {
			return err
		}
		info, err = os.Stat(path)
	}
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("it is a folder: expected a file")
	case !info.Mode().IsRegular():
		return fmt.Errorf("its mode is %v: expected a regular file", info.Mode())
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if info.Mode().Perm()&^ownerOnly == 0 {
			continue
		}
		if err := os.Chmod(path+suffix, ownerOnly); err != nil {
			return fmt.Errorf("others may read it, and its mode cannot be changed to %04o: %w", ownerOnly, err)
		}
	}
	return nil
}

// makeFile makes an empty file that appears with its mode and already closed. If
// another process is quicker, its file stays.
func makeFile(dir, path string) error {
	f, err := os.CreateTemp(dir, filepath.Base(path)+".new-*") // mode 0600
	if err != nil {
		return fmt.Errorf("the folder takes no new file: %w", err)
	}
	err = errors.Join(f.Close(), os.Link(f.Name(), path))
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	return errors.Join(err, os.Remove(f.Name()))
}

// The settings of every connection, whoever uses it. The store waits by itself
// where the file is locked: SQLite's own waiting does not hear of the end of a
// context. What is deleted is overwritten. The schema of a file is not trusted to
// call functions, and pages are looked at before they are believed.
const always = "_pragma=busy_timeout(0)&_pragma=synchronous(NORMAL)&_pragma=secure_delete(ON)" +
	"&_pragma=trusted_schema(OFF)&_pragma=cell_size_check(ON)&_defensive=1&_dqs=0&_error_rc=1&mode=rw"

// connect returns up to n connections to the file, with further settings. None is
// made before it is used.
func connect(path string, n int, settings ...string) (*sql.DB, error) {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive's letter
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: strings.Join(append([]string{always}, settings...), "&")}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db, nil
}
