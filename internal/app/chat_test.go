package app

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestChatWithModelAndAction checks that the config's model answers what no flow covers, and
// that an action of a flow sends an HTTP request.
func TestChatWithModelAndAction(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, data := range []string{
			`{"choices":[{"index":0,"delta":{"content":"Paris, "}}]}`,
			`{"choices":[{"index":0,"delta":{"content":"of course."},"finish_reason":"stop"}]}`,
			"[DONE]",
		} {
			if _, err := io.WriteString(w, "data: "+data+"\n\n"); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("POST /book", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || string(body) != `{"guests":4}` {
			t.Errorf("booked with %s (%v)", body, err)
		}
		if _, err := io.WriteString(w, `{"table":"seven"}`); err != nil {
			return
		}
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	t.Setenv("HOCKET_TEST_URL", server.URL)

	write := writer(t)
	o := ChatOptions{
		Config: write("config.yaml", "model: {name: m, base_url: "+server.URL+"/v1}\n"),
		Agent: write("agent.yaml", `version: "1.0"
instructions: You are brief.
slots:
  guests: {type: integer, prompt: "How many are you?"}
actions:
  book: {inputs: [guests], outputs: [table], http: {url: "${HOCKET_TEST_URL}/book"}}
flows:
  table:
    description: reserve a table
    trigger: {intents: ["reserve a table"]}
    steps:
      - {step: ask, type: collect, slot: guests}
      - {step: run, type: action, call: book}
      - {step: told, type: say, message: "You have table {table}."}
`),
	}
	said := chatted(t, o, "what is the capital of France", "reserve a table", "four")
	if want := []string{"Paris, of course.", "How many are you?", "You have table seven."}; !slices.Equal(said, want) {
		t.Errorf("said %q, expected %q", said, want)
	}
}

// chatted holds a conversation and returns the answer to each line.
func chatted(t *testing.T, o ChatOptions, lines ...string) (said []string) {
	t.Helper()
	text, end, err := NewChat(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	}()
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	if _, err := text.Start(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		r, err := text.Say(t.Context(), now, line)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Notes) > 0 {
			t.Logf("%s: %q", line, r.Notes)
		}
		said = append(said, strings.Join(r.Said, " "))
	}
	return said
}

// TestChatRefusesAModelWithoutAName checks that a missing name is an error at the start.
func TestChatRefusesAModelWithoutAName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(path, []byte("model: {base_url: \"http://127.0.0.1:1/v1\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := NewChat(t.Context(), ChatOptions{Agent: "../../examples/flights", Config: path})
	if err == nil || !strings.Contains(err.Error(), "c.yaml:1:1: model: has no name") {
		t.Errorf("%v", err)
	}
}
