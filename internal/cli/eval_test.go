package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/eval"
)

// evalFolder returns a folder with a manifest and a recording of half a second of a tone and
// half a second of silence.
func evalFolder(t *testing.T, manifest string) string {
	t.Helper()
	dir := t.TempDir()
	pcm := make([]int16, eval.Rate)
	for i := range eval.Rate / 2 {
		pcm[i] = int16(8000 * (i / 40 % 2))
	}
	f, err := os.Create(filepath.Join(dir, "tone.wav"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := audio.NewWAVWriter(f, audio.WAVWriterOptions{Rate: eval.Rate, Channels: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(pcm); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, eval.ManifestName), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

const toneManifest = `name: a tone
sets:
  - {name: tones, kind: speech, recordings: [{file: tone.wav, speech: [[0, 0.5]]}]}
`

// TestEval: the command prints the table or JSON, and writes the pictures. Without engines it
// says which are missing.
func TestEval(t *testing.T) {
	dir := evalFolder(t, toneManifest)
	pictures := filepath.Join(t.TempDir(), "new", "folder")
	stdout, stderr, status := run(t, "", "eval", dir, "--only", "voice", "--svg", pictures)
	if status != statusOK || !strings.HasPrefix(stdout, "a tone, 1 recordings\n") || !strings.Contains(stdout, "energy: AUC, tones") {
		t.Errorf("exit status %d, %s\n%s", status, stderr, stdout)
	}
	if b, err := os.ReadFile(filepath.Join(pictures, "voice.svg")); err != nil || !strings.HasPrefix(string(b), "<svg ") {
		t.Errorf("the picture is %.20s, %v", b, err)
	}
	var r eval.Report
	if err := json.Unmarshal([]byte(output(t, "", "eval", dir, "--only", "voice", "--json")), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Figures) == 0 || len(r.Curves) != 1 || r.Figures[0].Values[eval.Unseen].N != 50 {
		t.Errorf("the report is %+v: expected a value of 50 frames, those of a second", r)
	}
}

func TestEvalArguments(t *testing.T) {
	dir := evalFolder(t, toneManifest)
	empty := filepath.Join(t.TempDir(), "empty.jsonl")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "<folder>"},
		{[]string{filepath.Join(dir, "none")}, "no such file"},
		{[]string{dir, "--only", "song"}, "voice"},
		{[]string{dir, "--sample=-1"}, "must be 0 or more"},
		{[]string{dir, "--recorded", filepath.Join(dir, "none")}, "no such file"},
		{[]string{evalFolder(t, "sets: 3")}, "eval.yaml:1: sets must be a list"},
		{[]string{evalFolder(t, strings.ReplaceAll(toneManifest, "tone.wav", "bell.wav"))}, "bell.wav is not there"},
		{[]string{evalFolder(t, strings.ReplaceAll(toneManifest, "tone.wav", "."))}, "is not a file"},
		{[]string{evalFolder(t, strings.ReplaceAll(toneManifest, "[0, 0.5]", "[1, 1.5]")), "--only", "voice"}, "tone.wav: the speech from 1s is not within the recording"},
		{[]string{evalFolder(t, strings.ReplaceAll(toneManifest, "tone.wav", eval.ManifestName)), "--only", "voice"}, "wav: byte 0"},
		{[]string{dir, "--only", "endpointing", "--recorded", filepath.Join(dir, eval.ManifestName)}, "the recorded timings: line 1"},
		{[]string{dir, "--only", "endpointing", "--recorded", empty}, "the recorded timings: expected at least one turn"},
		{[]string{dir, "--record", empty, "--recorded", empty}, "expected one of them"},
		{[]string{dir, "--only", "voice", "--record", empty}, "--record writes the calls of the part endpointing"},
		{[]string{dir, "--record", dir}, "expected the name of a file"},
		{[]string{dir, "--record", filepath.Join(dir, "none", "r")}, "none/r: no such file or directory"},
	} {
		_, stderr, status := run(t, "", append([]string{"eval"}, c.args...)...)
		if status != statusInput || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("hocket eval %q: exit status %d, %q: expected %d and one line with %q", c.args, status, stderr, statusInput, c.want)
		}
	}
}

// TestEvalRecordKept: an evaluation that does not come to its end leaves the file of --record as it
// was, and no other file behind.
func TestEvalRecordKept(t *testing.T) {
	dir := t.TempDir()
	record := filepath.Join(dir, "r.jsonl")
	if err := os.WriteFile(record, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr, status := run(t, "", "eval", filepath.Join(dir, "none"), "--record", record)
	files, err := os.ReadDir(dir)
	if b, _ := os.ReadFile(record); string(b) != "kept" || err != nil || len(files) != 1 || status != statusInput {
		t.Errorf("exit status %d, %s: the file has %q, %v beside it", status, stderr, b, files)
	}
}

// TestEvalOverNetwork: virtual time does not wait for a network, so its figures would be false.
func TestEvalOverNetwork(t *testing.T) {
	config := filepath.Join(t.TempDir(), "c.yaml")
	text := "speech: {recognizer: soniox, synthesizer: soniox, soniox: {recognizer_url: 'ws://127.0.0.1:9/', synthesizer_url: 'ws://127.0.0.1:9/'}}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr, status := run(t, "", "eval", evalFolder(t, toneManifest), "--config", config)
	if status != statusInput || !strings.Contains(stderr, "speech over a network") {
		t.Errorf("exit status %d, %s", status, stderr)
	}
}
