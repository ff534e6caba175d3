package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func mustParse(t *testing.T, text string) *Config {
	t.Helper()
	c, err := Parse("hocket.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestParse(t *testing.T) {
	c := mustParse(t, `
# Everything that a call needs.
language: de
greeting: "Guten Tag."
turn:
  policy: easyturn
  thresholds: {energy_high: off, vad_speaking: 0.8}
  easyturn:
    aggressive: true
    min_silence: 400ms
    hysteresis: 0
    min_text_length: 0
    min_confidence: 0
    max_silence: off
  silence: {after: 250}
barge_in:
  policy: hybrid
  min_words: 3
  read_back: {policy: none}
dead_air:
  steps:
    - {after: 8s, code: checkin.1}
    - after: 1m30s
      code: goodbye
      end: true
limits:
  waiting: 62.5
  feedback: []
  calls: 1_000
retry:
  max: 0
  backoff: [500ms, 1s]
speech:
  silero: {weights: w.onnx}
`)
	want := Config{
		Language: "de", Greeting: "Guten Tag.",
		Turn: Turn{
			Policy:     "easyturn",
			Thresholds: Thresholds{EnergyHigh: Off, VADSpeaking: 0.8},
			EasyTurn: EasyTurn{
				Aggressive: true, MinSilence: Wait(400 * time.Millisecond), Hysteresis: Off,
				MinTextLength: Off, MinConfidence: Off, MaxSilence: Off,
			},
			Silence: Silence{After: Duration(250 * time.Millisecond)},
		},
		BargeIn: BargeIn{
			Profile:  Profile{Policy: "hybrid", MinWords: 3},
			ReadBack: Profile{Policy: "none"},
		},
		DeadAir: DeadAir{Steps: []DeadAirStep{
			{After: Duration(8 * time.Second), Code: "checkin.1"},
			{After: Duration(90 * time.Second), Code: "goodbye", End: true},
		}},
		Limits: Limits{
			Waiting: Duration(62500 * time.Microsecond), Feedback: []Feedback{}, Calls: 1000,
		},
		Retry: Retry{
			Max: Off, Backoff: []Duration{Duration(500 * time.Millisecond), Duration(time.Second)},
		},
		Speech: Speech{Silero: Silero{Weights: "w.onnx"}},
	}
	want.at = c.at
	if !reflect.DeepEqual(*c, want) {
		t.Errorf("got  %+v\nwant %+v", *c, want)
	}
	if at := c.Where("turn.easyturn.hysteresis").String(); at != "hocket.yaml:11:5" {
		t.Errorf("hysteresis is at %s", at)
	}
	if at := c.Where("limits.session").String(); at != "hocket.yaml:26:1" {
		t.Errorf("a key that is not set is at %s, expected its section", at)
	}
	if at := c.Where("dead_air.steps[1].end").String(); at != "hocket.yaml:25:7" {
		t.Errorf("the end of the second step is at %s", at)
	}
}

// TestSettings checks that an agent's file may have the same keys in its settings.
func TestSettings(t *testing.T) {
	c := mustParse(t, "settings:\n  turn: {policy: silence}\n  barge_in: {policy: words}\nlanguage: de\n")
	if c.Turn.Policy != "silence" || c.BargeIn.Policy != "words" || c.Language != "de" {
		t.Errorf("got %q, %q, %q", c.Turn.Policy, c.BargeIn.Policy, c.Language)
	}
	agent := "version: 1\nflows: {a: {steps: []}}\nsettings:\n  language: de\n  start: a\n  turn: {policy: silence, foo: 1}\n"
	c, err := ParseSettings("agent.yaml", []byte(agent), "turn", "barge_in")
	if c.Language != "" || c.Turn.Policy != "silence" {
		t.Errorf("the agent has language %q and policy %q", c.Language, c.Turn.Policy)
	}
	wantProblems(t, err, `agent.yaml:6:27: turn.foo: unknown key`)
}

// TestShort checks that a section may consist of its policy only.
func TestShort(t *testing.T) {
	c := mustParse(t, "turn: manual\nbarge_in: {reply: energy}\ndead_air: off\n")
	if c.Turn.Policy != "manual" || c.BargeIn.Reply.Policy != "energy" || !c.DeadAir.Off {
		t.Errorf("got %q, %q, %v", c.Turn.Policy, c.BargeIn.Reply.Policy, c.DeadAir.Off)
	}
}

func TestEmptyFiles(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "---\n", "turn:\nbarge_in: {}\nsettings:\n"} {
		c := mustParse(t, text)
		c.at = nil
		if !reflect.DeepEqual(*c, Config{}) {
			t.Errorf("%q gives %+v", text, c)
		}
	}
}

