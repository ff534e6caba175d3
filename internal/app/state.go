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

// NoStore in place of the path of a store keeps nothing.
const NoStore = "off"

// keySuffix makes the name of a store's key file of its path.
const keySuffix = ".key"

// StateStore makes the store of a server to which none is named, in the user's folder for
// state, and returns its path. The store is sealed with the key in the file beside it.
func StateStore() (string, error) {
	path, err := statePath()
	if err != nil {
		return "", inputError{fmt.Errorf("store: %w: --store FILE names a store, --store off keeps nothing", err)}
	}
	if err := makeState(path); err != nil {
		return "", inputError{fmt.Errorf("store: %w: expected a folder that can be written; --store FILE names another place, --store off keeps nothing", settings.Plain(err))}
	}
	return path, nil
}

// statePath follows the XDG Base Directory Specification.
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

// makeState makes the folder and the key of a store. Without its key a store cannot be read:
// it gets no new one.
func makeState(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if _, err := os.Stat(path + keySuffix); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := os.Stat(path); err == nil {
		return fmt.Errorf("%s is missing, the key of %s", path+keySuffix, filepath.Base(path))
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".key-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // the key has its own name
	key := make([]byte, sealed.KeySize)
	rand.Read(key) // never fails
	_, err = f.WriteString(base64.StdEncoding.EncodeToString(key) + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	// A link does not replace the key of a server that began at the same moment.
	if err := os.Link(f.Name(), path+keySuffix); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// keyBeside reads the key file beside a store that is a file; nil if there is none.
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
