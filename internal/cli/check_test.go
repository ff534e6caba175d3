package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const goodAgent = `version: "1.0"
settings:
  turn: {policy: silence}
  barge_in: {policy: words, min_words: 3}
slots:
  city: {prompt: "Which city?"}
flows:
  ask:
    trigger: {intents: ["weather"]}
    steps:
      - {step: get, type: collect, slot: city}
      - {step: tell, type: say, message: "You said {city}."}
`

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"good.yaml": "turn: silence\n", "bad.yaml": "turn: slience\nfoo: 1\n", "limits.yaml": "limits: {session: 1s}\n",
		"agent.yaml":          goodAgent,
		"clerk.yaml":          "settings:\n  instructions: You are the clerk of a bank.\n  barge_in: words\n",
		"clerk-at-top.yaml":   "instructions: You are the clerk of a bank.\nsettings: {language: de}\n",
		"clerk-wrong.yaml":    "instructions: You are the clerk of a bank.\nsettings: {barge_in: wrods}\n",
		"engine.yaml":         strings.Replace(goodAgent, "policy: words", "policy: wrods", 1),
		"flow.yaml":           strings.Replace(goodAgent, "slot: city}", "slot: citty}", 1),
		"folder/1.yaml":       goodAgent,
		"folder/notes.txt":    "not of the agent",
		"empty/notes.txt":     "no agent",
		"broken.yaml":         "flows: {a: [\n",
		"half-an-agent/a.yml": "flows: {a: {steps: []}}\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		paths  string
		status int
		want   []string // beginnings of lines
	}{
		{"good.yaml", 0, []string{"good.yaml: ok"}},
		{"agent.yaml folder good.yaml", 0, []string{"agent.yaml: ok", "folder: ok", "good.yaml: ok"}},
		// An agent that consists of a language model only: `serve` accepts it.
		{"clerk.yaml clerk-at-top.yaml", 0, []string{"clerk.yaml: ok", "clerk-at-top.yaml: ok"}},
		{"clerk-wrong.yaml", 2, []string{`clerk-wrong.yaml:2:22: barge_in.policy: is "wrods"`}},
		{"bad.yaml", 2, []string{
			`bad.yaml:1:7: turn.policy: is "slience": expected one of auto, easyturn, recognizer, silence, semantic, manual; did you mean silence?`,
			"bad.yaml:2:1: foo: unknown key",
		}},
		{"limits.yaml good.yaml", 2, []string{"limits.yaml:1:10: limits.session_warning: is 30s: expected less than", "good.yaml: ok"}},
		{"engine.yaml", 2, []string{`engine.yaml:4:22: barge_in.policy: is "wrods": expected one of hybrid, energy, words, none, seeds; did you mean words?`}},
		{"flow.yaml", 2, []string{"flow.yaml:11:"}},
		{"broken.yaml", 2, []string{"broken.yaml:1:"}},
	} {
		stdout, stderr, status := run(t, "", append([]string{"check"}, strings.Fields(tc.paths)...)...)
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		if status != tc.status || stderr != "" || len(lines) != len(tc.want) {
			t.Errorf("check %s: status %d, expected %d\n%s%s", tc.paths, status, tc.status, stdout, stderr)
			continue
		}
		for i, want := range tc.want {
			if !strings.HasPrefix(lines[i], want) {
				t.Errorf("check %s: line %d is\n%s\nexpected\n%s", tc.paths, i+1, lines[i], want)
			}
		}
	}
	stdout, stderr, status := run(t, "", "check", "empty")
	if want := "hocket check: agent: empty has no *.yaml file\n"; status != statusInput || stdout != "" || stderr != want {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
}

// TestCheckExamples checks the examples of the repository.
func TestCheckExamples(t *testing.T) {
	agents, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(agents) == 0 {
		t.Skip("there are no examples yet")
	}
	for _, path := range agents {
		output(t, "", "check", path)
	}
}
