package sqlitefile

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// OwnerOnly is the mode of the file, which contains what people said. SQLite gives the
// files beside it the same mode.
const OwnerOnly = 0o600

// Prepare creates the file if it does not exist, and ensures that nobody else can read
// it. It does not create the folder. It does not open an existing file, since closing
// it would drop the locks of this process.
func Prepare(path string) error {
	dir := filepath.Dir(path)
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the folder %s does not exist: expected one, it is not created", dir)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder: expected the folder of the file", dir)
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
		if info.Mode().Perm()&^OwnerOnly == 0 {
			continue
		}
		if err := os.Chmod(path+suffix, OwnerOnly); err != nil {
			return fmt.Errorf("others may read it, and its mode cannot be changed to %04o: %w", OwnerOnly, err)
		}
	}
	return nil
}

// makeFile creates an empty file, which appears with its final mode and already closed.
// If another process is faster, its file is kept.
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

// Connect returns a pool of up to n connections to the file, with settings. It opens
// none, and connections do not create the file.
func Connect(path string, n int, settings ...string) (*sql.DB, error) {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive letter
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: strings.Join(append([]string{"mode=rw"}, settings...), "&")}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db, nil
}

// Code returns SQLite's primary result code of an error, or 0.
func Code(err error) int {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// IsBusy reports whether an error is due to another connection.
func IsBusy(err error) bool {
	c := Code(err)
	return c == codes.SQLITE_BUSY || c == codes.SQLITE_LOCKED
}
