package conv_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
)

// entries are changes that set n entries of a section, each with a value.
func entries(section string, n int, value string) string {
	list := make([]string, 0, n)
	for i := range n {
		list = append(list, fmt.Sprintf(`"e%d":%s`, i, value))
	}
	return `{"` + section + `":{` + strings.Join(list, ",") + `}}`
}

// nested is an array within arrays, n deep.
func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// TestContextLimits checks what a context takes and what it refuses, and that a refusal
// names what is wrong.
func TestContextLimits(t *testing.T) {
	text := func(n int) string { return `"` + strings.Repeat("x", n-2) + `"` }
	for _, c := range []struct{ name, changes, refused string }{
		{"64 entries", entries("files", 64, "1"), ""},
		{"65 entries and another", entries("files", 65, "1"), "files would have 66 entries: expected at most 64"},
		{"a name of 200 bytes", `{"files":{"` + strings.Repeat("n", 200) + `":1}}`, ""},
		{"a name of 201 bytes", `{"files":{"` + strings.Repeat("n", 201) + `":1}}`, "has 201 bytes: expected 1 to 200"},
		{"16 KiB", `{"preferences":{"a":` + text(16<<10-1) + `}}`, ""},
		{"16 KiB and one byte, and the five of another", `{"preferences":{"a":` + text(16<<10) + `}}`, "would have 16390 bytes: expected at most 16384"},
		{"marks count as they are written", `{"files":{"a":` + strings.ReplaceAll(text(16<<10-100), "x", "<") + `}}`, ""},
		{"32 KiB at once", `{"files":{"a":1}}` + strings.Repeat(" ", 32<<10-len(`{"files":{"a":1}}`)), ""},
		{"more than 32 KiB at once", `{"files":{"a":1}}` + strings.Repeat(" ", 32<<10), "expected at most 32768"},
		{"both sections count", `{"files":{"a":` + text(9<<10) + `},"preferences":{"a":` + text(9<<10) + `}}`, "expected at most 16384"},
		{"30 levels in an entry", `{"files":{"a":` + nested(30) + `}}`, ""},
		{"31 levels in an entry", `{"files":{"a":` + nested(31) + `}}`, "more than 32 levels"},
		{"16,000 levels", nested(16_000), "more than 32 levels"},
		{"not UTF-8", "{\"files\":{\"a\":\"\xff\"}}", "UTF-8"},
		{"a name twice", `{"files":{"a":1,"b":{"c":1,"c":2}}}`, `"c" stands twice`},
		{"a section twice", `{"files":{},"files":{}}`, `"files" stands twice`},
		{"a name twice, spelt in two ways", `{"files":{"a":1,"\u0061":2}}`, `"a" stands twice`},
		{"the same name in two objects", `{"files":{"a":{"a":[{"a":1},{"a":1}]}},"preferences":{"a":"a"}}`, ""},
		{"another case", `{"Files":{}}`, `unknown section "Files"`},
		{"operations", `{"operations":[]}`, "operations cannot be set"},
		{"no object", `"files"`, "must be a JSON object"},
		{"null", `null`, "must be a JSON object"},
		{"a list of entries", `{"files":["a"]}`, "files must be a JSON object"},
		{"empty", " ", "is empty"},
		{"cut off", `{"files":{"a":1`, "ends early"},
		{"two values", `{} {}`, "must be one JSON object"},
		{"a comma too many", `{"files":{"a":1,}}`, "not valid JSON"},
		{"no JSON", `{files: 1}`, "not valid JSON"},
	} {
		before, err := conv.Context{}.With(`{"files":{"kept":1}}`)
		if err != nil {
			t.Fatal(err)
		}
		if c.refused == "" {
			before = conv.Context{}
		}
		after, err := before.With(c.changes)
		switch {
		case c.refused == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)):
			t.Errorf("%s: error %v, expected %q", c.name, err, c.refused)
		case c.refused != "" && !after.Equal(&before):
			t.Errorf("%s: refused, but the context is %+v", c.name, after)
		case err != nil && len(err.Error()) > 500:
			t.Errorf("%s: an error of %d bytes", c.name, len(err.Error()))
		}
	}
}

// TestContextHasOneForm checks that neither spaces, the order of names nor escapes make a
// difference, that numbers keep their digits, and that the context before stays as it was.
func TestContextHasOneForm(t *testing.T) {
	one, err := conv.Context{}.With(" {\"files\" : {\"a\" : {\"y\":1.50, \"x\":\"\\u0041</script>\"} } } ")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(one.Files["a"]), `{"x":"A</script>","y":1.50}`; got != want {
		t.Errorf("the value is %s, expected %s", got, want)
	}
	two, err := one.With(`{"files":{"a":null}}`)
	if err != nil || !two.Empty() || two.Files != nil || len(one.Files) != 1 {
		t.Errorf("behind the removal: %+v, before: %+v, %v", two, one, err)
	}
}

