package journal_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/journal"
)

// FuzzCheckpoint checks that bytes from a store are a checkpoint or an error, and
// that a checkpoint survives writing and reading.
func FuzzCheckpoint(f *testing.F) {
	good, err := journal.Checkpoint{ID: "c", Agent: "a", Transport: "text", Turns: 2, Snapshot: []byte(`{"version":1}`)}.Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add(bytes.Replace(good, []byte(`{"version":1}`), []byte("null"), 1))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := journal.ReadCheckpoint(b)
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Fatal("an empty error")
			}
			return
		}
		out, err := c.Marshal()
		if err != nil {
			return // a time of a year that JSON does not have
		}
		again, err := journal.ReadCheckpoint(out)
		if err != nil {
			t.Fatalf("%q was read, written as %q, and not read: %v", b, out, err)
		}
		if !reflect.DeepEqual(again, c) {
			t.Fatalf("%+v was written and read as %+v", c, again)
		}
	})
}
