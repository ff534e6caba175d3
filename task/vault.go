package task

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hocketvoice/hocket/internal/seal"
)

// vault encodes the contents of tasks for the database, and encrypts them if there are
// keys. It is safe for concurrent use.
type vault struct{ box *seal.Box } // nil if nothing is encrypted

func newVault(keys [][]byte) (vault, error) {
	if len(keys) == 0 {
		return vault{}, nil
	}
	box, err := seal.New(keys)
	if err != nil {
		return vault{}, fmt.Errorf("tasks: %w", err)
	}
	return vault{box}, nil
}

// put encodes a value for a column of a task.
func (v vault) put(column, key string, value any) ([]byte, error) {
	b, err := json.Marshal(value)
	if err != nil || v.box == nil {
		return b, err
	}
	return v.box.Seal("task "+column+" "+key, b)
}

// get decodes a value.
func (v vault) get(column, key string, b []byte, value any) error {
	if v.box == nil && seal.Sealed(b) {
		return errors.New("the data is encrypted, and no key is set")
	}
	if v.box != nil {
		var err error
		if b, err = v.box.Open("task "+column+" "+key, b); err != nil {
			return err
		}
	}
	return json.Unmarshal(b, value)
}

// digests returns the digests of a text by which it can be found, one for each key. The
// first is stored.
func (v vault) digests(kind, text string) [][]byte {
	text = kind + "\x00" + text
	if v.box != nil {
		return v.box.Digests(text)
	}
	sum := sha256.Sum256([]byte(text))
	return [][]byte{sum[:]}
}

// canonical returns a JSON text with sorted keys and without white space. It returns
// other texts unchanged.
func canonical(text string) string {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var value any
	if !json.Valid([]byte(text)) || d.Decode(&value) != nil {
		return text
	}
	b, err := json.Marshal(value)
	if err != nil {
		return text
	}
	return string(b)
}
