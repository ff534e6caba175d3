package dialog

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/dialog/agent"
)

var rewrite = flag.Bool("rewrite", false, "write the output of the scenarios into their files")

// tuesday is the day of the seed's examples.
var tuesday = time.Date(2025, 12, 2, 10, 0, 0, 0, time.UTC)

// A scenario is a conversation in a text file. Lines that begin with a command
// are input; what follows them is the golden output:
//
//	agent: bank.yaml        the agent's files in testdata, separated by spaces
//	now: 2025-12-02 10:00   the time of the conversation, which runs 5 s a turn
//	start                   begins it
//	user: TEXT              what the user says
//	user 0.2: TEXT          the same with the recognizer's confidence
//	ok: name=JSON ...       the action succeeds with these outputs
//	failed: CODE MESSAGE    it fails
//	missing: SLOT ...       it lacks slots
//	model: [COMMANDS]       the model has understood
//	model failed            it has not
//	repeat, resume, recover the methods of these names
//	note: TEXT              Answered
//	wait: DURATION          time passes
//	json                    prints the state
//
// Output lines: "<" what the agent says, "!" what it asks for, "~" the states
// that were passed, "=" where the dialogue stands.
type scenario struct {
	t     *testing.T
	agent *Agent
	now   time.Time
	st    State
	act   *ActionCall
	seen  float64
	out   bytes.Buffer
}

func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/scenarios/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := &scenario{t: t, now: time.Date(2025, 12, 2, 10, 0, 0, 0, time.UTC)}
			for _, line := range strings.Split(strings.TrimRight(string(data), "\n"), "\n") {
				if line != "" && strings.ContainsRune("<!~=", rune(line[0])) {
					continue
				}
				s.out.WriteString(line + "\n")
				if line != "" && line[0] != '#' {
					s.run(line)
				}
			}
			if *rewrite {
				if err := os.WriteFile(file, s.out.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got, want := s.out.String(), string(data); got != want {
				t.Errorf("%s differs (run with -rewrite to take it over):\n%s", file, firstDifference(got, want))
			}
		})
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			from := max(0, i-4)
			return fmt.Sprintf("line %d\n%s\n got  %s\n want %s", i+1, strings.Join(g[from:i], "\n"), g[i], w[i])
		}
	}
	return fmt.Sprintf("got %d lines, want %d", len(g), len(w))
}

// testFiles reads files of testdata.
func testFiles(t testing.TB, names ...string) []agent.File {
	t.Helper()
	var files []agent.File
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, agent.File{Name: name, Data: data})
	}
	return files
}

// testAgent compiles files of testdata, which must have no problems.
func testAgent(t testing.TB, names ...string) *Agent {
	t.Helper()
	a, problems := Parse(testFiles(t, names...))
	if a == nil {
		for _, p := range problems {
			t.Error(p)
		}
		t.FailNow()
	}
	return a
}

