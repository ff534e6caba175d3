//go:build unix

package cli

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const vault = `
slots:
  pin: {type: digits, length: 12, secret: true, prompt: "What is your number?"}
  word: {type: string, secret: true, prompt: "And the password?"}
  city: {type: string, prompt: "Which city?"}
actions:
  open: {inputs: [pin, word], outputs: [found], mock: {found: gold}}
flows:
  open:
    description: open the safe
    trigger: {intents: ["open the safe"]}
    steps:
      - {step: ask, type: collect, slot: pin}
      - {step: too, type: collect, slot: word}
      - {step: run, type: action, call: open}
      - {step: where, type: collect, slot: city}
      - {step: told, type: say, message: "There is {found} in {city}."}
`

// The caller gives the number in two ways, and the password.
const vaultLines = "open the safe\n7193 5284\nit is 7193 5284 0617\nquetzalsesame\nquetzalcity\n"

var vaultSecrets = []string{"719352840617", "7193 5284", "quetzalsesame"}

// TestSecretIsNotOnTheDisk holds a conversation with `hocket chat` and looks for the
// caller's secrets in the output and in the files of the store, with SQLite and
// PostgreSQL, with a key and without. Without a key it also checks that other words are
// found, to show that the search works.
func TestSecretIsNotOnTheDisk(t *testing.T) { eachStore(t, secretOnDisk) }

func secretOnDisk(t *testing.T, store string) {
	t.Setenv("HOCKET_TEST_KEY", base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32)))
	agent := write(t, "vault.yaml", vault)
	postgres := strings.HasPrefix(store, "postgres")
	if postgres { // compression would hide the words
		if _, stderr, status := run(t, "hello\n", "chat", "--agent", agent, "--store", store); status != 0 {
			t.Fatal(stderr)
		}
		administer(t, store, "ALTER TABLE hocket.snapshots ALTER snapshot SET STORAGE EXTERNAL", "DELETE FROM hocket.snapshots")
	}
	sealed := write(t, "sealed.yaml", "store: {keys: [HOCKET_TEST_KEY]}\n")
	for _, more := range [][]string{nil, {"--config", sealed}} {
		place := store
		if more != nil && !postgres {
			place += ".sealed"
		}
		stdout, stderr, status := run(t, vaultLines, append([]string{"chat", "--agent", agent, "--json", "--store", place}, more...)...)
		if status != 0 || !strings.Contains(stdout, "There is gold in quetzalcity.") {
			t.Fatalf("status %d: %s\n%s", status, stderr, stdout)
		}
		id := strings.Fields(output(t, "", append([]string{"conversations", "list", "--store", place}, more...)...))[0]
		shown := output(t, "", append([]string{"conversations", "show", id, "--store", place}, more...)...)
		exported := output(t, "", append([]string{"conversations", "export", id, "--store", place}, more...)...)
		for what, text := range map[string]string{"the output": stdout, "the notes": stderr, "what is shown": shown} {
			for _, secret := range vaultSecrets {
				if strings.Contains(strings.ToLower(text), secret) {
					t.Errorf("%s has %q: %s", what, secret, text)
				}
			}
		}
		if strings.Contains(exported, vaultSecrets[0]) != (more != nil) {
			t.Errorf("a checkpoint, encrypted: %v: %s", more != nil, exported)
		}
	}
	find := func(word string) bool { return inFiles(t, store, word) }
	if postgres {
		administer(t, store, "CHECKPOINT")
		find = func(word string) bool { return len(inData(t, word)) > 0 }
	}
	if !find("quetzalcity") {
		t.Error("the search finds nothing")
	}
	for _, secret := range vaultSecrets {
		if find(secret) {
			t.Errorf("%q stands in a file of the store", secret)
		}
	}
}

// TestSecretIsNotInATraceOfACall checks that the trace of a call does not contain a
// spoken secret, with frames and without, and that the trace can be replayed.
func TestSecretIsNotInATraceOfACall(t *testing.T) {
	agent := write(t, "vault.yaml", strings.Replace(vault, "length: 12", "length: 4", 1))
	trace := filepath.Join(t.TempDir(), "call.jsonl")
	_, stderr, status := run(t, "", "call", "--agent", agent, "--today", "2026-01-05", "--trace", trace,
		"--say", "open the safe", "--say", "four seven one one", "--say", "sesame", "--say", "Denver")
	speechless(t, stderr)
	if status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	b, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	_, lines, _ := bytes.Cut(bytes.ToLower(b), []byte("\n"))
	if !bytes.Contains(lines, []byte("what is your number")) || !bytes.Contains(lines, []byte("•••")) {
		t.Fatalf("the secret was not asked for: %s", lines)
	}
	// A confidence of 0.0364471 has these digits, too.
	forms := regexp.MustCompile(`(^|[^0-9.])4711([^0-9]|$)|four seven|seven one|sesame`)
	for _, at := range forms.FindAllIndex(lines, -1) {
		t.Errorf("the trace has the secret: %s", lines[max(0, at[0]-200):min(len(lines), at[1]+100)])
	}
	if out := output(t, "", "replay", trace); !strings.Contains(out, "each the same") {
		t.Error(out)
	}
}
