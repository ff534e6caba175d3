package app

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/api"
	"github.com/hocketvoice/hocket/task"
)

// TestCallerIsForgotten checks that deleting a caller, over the API or in the store, removes
// every word of theirs from the store's files and leaves the data of others.
func TestCallerIsForgotten(t *testing.T) {
	t.Setenv(DefaultKeysEnv, "office 0123456789abcdef-one")
	for _, by := range []string{"the API", "the store"} {
		t.Run(by, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "store.db")
			words := func(word string) (found bool) {
				t.Helper()
				names, err := filepath.Glob(path + "*")
				if err != nil {
					t.Fatal(err)
				}
				for _, name := range names {
					b, err := os.ReadFile(name)
					if err != nil {
						t.Fatal(err)
					}
					found = found || bytes.Contains(b, []byte(word))
				}
				return found
			}
			var anns, bobs string
			t.Run("talk", func(t *testing.T) {
				r := serve(t, "store: {path: "+path+"}\nserver: {drain: off}\n")
				r.key = "0123456789abcdef-one"
				anns, bobs = r.holdWith("ann", "xylophones please"), r.holdWith("bob", "zithers please")
				if err := openTask(t, path, anns); err != nil {
					t.Fatal(err)
				}
				if !words("xylophones") || !words("zithers") || !words("marimbas") {
					t.Fatal("the words are not in the files before the deletion: the test cannot fail")
				}
				if by == "the store" {
					return
				}
				var gone api.CallerDeleted
				if status := r.do("DELETE", "/v1/callers?caller=ann", "", &gone); status != http.StatusOK || !slices.Equal(gone.Conversations, []string{anns}) || gone.Tasks != 1 {
					t.Errorf("status %d, %+v", status, gone)
				}
				var rest api.CallerData
				if r.do("GET", "/v1/callers?caller=bob", "", &rest); len(rest.Conversations) != 1 || rest.Conversations[0].ID != bobs {
					t.Errorf("the conversations of others are %+v", rest)
				}
			})
			if by == "the store" {
				s, err := OpenStore(t.Context(), path, config.Store{}, false)
				if err != nil {
					t.Fatal(err)
				}
				c, closing, err := s.Callers(t.Context(), path)
				if err != nil {
					t.Fatal(err)
				}
				gone, err := c.Delete(t.Context(), "office", "ann")
				if err != nil || !slices.Equal(gone.Conversations, []string{anns}) || gone.Tasks != 1 {
					t.Errorf("%+v, error %v", gone, err)
				}
				var out bytes.Buffer
				if err := c.Export(t.Context(), "office", "bob", &out); err != nil || !bytes.Contains(out.Bytes(), []byte("zithers")) {
					t.Errorf("%s, error %v", &out, err)
				}
				for _, err := range []error{closing(), s.Close()} {
					if err != nil {
						t.Error(err)
					}
				}
			}
			if words("xylophones") || words("marimbas") {
				t.Error("the caller's words are left in the files")
			}
			if !words("zithers") {
				t.Error("the words of another caller are gone")
			}
		})
	}
}

// openTask adds a task of the caller ann, which has not ended, beside a store.
func openTask(t *testing.T, path, conversation string) error {
	t.Helper()
	s, err := OpenStore(t.Context(), path, config.Store{}, false)
	if err != nil {
		return err
	}
	defer s.Close()
	o, err := besideStore(s, path)
	if err != nil {
		return err
	}
	work, err := task.Open(t.Context(), o)
	if err != nil {
		return err
	}
	defer work.Close()
	return work.Start(t.Context(), port.Task{
		Key: "k", Agent: "flights", Conversation: conversation, Caller: "office/ann", Limit: time.Hour,
		Call: port.ToolCall{ID: "k", Name: "work", Arguments: `{"what":"marimbas"}`},
	})
}
