//go:build !flite || !cgo

package flite

import (
	"errors"
	"strings"
	"testing"
)

func TestNewSaysWhatIsMissing(t *testing.T) {
	s, err := New(Options{})
	if s != nil || !errors.Is(err, ErrMissing) {
		t.Fatalf("New = %v, %v, want ErrMissing", s, err)
	}
	for _, part := range []string{"flite1-dev", "-tags flite"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not mention %q: %v", part, err)
		}
	}
	if _, err := New(Options{Voice: "nobody"}); err == nil || errors.Is(err, ErrMissing) {
		t.Errorf("options are not validated: %v", err)
	}
}
