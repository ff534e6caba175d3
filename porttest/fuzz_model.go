package porttest

import (
	"strings"
	"testing"

	"github.com/tmaxmax/go-sse"

	"github.com/hocketvoice/hocket/internal/fakes"
	"github.com/hocketvoice/hocket/internal/llm"
)

// FuzzModelWire checks that any stream of events of a vendor of language models is decoded without
// a panic, that not more is kept than was sent, and that calls have names and ids.
func FuzzModelWire(f *testing.F, wire llm.Wire, fake *fakes.Mind) {
	q := fakes.MindRequest{Model: "fake-1", Form: "f"}
	call := []fakes.MindCall{{ID: "a", Name: "f", Arguments: `{"x":1}`}}
	for _, a := range []fakes.MindAnswer{{Said: []string{"It is."}}, {Calls: call}, {Said: []string{"x"}, Broken: 500}, {Calls: call, Whole: true, Length: true}} {
		f.Add(fake.Stream(q, a), false)
	}
	q.JSON = true
	f.Add(fake.Stream(q, fakes.MindAnswer{Said: []string{"{}"}}), true)
	f.Fuzz(func(t *testing.T, stream string, form bool) {
		a := llm.Answer{Form: form}
		for event, err := range sse.Read(strings.NewReader(stream), &sse.ReadConfig{MaxEventSize: 1 << 12}) {
			if err != nil {
				break
			}
			text, err := wire.Take(&a, event.Type, []byte(event.Data))
			if err != nil {
				break
			}
			a.Text.WriteString(text)
		}
		if size := a.Text.Len() + a.Calls.Size(); size > 3*len(stream) { // each byte that is not UTF-8 becomes three
			t.Fatalf("%d bytes of %d", size, len(stream))
		}
		if calls, err := a.Calls.Finished(nil); err == nil {
			for _, c := range calls {
				if c.ID == "" || c.Name == "" || c.Arguments == "" {
					t.Fatalf("call %+v", c)
				}
			}
		}
	})
}