// FuzzContext: whatever a client sends is taken or refused. What is taken keeps the
// limits, can be taken again, and is the same when it is written and read.
func FuzzContext(f *testing.F) {
	for _, s := range contexts {
		f.Add(s)
	}
	f.Add(nested(40))
	f.Add(`{"files":{"a":[1e999,-0,{"b":"\ud800"}]}}`)
	f.Fuzz(func(t *testing.T, changes string) {
		before, err := conv.Context{}.With(`{"files":{"kept":1},"preferences":{"kept":1}}`)
		if err != nil {
			t.Fatal(err)
		}
		after, err := before.With(changes)
		if err != nil {
			if !after.Equal(&before) {
				t.Fatalf("%v, but the context is %+v", err, after)
			}
			return
		}
		again, err := after.With(changes)
		if err != nil || !again.Equal(&after) {
			t.Fatalf("the second time %+v, %v, expected %+v", again, err, after)
		}
		b, err := json.Marshal(after)
		if err != nil {
			t.Fatal(err)
		}
		var read conv.Context
		if err := json.Unmarshal(b, &read); err != nil {
			t.Fatalf("written %s: %v", b, err)
		}
		if read, err = (conv.Context{}).With(string(b)); len(b) <= 32<<10 && (err != nil || !read.Equal(&after)) {
			t.Fatalf("written %s, read %+v, %v", b, read, err)
		}
	})
}

// TestSnapshotWithTooLargeContext: a snapshot that was changed by hand is refused.
func TestSnapshotWithTooLargeContext(t *testing.T) {
	c := ready(t, conv.ListeningReady)
	c.Step(c.State().Now, conv.ContextSet{Data: entries("files", 64, "1")})
	b, err := c.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conv.Restore(c.Options(), b); err != nil {
		t.Errorf("the snapshot as it was: %v", err)
	}
	b = []byte(strings.Replace(string(b), `"e1":1`, `"more":2,"e1":1`, 1))
	if _, err := conv.Restore(c.Options(), b); err == nil || !strings.Contains(err.Error(), "65 entries") {
		t.Errorf("error %v, expected one about 65 entries", err)
	}
}

// TestOperations checks that the work in progress is in the view of the context.
func TestOperations(t *testing.T) {
	c := ready(t, conv.ListeningReady)
	now := c.State().Now
	step := func(ev conv.Event) {
		now = now.Add(time.Second)
		c.Step(now, ev)
	}
	step(conv.UserText{Text: "report"})
	if v := c.State().ContextView(); len(v.Operations) != 0 {
		t.Fatalf("before the call: %+v", v)
	}
	step(conv.ToolCalled{ID: "t", Name: "report", Long: true})
	step(conv.ReplyDone{Text: "I look."})
	want := conv.Operation{Kind: conv.OperationTask, ID: "t", Name: "report"}
	got := c.State().ContextView().Operations
	if len(got) != 1 || got[0].Since.IsZero() {
		t.Fatalf("the operations are %+v", got)
	}
	if got[0].Since = (time.Time{}); got[0] != want {
		t.Errorf("the operation is %+v, expected %+v", got[0], want)
	}
	step(conv.ConnectionLost{})
	step(conv.ConnectionRestored{})
	step(conv.UserText{Text: "hello"}) // the result comes when the agent speaks of something else
	step(conv.ReplyDone{Text: "Hello."})
	step(conv.PlayoutStarted{})
	step(conv.TaskDone{ID: "t", Output: "3 pages"})
	want.Kind = conv.OperationResult
	if got = c.State().ContextView().Operations; len(got) != 1 || got[0] != want {
		t.Errorf("before the result is told: %+v, expected %+v", got, want)
	}
	step(conv.PlayoutFinished{})
	step(conv.ReplyDone{Text: "Here it is."})
	step(conv.PlayoutStarted{})
	step(conv.PlayoutFinished{})
	if v := c.State().ContextView(); len(v.Operations) != 0 {
		t.Errorf("behind the result: %+v", v)
	}
}

// TestContextInEveryPhase checks that what a client sets changes no phase, makes nothing
// be done, and is taken wherever there is a conversation.
func TestContextInEveryPhase(t *testing.T) {
	for _, p := range conv.Phases() {
		c := ready(t, p)
		before := c.State().Timers
		effects := c.Step(c.State().Now, conv.ContextSet{Data: `{"files":{"a":1}}`})
		out, taken := c.Last(), !c.State().Context.Empty()
		if c.Phase() != p || len(out.Transitions)+len(out.Turns) > 0 || out.Late || out.Deferred || c.State().Timers != before {
			t.Errorf("%v: the phase is %v, %+v", p, c.Phase(), out)
		}
		if ends := p == conv.Terminating; taken == ends || (len(effects) > 0) != ends || out.Keep == ends {
			t.Errorf("%v: taken %v, effects %v, keep %v", p, taken, effects, out.Keep)
		}
	}
}
