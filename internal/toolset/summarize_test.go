package toolset

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// results is a slow tool with results of a given length.
func results(length int, takes time.Duration) *porttest.Tool {
	return &porttest.Tool{
		Known: []port.ToolSpec{{Name: "find"}, {Name: "delegate", Long: true}},
		Run: func(ctx context.Context, _ port.ToolCall, _ func(string)) (string, error) {
			select {
			case <-time.After(takes):
				return strings.Repeat("ä", length/2), nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		},
	}
}

// TestSummarize checks that a long result becomes a summary or stays unchanged,
// within its time, with one request.
func TestSummarize(t *testing.T) {
	long := strings.Repeat("ä", 5000)
	answers := func(text string) *porttest.Model {
		return &porttest.Model{Answer: func(port.Request) []port.Delta {
			return []port.Delta{{Text: text[:len(text)/2]}, {Text: text[len(text)/2:]}}
		}}
	}
	for name, c := range map[string]struct {
		tool   string
		length int
		takes  time.Duration
		model  *porttest.Model
		want   string
		asked  bool
		within time.Duration
	}{
		"short":              {"find", 4000, 0, answers("x"), strings.Repeat("ä", 2000), false, 0},
		"long":               {"find", 10_000, 0, answers(" five thousand of them \n"), "Summary of a result of 5000 characters: five thousand of them", true, 0},
		"of a delegate":      {"delegate", 10_000, 4 * time.Minute, answers("many"), "Summary of a result of 5000 characters: many", true, 4 * time.Minute},
		"too long a summary": {"find", 10_000, 0, answers(strings.Repeat("y", 4000)), long, true, 0},
		"an empty one":       {"find", 10_000, 0, answers("  "), long, true, 0},
		"a model that fails": {"find", 10_000, 0, &porttest.Model{Fail: func(port.Request, int) error { return errors.New("no key") }}, long, true, 0},
		"one that hangs":     {"find", 10_000, 0, &porttest.Model{Block: 1}, long, true, 10 * time.Second},
		"little time":        {"find", 10_000, 22 * time.Second, &porttest.Model{Block: 1}, long, true, 28 * time.Second},
		"no time":            {"find", 10_000, 27 * time.Second, answers("x"), long, false, 27 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked, answer := 0, c.model.Answer
				c.model.Answer = func(r port.Request) []port.Delta {
					asked++
					if q := r.Messages[0].Content; !strings.Contains(q, "find was called with {\"q\":1}") && c.tool == "find" || !strings.HasSuffix(q, strings.Repeat("ä", c.length/2)) {
						t.Errorf("asked %.100q", q)
					}
					if answer == nil {
						return []port.Delta{{Text: "x"}}
					}
					return answer(r)
				}
				s := Summarize(results(c.length, c.takes), c.model, Summaries{Chars: 4000, Quick: 30 * time.Second, Long: 5 * time.Minute})
				began := time.Now()
				out, err := s.Call(t.Context(), port.ToolCall{Name: c.tool, Arguments: `{"q":1}`}, nil)
				if err != nil || out != c.want || len(out) > 4000 && out != long {
					t.Errorf("%d bytes %.100q, error %v", len(out), out, err)
				}
				if took := time.Since(began); took != c.within {
					t.Errorf("it took %v, expected %v", took, c.within)
				}
				if (asked == 1) != c.asked || asked > 1 {
					t.Errorf("%d requests", asked)
				}
			})
		})
	}
}

// TestSummarizePort checks that the tool is otherwise unchanged, and that only a
// limited part of a huge result is read.
func TestSummarizePort(t *testing.T) {
	model := &porttest.Model{}
	porttest.TestTool(t, func(*testing.T) port.Tool { return Summarize(fake("x"), model, Summaries{Chars: 10}) },
		port.ToolCall{ID: "1", Name: "x", Arguments: "{}"})
	var read atomic.Int64
	model.Answer = func(r port.Request) []port.Delta {
		read.Store(int64(len(r.Messages[0].Content)))
		return []port.Delta{{Text: "y"}}
	}
	s := Summarize(results(1<<20, 0), model, Summaries{Chars: 100})
	if out, err := s.Call(t.Context(), port.ToolCall{Name: "find", Arguments: strings.Repeat("z", 5000)}, nil); err != nil || !strings.HasSuffix(out, ": y") {
		t.Errorf("%q, error %v", out, err)
	}
	if n := read.Load(); n > maxSummarized+maxMistake+300 {
		t.Errorf("%d bytes were read", n)
	}
}
