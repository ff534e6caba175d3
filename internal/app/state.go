package app

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/store/sealed"
)

// NoStore is given in place of the path of a store if nothing is to be stored.
const NoStore = "off"

// keySuffix is added to the path of a store to get the path of its key file.
const keySuffix = ".key"

// StateStore returns the path of a server's default store, in the user's state folder. It
// creates the folder, and the key file with which the store is encrypted.
func StateStore() (string, error) {
	path, err := statePath()
	if err != nil {
		return "", inputError{fmt.Errorf("store: %w: --store FILE names a store, --store off stores nothing", err)}
	}
	if err := makeState(path); err != nil {
		return "", inputError{fmt.Errorf("store: %w: expected a writable folder; --store FILE names another place, --store off stores nothing", settings.Plain(err))}
	}
	return path, nil
}

// statePath returns the path of the default store, by the XDG Base Directory
// Specification.
func statePath() (string, error) {
	dir := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) { // "All paths must be absolute"; a relative one is ignored
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "hocket", "conversations.db"), nil
}

// makeState creates the folder and the key file of a store. It returns an error if the
// store exists and its key file does not, since a new key could not open it.
func makeState(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if _, err := os.Stat(path + keySuffix); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := os.Stat(path); err == nil {
		return fmt.Errorf("the key file %s of %s is missing", path+keySuffix, filepath.Base(path))
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".key-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // the key file is a link to it
	key := make([]byte, sealed.KeySize)
	rand.Read(key) // never fails
	_, err = f.WriteString(base64.StdEncoding.EncodeToString(key) + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	// A link does not replace the key of a server that starts at the same time.
	if err := os.Link(f.Name(), path+keySuffix); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// keyBeside returns the key in the file beside a store. It returns nil if the store is not
// a file or has no key file.
func keyBeside(place string) ([][]byte, error) {
	if strings.Contains(place, "://") {
		return nil, nil
	}
	name := place + keySuffix
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		err = fmt.Errorf("%s has the mode %#o: expected 0600, so that nobody else reads the key", name, info.Mode().Perm())
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, fmt.Errorf("store: %w", settings.Plain(err))
	}
	key, err := sealed.ParseKey(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("store: %s is not a key: %w", name, err)
	}
	return [][]byte{key}, nil
}
