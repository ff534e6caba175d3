//go:build !pocketsphinx || !cgo

package pocketsphinx

import (
	"errors"
	"strings"
	"testing"
)

func TestNewSaysWhatIsMissing(t *testing.T) {
	r, err := New(Options{})
	if r != nil || !errors.Is(err, ErrMissing) {
		t.Fatalf("New = %v, %v, want ErrMissing", r, err)
	}
	for _, part := range []string{"libpocketsphinx-dev", "pocketsphinx-en-us", "-tags pocketsphinx"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not mention %q: %v", part, err)
		}
	}
	if _, err := New(Options{MaxStreams: -1}); err == nil || errors.Is(err, ErrMissing) {
		t.Errorf("options are not validated: %v", err)
	}
}