func wantProblems(t *testing.T, err error, want ...string) {
	t.Helper()
	var got []string
	if err != nil {
		got = strings.Split(err.Error(), "\n")
	}
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestProblems checks that each mistake is reported with its line and, if possible, a
// suggestion.
func TestProblems(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"unknown key", "turn:\n  polcy: easyturn\n", "2:3: turn.polcy: unknown key; did you mean policy?"},
		{"unknown section", "barge-in: {}", "1:1: barge-in: unknown key; did you mean barge_in?"},
		{"key of another section", "turn: {min_silence: 1s}", "1:8: turn.min_silence: unknown key; did you mean turn.easyturn.min_silence?"},
		{"key far from any", "turn: {zzzzzzzz: 1s}", "1:8: turn.zzzzzzzz: unknown key"},
		{"odd key", "\"a b\": 1", `1:1: "a b": unknown key`},
		{"number as key", "1: 2", "1:1: 1: unknown key"},
		{"unknown policy", "turn: {policy: easytrun}", `1:16: turn.policy: is "easytrun": expected one of auto, easyturn, recognizer, silence, semantic, manual; did you mean easyturn?`},
		{"policy alone", "turn: slience", `1:7: turn.policy: is "slience": expected one of auto, easyturn, recognizer, silence, semantic, manual; did you mean silence?`},
		{"dead air", "dead_air: no", `1:11: dead_air: is "no": expected keys (off, steps)`},
		{"list for a section", "turn: [manual]", `1:7: turn: is a list: expected keys (policy, thresholds, auto, easyturn, silence, semantic, onset, stability)`},
		{"duration", "limits: {tool: 8 seconds}", `1:16: limits.tool: is "8 seconds": expected a duration above 0, such as 400ms, 8s or 1m30s (a number alone is milliseconds)`},
		{"zero duration", "limits: {tool: 0}", "1:16: limits.tool: is 0: expected a duration above 0, such as 400ms, 8s or 1m30s (a number alone is milliseconds); without the key the default holds"},
		{"negative duration", "turn: {easyturn: {min_silence: -5ms}}", `1:32: turn.easyturn.min_silence: is "-5ms": expected 0 or more, such as 400ms, 8s or 1m30s (a number alone is milliseconds)`},
		{"huge duration", "limits: {tool: 99999h}", `1:16: limits.tool: is "99999h": expected at most 8760h`},
		{"huge number", "limits: {tool: 1e400}", `1:16: limits.tool: is "1e400": expected a duration above 0, such as 400ms, 8s or 1m30s (a number alone is milliseconds)`},
		{"no off here", "limits: {tool: off}", `1:16: limits.tool: is "off": expected a duration above 0, such as 400ms, 8s or 1m30s (a number alone is milliseconds)`},
		{"count", "history_limit: 2.5", "1:16: history_limit: is 2.5: expected a whole number of 1 or more; without the key the default holds"},
		{"retries", "retry: {max: -1}", "1:14: retry.max: is -1: expected a whole number of 0 or more (0: none)"},
		{"large count", "history_limit: 9999999999", "1:16: history_limit: is 9999999999: expected at most 1000000000"},
		{"threshold", "filter: {echo: 1.5}", "1:16: filter.echo: is 1.5: expected a number above 0 and up to 1, or off"},
		{"zero threshold", "turn: {thresholds: {energy_high: 0}}", "1:34: turn.thresholds.energy_high: is 0: expected a number above 0 and up to 1, or off"},
		{"score", "turn: {easyturn: {min_confidence: .nan}}", "1:35: turn.easyturn.min_confidence: is .nan: expected a number from 0 to 1, or off"},
		{"share", "turn: {semantic: {score: 0}}", "1:26: turn.semantic.score: is 0: expected a number above 0 and up to 1"},
		{"bool", "speak_notices: yes", `1:16: speak_notices: is "yes": expected true or false; did you mean true?`},
		{"text", "greeting: 5", `1:11: greeting: is 5: expected a text; did you mean "5"?`},
		{"list for text", "greeting: [a]", "1:11: greeting: is a list: expected a text"},
		{"mapping for duration", "limits: {tool: {a: 1}}", "1:16: limits.tool: is a group of keys: expected a duration above 0, such as 400ms, 8s or 1m30s (a number alone is milliseconds)"},
		{"no value", "limits:\n  tool:\n", "2:9: limits.tool: has no value: expected a duration above 0, such as 400ms, 8s or 1m30s (a number alone is milliseconds), or no key at all"},
		{"no list", "retry: {backoff: 1s}", `1:18: retry.backoff: is "1s": expected a list; did you mean backoff: [1s]?`},
		{"empty list", "retry: {backoff: []}", "1:18: retry.backoff: is empty: expected at least one entry, or no key at all"},
		{"bad entry", "retry: {backoff: [1s, x]}", `1:23: retry.backoff[1]: is "x": expected a duration above 0, such as 400ms, 8s or 1m30s (a number alone is milliseconds)`},
		{"incomplete step", "dead_air:\n  steps:\n    - after: 5s\n", "3:7: dead_air.steps[0]: has no code: expected a text"},
		{"twice", "language: en\nlanguage: de\n", "2:1: language: is set twice: the first time on line 1"},
		{"twice, by settings", "language: en\nsettings: {language: de}\n", "1:1: language: is set twice: the first time on line 2, under settings"},
		{"alias", "greeting: *a", "1:11: greeting: is an alias: expected the value itself"},
		{"anchor", "turn: &t {policy: manual}", "1:7: turn: is an anchor: expected the value itself"},
		{"list at the top", "- a", "1:1: the file is a list: expected keys and values, such as language: en"},
		{"text at the top", "hello", `1:1: the file is "hello": expected keys and values, such as language: en`},
		{"agent", "version: 1\nflows: {}\n", "2:1: this is an agent (it has flows): expected a config file"},
		{"an agent's key", "language: en\ninstructions: Be brief.\n", "2:1: instructions: unknown key: it belongs in the agent's file"},
		{"an agent's setting", "settings: {start: book}", "1:12: start: unknown key: it belongs in the agent's file"},
		{"two documents", "language: en\n---\nlanguage: de\n", "3:1: document 2 of the file begins here: expected one"},
		{"settings", "settings: 5", "1:11: settings: is 5: expected keys and values"},
		{"no YAML", "turn: {policy: manual", "1:7: invalid YAML: the brace { is not closed by a }"},
		{"tab", "turn:\n\tpolicy: manual", "2:1: invalid YAML: a tab: indent with spaces"},
		{"no text", "a\nb\xff", "2: the file must be UTF-8 text"},
		{"too long", strings.Repeat(" ", 65537), " the file has 65537 bytes: expected at most 65536"},
		{"too deep", strings.Repeat("[", 200), "1:1: nested too deeply: expected at most 100 levels"},
		{"too deep in dashes", "a:\n" + strings.Repeat("- ", 200), "2:1: nested too deeply: expected at most 100 levels"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Parse("c.yaml", []byte(tc.text))
			wantProblems(t, err, "c.yaml:"+tc.want)
		})
	}
}

