package app

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/port"
)

// booked returns a conversation by text in which a number of flights were booked.
func booked(tb testing.TB, flights int) *conv.Conversation {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "a.db")
	chat, end, err := NewChat(tb.Context(), ChatOptions{Agent: "../../examples/flights", Store: path})
	if err != nil {
		tb.Fatal(err)
	}
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	if _, err := chat.Start(tb.Context(), now); err != nil {
		tb.Fatal(err)
	}
	for range flights {
		for _, text := range []string{"I want to book a flight", "from Boston", "to Denver", "next friday", "yes"} {
			now = now.Add(10 * time.Second)
			if _, err := chat.Say(tb.Context(), now, text); err != nil {
				tb.Fatal(err)
			}
		}
	}
	if err := end(); err != nil {
		tb.Fatal(err)
	}
	store, err := OpenStore(tb.Context(), path, config.Store{}, false)
	if err != nil {
		tb.Fatal(err)
	}
	kept, err := store.Load(tb.Context(), chat.ID)
	if err != nil {
		tb.Fatal(err)
	}
	if err := store.Close(); err != nil {
		tb.Fatal(err)
	}
	c, err := conv.Restore(conv.Options{}, kept.Snapshot)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// BenchmarkCheckpoint measures a whole checkpoint: the copy of the state that the loop makes,
// its JSON, and the file. Goal: below 200 us without encryption.
func BenchmarkCheckpoint(b *testing.B) {
	b.Setenv("HOCKET_TEST_KEY", base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32)))
	for _, n := range []int{1, 5} {
		c := booked(b, n)
		for _, keys := range [][]string{nil, {"HOCKET_TEST_KEY"}} {
			name := map[bool]string{true: "encrypted", false: "plain"}[len(keys) > 0]
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				store, err := OpenStore(b.Context(), filepath.Join(b.TempDir(), "b.db"), config.Store{Keys: keys}, true)
				if err != nil {
					b.Fatal(err)
				}
				defer func() {
					if err := store.Close(); err != nil {
						b.Error(err)
					}
				}()
				saved := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
				var size int
				b.ReportAllocs()
				for b.Loop() {
					snapshot, err := c.Fork().Snapshot()
					if err != nil {
						b.Fatal(err)
					}
					saved = saved.Add(time.Millisecond) // SQLite writes no page that has not changed
					text, err := journal.Checkpoint{ID: "a", Agent: "flights", Saved: saved, Snapshot: snapshot}.Marshal()
					if err != nil {
						b.Fatal(err)
					}
					size = len(text)
					if err := store.port.Save(b.Context(), port.Hold{ID: "a"}, text); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(size), "bytes")
			})
		}
	}
}

// TestStoreExpires checks that opening the file removes what is older than the config keeps.
func TestStoreExpires(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	store, err := OpenStore(t.Context(), path, config.Store{}, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.port.Save(t.Context(), port.Hold{ID: "old"}, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	count := func(keep config.Duration) int {
		store, err := OpenStore(t.Context(), path, config.Store{Keep: keep}, false)
		if err != nil {
			t.Fatal(err)
		}
		list, err := store.List(t.Context(), 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) > 0 && (list[0].Error == nil || !strings.Contains(list[0].Error.Error(), "field format")) {
			t.Errorf("an invalid checkpoint is listed: %+v", list[0])
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	if n := count(config.Duration(time.Hour)); n != 1 {
		t.Errorf("%d conversations, expected one", n)
	}
	<-time.After(5 * time.Millisecond) // the file's clock is the machine's
	if n := count(config.Duration(time.Millisecond)); n != 0 {
		t.Errorf("%d conversations are left", n)
	}
}

// TestServeKeeps checks that a server saves conversations in the file of its config, and that
// another program can read them at the same time.
func TestServeKeeps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "serve.db")
	r := serve(t, "server: {drain: off}\nstore: {path: "+path+"}\n") // the conversation is open at the end
	var made createdAnswer
	if status := r.do("POST", "/v1/conversations", `{"agent":"flights","transport":"text"}`, &made); status != 201 {
		t.Fatal(status)
	}
	r.eventually("it listens", func() bool { return r.phase(made.ID) == "listening.ready" })
	r.do("POST", "/v1/conversations/"+made.ID+"/commands", `{"type":"send_text","text":"book a flight from Boston to Denver"}`, nil)
	store, err := OpenStore(t.Context(), path, config.Store{}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	r.eventually("it is kept", func() bool {
		kept, err := store.Load(t.Context(), made.ID)
		return err == nil && kept.Agent == "flights" && kept.Transport == "text" && strings.Contains(string(kept.Snapshot), `"destination":"Denver"`)
	})
}
