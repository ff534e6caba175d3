package app

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"testing"
)

// TestStoreRefusesConversations checks that a store that answers but saves nothing, as on a
// full disk, is logged once for each conversation, however often a save is retried.
func TestStoreRefusesConversations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	r := serve(t, "server: {drain: off}\nstore: {path: "+path+"}\n")
	db, err := sql.Open("sqlite", path)
	if err == nil {
		_, err = db.ExecContext(t.Context(), "CREATE TRIGGER full BEFORE INSERT ON claims BEGIN SELECT RAISE(ABORT, 'the disk is full'); END")
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	troubles := func(id string) (n int) {
		for line := range bytes.Lines([]byte(r.log.String())) {
			var m struct{ Level, Conversation string }
			if err := json.Unmarshal(line, &m); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if m.Conversation == id && m.Level != "INFO" {
				n++
			}
		}
		return n
	}
	for range 2 {
		var made createdAnswer
		if status := r.do("POST", "/v1/conversations", `{"transport":"text"}`, &made); status != http.StatusCreated {
			t.Fatalf("status %d", status)
		}
		if status := r.do("POST", "/v1/conversations/"+made.ID+"/commands", `{"type":"send_text","text":"hello"}`, nil); status != http.StatusAccepted {
			t.Fatalf("status %d", status)
		}
		r.eventually("an answer", func() bool { return r.phase(made.ID) == "listening.ready" })
		if status := r.do("POST", "/v1/conversations", `{"resume":"`+made.ResumeToken+`"}`, nil); status != http.StatusCreated {
			t.Fatalf("status %d of the return", status)
		}
		if n := troubles(made.ID); n != 1 {
			t.Errorf("%d lines of the log say that the conversation is not saved, expected 1:\n%s", n, r.log)
		}
	}
}
