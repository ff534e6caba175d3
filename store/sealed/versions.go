package sealed

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/hocketvoice/hocket/port"
)

// versionPlace returns the name for which the files of an agent are encrypted.
func versionPlace(digest string) string { return "\x00agent\x00" + digest }

var errNoVersions = errors.New("sealed store: there are no versions")

// versionNames returns the names of a digest in the wrapped store, one for each key. A
// reader of the store cannot use them to check a guess of the files, and each key finds
// the files that it opens.
func (s *Store) versionNames(digest string) []string {
	var names []string
	for _, d := range s.box.Digests(versionPlace(digest)) {
		names = append(names, hex.EncodeToString(d))
	}
	return names
}

// KeepVersion encrypts the files of an agent with the first key and stores them.
func (s *Store) KeepVersion(ctx context.Context, h port.Hold, digest string, files []byte) error {
	if s.versions == nil {
		return errNoVersions
	}
	if digest == "" {
		return errors.New("sealed store: the digest of an agent must not be empty")
	}
	b, err := s.box.Seal(versionPlace(digest), files)
	if err != nil {
		return fmt.Errorf("seal the agent of %q: %w", h.ID, err)
	}
	return s.versions.KeepVersion(ctx, h, s.versionNames(digest)[0], b)
}

// LoadVersion returns the decrypted files of an agent. It returns an error if they are not
// encrypted or if the key of their name does not open them.
func (s *Store) LoadVersion(ctx context.Context, digest string) (files []byte, ok bool, err error) {
	if s.versions == nil {
		return nil, false, errNoVersions
	}
	for _, name := range s.versionNames(digest) {
		b, ok, err := s.versions.LoadVersion(ctx, name)
		if err != nil {
			return nil, false, err
		}
		if !ok {
			continue
		}
		if files, err = s.box.Open(versionPlace(digest), b); err != nil {
			return nil, false, fmt.Errorf("%w of an agent: %w", ErrOpen, err)
		}
		return files, true, nil
	}
	return nil, false, nil
}
