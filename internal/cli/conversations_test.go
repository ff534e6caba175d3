//go:build unix

package cli

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// idOf returns the id of the conversation from a command's output.
func idOf(t *testing.T, stderr string) string {
	t.Helper()
	_, rest, ok := strings.Cut(stderr, "note: the conversation is ")
	if !ok {
		t.Fatalf("no id in %q", stderr)
	}
	id, _, _ := strings.Cut(rest, " ")
	return id
}

// inFiles reports whether a text occurs in the files of a store.
func inFiles(t *testing.T, store, text string) bool {
	t.Helper()
	found := false
	names, err := filepath.Glob(store + "*")
	if err != nil || len(names) == 0 {
		t.Fatalf("no file of the store: %v", err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		found = found || bytes.Contains(bytes.ToLower(b), []byte(strings.ToLower(text)))
	}
	return found
}

// TestConversations lists, shows, exports, resumes and deletes a conversation.
func TestConversations(t *testing.T) {
	t.Parallel()
	eachStore(t, lookAfter)
}

func lookAfter(t *testing.T, store string) {
	t.Parallel()
	_, stderr, status := run(t, "book a flight from Boston to Denver\n", "chat", "--agent", flights, "--store", store)
	if status != 0 {
		t.Fatal(stderr)
	}
	id := idOf(t, stderr)
	if out := output(t, "", "conversations", "list", "--store", store); !strings.HasPrefix(out, id+"  ") || !strings.Contains(out, "flights, 3 turns, listening.ready") {
		t.Errorf("list: %s", out)
	}
	if out := output(t, "", "conversations", "list", "--store", store, "--json"); !strings.Contains(out, `"id":"`+id+`","agent":"flights","state":"listening.ready","turns":3`) {
		t.Errorf("list: %s", out)
	}
	if out := output(t, "", "conversations", "show", id, "--store", store); !strings.Contains(out, "user   book a flight from Boston to Denver") || !strings.Contains(out, "flow book_flight, step collect_date, waiting_for_slot") {
		t.Errorf("show: %s", out)
	}
	if out := output(t, "", "conversations", "export", id, "--store", store); !strings.Contains(out, `"waiting_for_slot": "departure_date"`) {
		t.Errorf("export: %s", out)
	}
	if out, _, _ := run(t, "next friday\n", "chat", "--agent", flights, "--store", store, "--resume", id); !strings.Contains(out, "You are flying from Boston to Denver") {
		t.Errorf("resumed: %s", out)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no store":       {[]string{"conversations", "list", "--store", filepath.Join(t.TempDir(), "x")}, "no such file"},
		"no trace":       {[]string{"replay", id, "--store", store}, "no trace of the conversation " + id + " is kept"},
		"no one's trace": {[]string{"conversations", "export", id, "--store", store, "--trace", filepath.Join(t.TempDir(), "x")}, "no trace of the conversation"},
		"nobody":         {[]string{"conversations", "show", "conv_x", "--store", store}, "there is no conversation conv_x"},
		"delete nobody":  {[]string{"conversations", "delete", "conv_x", "--store", store}, "there is no conversation conv_x"},
		"resume nobody":  {[]string{"chat", "--agent", flights, "--store", store, "--resume", "conv_x"}, "there is no conversation conv_x"},
		"another agent":  {[]string{"chat", "--agent", "../../examples/bank", "--store", store, "--resume", id}, "is with the agent flights, not with bank"},
		"no store given": {[]string{"chat", "--agent", flights, "--resume", id}, "expected --store too"},
		"a limit":        {[]string{"conversations", "list", "--store", store, "--limit", "0"}, "expected 1 or more"},
	} {
		if _, stderr, status := run(t, "", c.args...); status != statusInput || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: status %d: %s, expected %q", name, status, stderr, c.want)
		}
	}
	output(t, "", "conversations", "delete", id, "--store", store)
	if out := output(t, "", "conversations", "list", "--store", store); out != "" {
		t.Errorf("after the deletion: %s", out)
	}
}

// TestPrivacyOnDisk checks that with privacy "none" the file never contains the words
// of a conversation, that with "session" it does not contain them after the end, and
// that with a key they cannot be read without it.
func TestPrivacyOnDisk(t *testing.T) {
	const said = "book a flight from Boston to Denver\n"
	t.Setenv("HOCKET_TEST_KEY", base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32)))
	t.Setenv("HOCKET_TEST_NEW_KEY", base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{8}, 32)))
	for _, c := range []struct {
		name, config       string
		words, listed, raw bool
	}{
		{"keep", "privacy: keep\n", true, true, true},
		{"session", "privacy: session\n", false, false, false},
		{"none", "privacy: none\n", false, false, false},
		{"encrypted", "store: {keys: [HOCKET_TEST_KEY]}\n", true, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := write(t, "c.yaml", c.config)
			store := filepath.Join(t.TempDir(), "chats.db")
			_, stderr, status := run(t, said, "chat", "--agent", flights, "--store", store, "--config", config)
			if status != 0 {
				t.Fatal(stderr)
			}
			if inFiles(t, store, "Denver") != c.raw {
				t.Errorf("the words are in the file: %v, expected %v", !c.raw, c.raw)
			}
			out := output(t, "", "conversations", "list", "--store", store, "--config", config)
			if (out != "") != c.listed {
				t.Errorf("listed: %q", out)
			}
			if !c.listed {
				return
			}
			out = output(t, "", "conversations", "show", idOf(t, stderr), "--store", store, "--config", config)
			if strings.Contains(out, "Denver") != c.words {
				t.Errorf("shown: %s", out)
			}
			if c.name != "encrypted" {
				return
			}
			id := idOf(t, stderr)
			if out := output(t, "", "conversations", "list", "--store", store); !strings.Contains(out, "unreadable: the conversation is encrypted") {
				t.Errorf("without a key: %s", out)
			}
			rotated := write(t, "r.yaml", "store: {keys: [HOCKET_TEST_NEW_KEY, HOCKET_TEST_KEY]}\n")
			if _, stderr, status := run(t, "next friday\n", "chat", "--agent", flights, "--store", store, "--config", rotated, "--resume", id); status != 0 {
				t.Fatal(stderr)
			}
			if _, stderr, status := run(t, "", "conversations", "show", id, "--store", store, "--config", config); status == 0 || !strings.Contains(stderr, "which is not among the keys") {
				t.Errorf("with the old key alone: %s", stderr)
			}
			if _, stderr, status := run(t, "", "conversations", "list", "--store", store, "--config", write(t, "n.yaml", "store: {keys: [HOCKET_TEST_NO_KEY]}\n")); status != statusInput || !strings.Contains(stderr, "HOCKET_TEST_NO_KEY") {
				t.Errorf("a key that is not there: %s", stderr)
			}
		})
	}
}

// TestPrivacyNoneWhileItLives checks that with privacy "none" the file does not contain
// the words during the conversation either.
func TestPrivacyNoneWhileItLives(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "chats.db")
	c := chatting(t, store, "", "http://127.0.0.1:1", "--config", write(t, "c.yaml", "privacy: none\n"))
	for _, text := range []string{"", "I want to book a flight", "from Boston", "to Denver"} {
		if text != "" {
			c.say(text)
		}
		if _, ok := <-c.lines; !ok {
			t.Fatal(c.note)
		}
	}
	for _, word := range []string{"Boston", "Denver", "book a flight", "where would you like"} {
		if inFiles(t, store, word) {
			t.Errorf("%q is in the file", word)
		}
	}
	if !inFiles(t, store, "listening.ready") {
		t.Error("nothing is in the file")
	}
	c.kill()
}