// TestAllProblemsAtOnce checks that all problems are reported at once, in the order of
// the file.
func TestAllProblemsAtOnce(t *testing.T) {
	c, err := Parse("c.yaml", []byte("turn:\n  policy: x\n  foo: 1\nlimits: {tool: 5s, task: z}\nlanguage: en\n"))
	var problems Problems
	if !errors.As(err, &problems) || len(problems) != 3 {
		t.Fatalf("got %v", err)
	}
	for i, line := range []int{2, 3, 4} {
		if problems[i].Line != line {
			t.Errorf("problem %d is on line %d, expected %d", i+1, problems[i].Line, line)
		}
	}
	if c.Language != "en" || c.Limits.Tool != Duration(5*time.Second) {
		t.Errorf("what is right was not read: %+v", c)
	}
}

// TestManyProblems checks that the number of reported problems is limited.
func TestManyProblems(t *testing.T) {
	_, err := Parse("c.yaml", []byte(strings.Repeat("a: b\n", 1000)))
	var problems Problems
	if !errors.As(err, &problems) || len(problems) != maxProblems {
		t.Errorf("got %d problems, expected %d", len(problems), maxProblems)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "hocket.yaml")
	if err := os.WriteFile(path, []byte("speech:\n  silero: {weights: w/silero.onnx}\n  pocketsphinx: {dictionary: /usr/d}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(dir, "w/silero.onnx"); c.Speech.Silero.Weights != want {
		t.Errorf("the weights are %q, expected %q", c.Speech.Silero.Weights, want)
	}
	if c.Speech.Pocketsphinx.Dictionary != "/usr/d" {
		t.Errorf("an absolute path became %q", c.Speech.Pocketsphinx.Dictionary)
	}
	for _, store := range []string{"postgres://host/database", "${DATABASE_URL}"} {
		if err := os.WriteFile(path, []byte("store: {path: \""+store+"\"}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if c, err := Load(path); err != nil || c.Store.Path != store {
			t.Errorf("%q became %q, error %v", store, c.Store.Path, err)
		}
	}
	if _, err := Load(filepath.Join(dir, "none.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there gives %v", err)
	}
}

// TestOr checks that settings of the first file, including false and off, are not
// changed by the second.
func TestOr(t *testing.T) {
	agent := mustParse(t, "speak_notices: false\nturn: {policy: silence}\nretry: {backoff: [1s]}\n")
	base := mustParse(t, "speak_notices: true\nlanguage: de\nturn: {policy: manual, silence: {after: 1s}}\nretry: {backoff: [2s, 3s], max: 2}\n")
	c := agent.Or(base)
	if c.SpeakNotices || c.Language != "de" || c.Turn.Policy != "silence" || c.Turn.Silence.After != Duration(time.Second) || len(c.Retry.Backoff) != 1 || c.Retry.Max != 2 {
		t.Errorf("got %+v", c)
	}
	if agent.Language != "" || base.Turn.Policy != "manual" {
		t.Error("a source was changed")
	}
}

func TestNearest(t *testing.T) {
	choices := []string{"min_silence", "min_speech", "policy", "off"}
	for word, want := range map[string]string{
		"minSilence": "min_silence", "min-silence": "min_silence", "min_slience": "min_silence",
		"Policy": "policy", "polciy": "policy", "of": "off", "x": "", "": "", "speech": "",
	} {
		if got := Nearest(word, choices); got != want {
			t.Errorf("Nearest(%q) = %q, expected %q", word, got, want)
		}
	}
}

// FuzzParse checks that any bytes yield a config or problems with the file's name,
// without a panic, and always the same.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "a", "turn: {policy: easyturn}", "settings:\n  turn:\n    easyturn:\n      min_silence: 400ms\n",
		"dead_air:\n  steps:\n  - after: 8s\n    code: x\n", "limits: {feedback: [{after: 0, code: a}]}",
		"a: &x [*x]", "<<: {a: 1}", "? [a]\n: b", "!!map {a: b}", "a: |\n  b\n c", "\"\\x", "- - -", "%YAML 1.2\n---\n", "a: 'b", "{", "\t", "\ufeffa: 1",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("f.yaml", data)
		if c == nil {
			t.Fatal("no config")
		}
		if err != nil {
			for line := range strings.Lines(err.Error()) {
				if !strings.HasPrefix(line, "f.yaml") {
					t.Errorf("a problem does not begin with the file: %q", line)
				}
			}
		}
		again, err2 := Parse("f.yaml", data)
		if !reflect.DeepEqual(c, again) || (err == nil) != (err2 == nil) || err != nil && err.Error() != err2.Error() {
			t.Error("the same bytes were read in two ways")
		}
		if _, err := ParseSettings("f.yaml", data, "turn"); err == nil {
			return
		}
	})
}

