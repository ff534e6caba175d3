package eval

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const goodManifest = `name: two sets
folder: sounds
sets:
  - name: digits
    folder: d
    kind: answer
    slot: digit
    split: seen
    recordings:
      - {file: 1_ann_0.wav, value: "1", speaker: ann}
      - {file: 2_bob_0.wav, value: 2, speaker: bob, split: unseen}
  - name: phrases
    kind: speech
    recordings:
      - {file: a/b.wav, text: Are you there?, speaker: bob, speech: [[0.1, 0.5], [0.9, 1.25]], pauses: [0.7]}
      - {file: rain.wav, kind: noise}
`

func TestManifest(t *testing.T) {
	m, err := ParseManifest(filepath.Join("x", "eval.yaml"), []byte(goodManifest))
	if err != nil {
		t.Fatal(err)
	}
	if m.Name != "two sets" || len(m.Recordings) != 4 {
		t.Fatalf("manifest %q with %d recordings: expected \"two sets\" with 4", m.Name, len(m.Recordings))
	}
	one := m.Recordings[0]
	if one.Path != filepath.Join("x", "sounds", "d", "1_ann_0.wav") || one.Split != Seen || one.Slot != "digit" || one.Value != "1" || one.Set != "digits" {
		t.Errorf("the first recording is %+v", one)
	}
	if two := m.Recordings[1]; two.Split != Unseen || two.Value != "2" {
		t.Errorf("a recording overrides its set: got %+v", two)
	}
	phrase := m.Recordings[2]
	if len(phrase.Speech) != 2 || phrase.Speech[1] != (Span{900 * time.Millisecond, 1250 * time.Millisecond}) || len(phrase.Pauses) != 1 {
		t.Errorf("the phrase is %+v", phrase)
	}
	if phrase.Split != Unseen {
		t.Errorf("without a split data is %s: expected unseen", phrase.Split)
	}
	if n := m.Of(KindNoise); len(n) != 1 {
		t.Errorf("%d noises: expected 1", len(n))
	}
	if n := len(m.Sample(1).Recordings); n != 2 {
		t.Errorf("a sample of 1 has %d recordings: expected 1 of each set", n)
	}
}

// TestManifestJSON: a manifest may be JSON.
func TestManifestJSON(t *testing.T) {
	m, err := ParseManifest("eval.json", []byte(`{"sets": [{"name": "n", "kind": "noise", "recordings": [{"file": "a.wav"}]}]}`))
	if err != nil || len(m.Recordings) != 1 {
		t.Fatalf("%v, %v: expected one recording", m, err)
	}
}

func TestManifestRefused(t *testing.T) {
	entry := func(s string) string {
		return "sets:\n  - name: s\n    kind: speech\n    recordings:\n      - {" + s + "}\n"
	}
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "expected one manifest"},
		{"no YAML", "sets: [", "m.yaml:1: invalid YAML"},
		{"a list", "- a", "m.yaml:1: the manifest must be keys and values"},
		{"no sets", "name: x", "expected at least one set"},
		{"a set without a name", "sets:\n  - kind: speech\n", "m.yaml:2: a set must have a name"},
		{"unknown key", "name: x\nset: 1", `m.yaml:2: unknown key "set"`},
		{"twice", "name: x\nname: y", "m.yaml:2: name is set twice"},
		{"no file", entry("text: x"), "m.yaml:5: a recording must have a file"},
		{"outside", entry("file: ../x.wav"), "must be in the folder of its set"},
		{"absolute", entry("file: /x.wav"), "must be in the folder of its set"},
		{"kind", entry("file: x.wav, kind: song"), `the kind is "song"`},
		{"split", entry("file: x.wav, split: test"), `the split is "test"`},
		{"slot", entry("file: x.wav, kind: answer, slot: colour"), `the slot is "colour"`},
		{"speech that is a number", entry("file: x.wav, speech: 3"), "speech must be a list"},
		{"half a section", entry("file: x.wav, speech: [[1]]"), "[from, to] in seconds"},
		{"backwards", entry("file: x.wav, speech: [[2, 1]]"), "must be in order"},
		{"overlap", entry("file: x.wav, speech: [[0, 2], [1, 3]]"), "must be in order"},
		{"no position", entry("file: x.wav, pauses: [soon]"), `"soon" is not a position`},
		{"negative", entry("file: x.wav, pauses: [-1]"), "is not a position"},
		{"pauses in disorder", entry("file: x.wav, pauses: [2, 1]"), "the pauses must be in order"},
		{"speech in noise", entry("file: x.wav, kind: noise, speech: [[0, 1]]"), "a noise must have no speech"},
		{"text that is a list", entry("file: x.wav, text: [a]"), "must be a text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseManifest("m.yaml", []byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v: expected one with %q", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %v", err)
			}
		})
	}
}

func TestLoadManifest(t *testing.T) {
	dir := t.TempDir()
	if _, err := LoadManifest(dir); err == nil || !strings.Contains(err.Error(), ManifestName) {
		t.Errorf("a folder without a manifest: error %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, ManifestName), []byte("sets:\n  - {name: s, kind: noise, recordings: [{file: a.wav}]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadManifest(dir); err == nil || !strings.Contains(err.Error(), "a.wav is not there") {
		t.Errorf("a recording that is not there: error %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.wav"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if m, err := LoadManifest(dir); err != nil || m.Name != filepath.Base(dir) {
		t.Errorf("the manifest is %v, %v", m, err)
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(goodManifest))
	f.Add([]byte(`{"sets":[{"name":"n","kind":"answer","slot":"pin","recordings":[{"file":"a","value":1,"speech":[[0,1e3]]}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseManifest("m.yaml", data)
		if err == nil && len(m.Recordings) == 0 {
			t.Error("a manifest without recordings")
		}
	})
}
