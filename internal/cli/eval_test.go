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
	if strings.Contains(stderr, "built without") {
		t.Skip(stderr)
	}
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
	} {
		_, stderr, status := run(t, "", append([]string{"eval"}, c.args...)...)
		if status != statusInput || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("hocket eval %q: exit status %d, %q: expected %d and one line with %q", c.args, status, stderr, statusInput, c.want)
		}
	}
}
