package convtest

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func traces(t *testing.T) []Trace {
	t.Helper()
	b, err := os.ReadFile("testdata/traceability.txt")
	if err != nil {
		t.Fatal(err)
	}
	all, err := parseTraces(string(b))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTraceability checks that the evidence of every id exists, and that the
// document matches the data. With -rewrite it writes the document.
func TestTraceability(t *testing.T) {
	all := traces(t)
	doc, errs := document(&module{root: ".."}, all)
	for _, err := range errs {
		t.Error(err)
	}
	if t.Failed() {
		return
	}
	path := filepath.Join("..", "docs", "seeds.md")
	if f := flag.Lookup("rewrite"); f != nil && f.Value.String() == "true" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(doc), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, []byte(doc)) {
		t.Error("docs/seeds.md is not what the data says: run `go generate ./convtest`")
	}
	for _, tr := range all {
		for _, e := range tr.Evidence {
			if why, ok := strings.CutPrefix(e, "later: "); ok {
				t.Logf("%s %s: later: %s", tr.Group[:3], tr.ID, why)
			}
		}
	}
}

// TestTraceabilityNotices checks that missing evidence is an error.
func TestTraceabilityNotices(t *testing.T) {
	for text, want := range map[string]string{
		"## 000 x\nA | b | nothing.txt":      "there is no such scenario",
		"## 000 x\nA | b | conv.TestNothing": "no such test",
		"## 000 x\nA | b | nowhere.TestX":    "no such test",
		"## 000 x\nA | b | word":             "expected a scenario",
	} {
		all, err := parseTraces(text)
		if err != nil {
			t.Fatal(err)
		}
		_, errs := document(&module{root: ".."}, all)
		if len(errs) != 1 || !strings.Contains(errs[0].Error(), want) {
			t.Errorf("%q: %v, expected %q", text, errs, want)
		}
	}
	for text, want := range map[string]string{
		"A | b | c.txt":                          "in a group",
		"## 000 x\nA | b":                        "expected `ID",
		"## 000 x\nA | b | c.txt\nA | b | c.txt": "duplicate id",
		"## 000 x\nA | b | ,":                    "has no evidence",
		"## 000 x\nA |  | c.txt":                 "has no requirement",
	} {
		if _, err := parseTraces(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %q", text, err, want)
		}
	}
}

// source is a seed and the pattern of its ids.
type source struct {
	file    string
	pattern string
	id      func(m []string) string
}

// idsFile lists the ids of the seeds, "SEED ID" on each line, in the order in which the
// seeds have them. With -rewrite it is written from the seeds.
const idsFile = "testdata/seed_ids.txt"

// TestTraceabilityIsComplete checks that each id of the seeds is in the data, and
// each numbered requirement of the data is in the seeds. If the seeds are beside
// the repository, it also checks the list of ids against them.
func TestTraceabilityIsComplete(t *testing.T) {
	if fromSeeds := seedIDs(t); fromSeeds != nil {
		text := strings.Join(fromSeeds, "\n") + "\n"
		if f := flag.Lookup("rewrite"); f != nil && f.Value.String() == "true" {
			if err := os.WriteFile(idsFile, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if b, err := os.ReadFile(idsFile); err != nil || string(b) != text {
			t.Errorf("%s does not list the ids of the seeds (%v): run `go generate ./convtest`", idsFile, err)
		}
	}
	b, err := os.ReadFile(idsFile)
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for _, tr := range traces(t) {
		have[tr.Group[:3]+" "+tr.ID] = true
	}
	known := map[string]bool{}
	for id := range strings.Lines(string(b)) {
		id = strings.TrimSuffix(id, "\n")
		known[id] = true
		if !have[id] {
			t.Errorf("the seeds have %s, the data does not", id)
		}
	}
	if len(known) < 140 {
		t.Errorf("only %d ids are in the list", len(known))
	}
	for id := range have {
		if strings.HasPrefix(id, "000 ") && strings.Contains(id, "-0") && !known[id] {
			t.Errorf("the data has %s, the seeds do not", id)
		}
	}
}

// seedIDs returns the ids in the text of the seeds, or nil if the seeds are not
// beside the repository.
func seedIDs(t *testing.T) (list []string) {
	t.Helper()
	seen := make(map[string]bool)
	same := func(m []string) string { return m[1] }
	for _, s := range []source{
		{"000", `\*\*((?:REQ|INT|PER|SEC|CON|GUD|PAT|AC|EXT|SVC|INF|DAT|PLT|COM)-\d{3})\*\*: `, same},
		{"001", `(?m)^## (\d)\. `, func(m []string) string { return "section " + m[1] }},
		{"001", `(?m)^### (4\.\d) `, func(m []string) string { return "section " + m[1] }},
		{"001", `(?m)^  ([a-z_]+): (?:null|[\d_]+),`, func(m []string) string { return "timeout " + m[1] }},
		{"001", `(?m)^│   │ ([A-Z]+_?[A-Z]+) +│ (?:Yes|No|Maybe)`, func(m []string) string { return "error " + m[1] }},
		{"003", `(?m)^#### Rule (\d):`, func(m []string) string { return "rule " + m[1] }},
		{"003", `(?m)^\| ([A-Z_]+) \| ([A-Z_]+) \|`, func(m []string) string { return m[1] + " -> " + m[2] }},
		{"004", `(?m)^### Feature (\d):`, func(m []string) string { return "feature " + m[1] }},
		{"004", `(?m)^(\d)\. \[ \] `, func(m []string) string { return "checklist " + m[1] }},
		{"002", `(?s)HOLD → SPEAK:(.*?)SPEAK → HOLD:`, nil},
		{"002", `(?s)SPEAK → HOLD:(.*?)` + "```", nil},
		{"002", `\b((?:MIN|ENERGY|VAD|STABILITY|HYSTERESIS|INTERRUPT)_[A-Z_]+[A-Z])\b`, same},
	} {
		text := seed(t, s.file)
		if text == "" {
			return nil
		}
		matches := regexp.MustCompile(s.pattern).FindAllStringSubmatch(text, -1)
		if len(matches) == 0 {
			t.Errorf("seed %s has nothing like %s", s.file, s.pattern)
		}
		for _, m := range matches {
			for _, id := range s.ids(m) {
				if id = s.file + " " + id; !seen[id] {
					seen[id] = true
					list = append(list, id)
				}
			}
			if s.id == nil {
				break // the rules are written out again further on
			}
		}
	}
	return list
}

// ids are the ids of one match: itself, or for the rules of seed 002 its numbers.
func (s source) ids(m []string) []string {
	if s.id != nil {
		return []string{s.id(m)}
	}
	direction := "HOLD->SPEAK "
	if strings.HasPrefix(m[0], "SPEAK") {
		direction = "SPEAK->HOLD "
	}
	var ids []string
	for _, n := range regexp.MustCompile(`(?m)^  (\d)\. `).FindAllStringSubmatch(m[1], -1) {
		ids = append(ids, direction+n[1])
	}
	return ids
}

// seed returns the text of a seed, or an empty string if the seeds are not beside
// the repository.
func seed(t *testing.T, number string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "shared", "seeds", number+"_*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		return ""
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
