package app

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/recording"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/api"
	"github.com/hocketvoice/hocket/store"
	"github.com/hocketvoice/hocket/store/sealed"
)

// damaged is a store whose rows have arbitrary contents.
type damaged struct {
	store.Engine
	snapshot, records []byte
}

func (d *damaged) Load(context.Context, string) ([]byte, bool, error) { return d.snapshot, true, nil }

func (d *damaged) Read(_ context.Context, _ string, each func(int, []byte) error) error {
	return each(1, d.records)
}

func (d *damaged) Recordings() port.Journal { return d }

func (d *damaged) List(context.Context, int) ([]port.Entry, error) {
	return []port.Entry{{ID: "c", Saved: time.Unix(1, 0)}}, nil
}

// FuzzStored checks that rows with any contents are shown or reported as unreadable, with and
// without a seal, and that nothing is opened that was not sealed with the key.
func FuzzStored(f *testing.F) {
	machine, err := conv.New(conv.Options{})
	if err != nil {
		f.Fatal(err)
	}
	snapshot, err := machine.Snapshot()
	if err != nil {
		f.Fatal(err)
	}
	good, err := journal.Checkpoint{ID: "c", Agent: "a", Snapshot: snapshot}.Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good, []byte("{\"format\":\"hocket trace\",\"version\":1}\n"))
	f.Add(good[:len(good)/2], []byte("{}\n\n{"))
	f.Add([]byte("hksl1"), []byte("hksl1"))
	f.Add([]byte{}, []byte{})
	f.Add(good, recording.Piece{Start: time.Unix(1, 0), Rate: 8000, Pairs: []int16{1, 2}}.Marshal())
	f.Fuzz(func(t *testing.T, snapshot, records []byte) {
		d := &damaged{snapshot: snapshot, records: records}
		closed, err := sealed.New(sealed.Options{Store: d, Journal: d, Recordings: d, Keys: [][]byte{bytes.Repeat([]byte{7}, 32)}})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []*Store{
			{engine: d, port: d, journal: d, sound: d}, {engine: d, port: closed, journal: closed, sound: closed.Recordings()},
		} {
			archive := newArchive(s, nil)
			list, err := archive.List(t.Context(), api.StoredQuery{All: true, Limit: 10})
			if err != nil && strings.TrimSpace(err.Error()) == "" {
				t.Fatal("an empty error")
			}
			details, ok, err := archive.Load(t.Context(), "c")
			if s.port == port.Store(closed) && ok && err == nil && details.Error == "" {
				t.Fatalf("%q was opened: %+v, %+v", snapshot, details, list)
			}
			var out bytes.Buffer
			if err := archive.Store.Trace(t.Context(), "c", &out); err == nil && s.port == port.Store(closed) && out.Len() > 0 {
				t.Fatalf("%q was opened as a trace", records)
			}
			if sound, err := archive.Recording(t.Context(), "c"); err == nil {
				if _, err := sound.WriteTo(io.Discard); err != nil || s.port == port.Store(closed) {
					t.Fatalf("%q was opened as a recording, error %v", records, err)
				}
			}
		}
	})
}