func (s *scenario) run(line string) {
	cmd, arg, _ := strings.Cut(line, ":")
	arg = strings.TrimSpace(arg)
	if s.agent != nil && cmd != "wait" {
		s.now = s.now.Add(5 * time.Second)
	}
	var o Output
	switch word, param, _ := strings.Cut(cmd, " "); word {
	case "agent":
		s.agent = testAgent(s.t, strings.Fields(arg)...)
		return
	case "now":
		at, err := time.Parse("2006-01-02 15:04", arg)
		if err != nil {
			s.t.Fatal(err)
		}
		s.now = at
		return
	case "wait":
		d, err := time.ParseDuration(arg)
		if err != nil {
			s.t.Fatal(err)
		}
		s.now = s.now.Add(d)
		return
	case "start":
		o = s.agent.Start(&s.st, s.now)
	case "user":
		m := Message{Text: arg, Confidence: 1}
		if param != "" {
			if _, err := fmt.Sscan(param, &m.Confidence); err != nil {
				s.t.Fatalf("confidence %q: %v", param, err)
			}
		}
		o = s.agent.Handle(&s.st, s.now, m)
	case "ok":
		in := ActionEnded{Outputs: map[string]any{}}
		if s.act != nil {
			in.ID = s.act.ID
		}
		for _, f := range strings.Fields(arg) {
			k, v, _ := strings.Cut(f, "=")
			var value any
			if err := json.Unmarshal([]byte(v), &value); err != nil {
				value = v
			}
			in.Outputs[k] = value
		}
		o = s.agent.Handle(&s.st, s.now, in)
	case "late":
		o = s.agent.Handle(&s.st, s.now, ActionEnded{ID: arg, Outputs: map[string]any{}})
	case "failed":
		code, message, _ := strings.Cut(arg, " ")
		if s.act == nil {
			s.t.Fatalf("%s: no action was asked for", line)
		}
		o = s.agent.Handle(&s.st, s.now, ActionEnded{ID: s.act.ID, Failed: true, Code: code, Message: message})
	case "missing":
		o = s.agent.Handle(&s.st, s.now, ActionEnded{ID: s.act.ID, Missing: strings.Fields(arg)})
	case "model":
		in := Understood{Failed: param == "failed"}
		if !in.Failed {
			if err := json.Unmarshal([]byte(arg), &in.Commands); err != nil {
				s.t.Fatalf("%s: %v", line, err)
			}
		}
		o = s.agent.Handle(&s.st, s.now, in)
	case "repeat":
		o = s.agent.Repeat(&s.st, s.now)
	case "resume":
		o = s.agent.Resume(&s.st, s.now)
	case "recover":
		o = s.agent.RecoverFromError(&s.st, s.now)
	case "note":
		s.agent.Answered(&s.st, s.now, arg)
		return
	case "json":
		data, err := json.MarshalIndent(s.st, "= ", "  ")
		if err != nil {
			s.t.Fatal(err)
		}
		s.out.WriteString("= " + string(data) + "\n")
		return
	default:
		s.t.Fatalf("unknown command %q", line)
	}
	s.print(o)
	s.roundTrip()
}

func (s *scenario) print(o Output) {
	for _, l := range o.Say {
		fmt.Fprintf(&s.out, "< %s\n", strings.ReplaceAll(l.Text, "\n", "\n<   "))
	}
	if o.Act != nil {
		inputs, _ := json.Marshal(o.Act.Inputs)
		fmt.Fprintf(&s.out, "! %s %s id=%s key=%s\n", o.Act.Name, inputs, o.Act.ID, o.Act.Key)
		s.act = o.Act
	}
	if o.Understand != nil {
		fmt.Fprintf(&s.out, "! understand %q flow=%s slot=%s\n", o.Understand.Text, o.Understand.Flow, o.Understand.Slot)
	}
	for name, is := range map[string]bool{"ask": o.Ask} {
		if is {
			fmt.Fprintf(&s.out, "! %s\n", name)
		}
	}
	if o.Handoff {
		s.out.WriteString("! handoff\n")
	}
	if o.End {
		s.out.WriteString("! end\n")
	}
	var path []string
	for _, e := range s.st.Trace {
		if e.Timestamp > s.seen && e.Event == "state_changed" {
			path = append(path, string(e.Data.To))
		}
	}
	s.seen = seconds(s.now)
	if len(path) > 0 {
		fmt.Fprintf(&s.out, "~ %s\n", strings.Join(path, " > "))
	}
	slots, _ := json.Marshal(s.st.Slots)
	fmt.Fprintf(&s.out, "= %s", s.st.ConversationState)
	if s.st.CurrentFlow != agent.NoFlow {
		fmt.Fprintf(&s.out, " %s/%s", s.st.CurrentFlow, s.st.CurrentStep)
	}
	if s.st.WaitingForSlot != "" {
		fmt.Fprintf(&s.out, " ?%s", s.st.WaitingForSlot)
	}
	fmt.Fprintf(&s.out, " %s nlu=%d\n", slots, s.st.NLUCalls)
}

// roundTrip checks that encoding and decoding the state as JSON does not change it.
func (s *scenario) roundTrip() {
	s.t.Helper()
	checkRoundTrip(s.t, s.st)
}

func checkRoundTrip(t interface {
	Helper()
	Fatalf(string, ...any)
}, st State,
) {
	t.Helper()
	data, err := json.Marshal(st)
	if err != nil {
		t.Fatalf("marshal: %v", err)
	}
	var back State
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatalf("unmarshal: %v", err)
	}
	if !reflect.DeepEqual(st, back) {
		again, _ := json.Marshal(back)
		t.Fatalf("the decoded state differs:\n%s\n%s\n%+v\n%+v", data, again, st, back)
	}
}