// TestKeyOf checks that the fields of a config have keys, and other names have none.
func TestKeyOf(t *testing.T) {
	for field, want := range map[string]string{
		"Limits.SessionWarning":   "limits.session_warning",
		"DeadAir.Steps[1].After":  "dead_air.steps[1].after",
		"BargeIn.ReadBack.Policy": "barge_in.read_back.policy",
		"BargeIn.MinWords":        "barge_in.min_words",
		"Retry.Backoff[2]":        "retry.backoff[2]",
		"Limits.Sitting":          "",
		"":                        "",
	} {
		if got := KeyOf(field); got != want {
			t.Errorf("%s: %q, expected %q", field, got, want)
		}
	}
}

// TestChanged checks that keys count whose values are others, and nothing else: no remark,
// no order, and no place in the file.
func TestChanged(t *testing.T) {
	const file = "server: {addr: \"127.0.0.1:1\", keys: {file: k}}\nlimits: {waiting: 5s, feedback: [{after: 1s, code: a}]}\ntools: {http: [{name: a, method: GET, url: \"http://127.0.0.1/\", description: A b}]}\nmodels: [{name: m}]\n"
	was, err := Parse("a.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"# moved\n\n" + file: "",
		strings.Replace(file, "waiting: 5s", "waiting: 5000ms", 1):         "",
		strings.Replace(file, "A b", "A c", 1):                             "tools.http",
		strings.Replace(file, "code: a", "code: b", 1) + "timezone: UTC\n": "timezone limits.feedback",
		strings.Replace(file, "models: [{name: m}]", "", 1):                "models",
		strings.Replace(file, ", keys: {file: k}", "", 1):                  "server.keys.file",
	} {
		now, err := Parse("b.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(now.Changed(was), " "); got != want {
			t.Errorf("%s\nchanged: %q, expected %q", text, got, want)
		}
	}
}
