package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/turn"
)

// TestPausePatience: a pause waits 150 ms for the computations of other calls, and no longer.
func TestPausePatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waits := &porttest.EndOfTurn{Says: func(ctx context.Context, _ int, _ []int16) (float64, error) {
			<-ctx.Done()
			return 0.9, ctx.Err()
		}}
		a := &sound{s: &Session{o: Options{EndOfTurn: waits}}}
		began := time.Now()
		if got := a.finished(t.Context(), pause{}, patience); !math.IsNaN(got) || time.Since(began) != 150*time.Millisecond {
			t.Errorf("score %v after %v, want none after 150 ms", got, time.Since(began))
		}
	})
}

// TestPauseOfAVirtualCall: in virtual time the call waits for the model, which then ends the
// turn; a model that fails does not.
func TestPauseOfAVirtualCall(t *testing.T) {
	for name, tc := range map[string]struct {
		score float64
		err   error
		want  string // how the turn ends, and after which silence
	}{
		"finished":     {0.9, nil, "transition_to_SPEAK_semantic 300"},
		"not finished": {0.1, nil, "transition_to_SPEAK_max_silence 2500"},
		"fails":        {0.9, errors.New("broken"), "transition_to_SPEAK_max_silence 2500"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &porttest.EndOfTurn{Says: func(context.Context, int, []int16) (float64, error) { return tc.score, tc.err }}
			c := hold(t, plan{
				conv:    conv.Options{Endpoint: turn.PolicySemantic},
				texts:   []string{"hello there"},
				lines:   []line{{answers, 600 * ms}},
				replies: []string{answer},
				watch:   true,
				parts:   func(o *Options) { o.EndOfTurn, o.Turn.Policy = m, turn.PolicySemantic },
			})
			c.ok()
			if m.Requests() != 1 {
				t.Errorf("%d requests, want one", m.Requests())
			}
			if got := endOfTurn(t, c.trace.String()); got != tc.want {
				t.Errorf("the turn ends by %q, want %q", got, tc.want)
			}
		})
	}
}

// endOfTurn returns the first end of a turn in a trace, with the silence in milliseconds.
func endOfTurn(t *testing.T, trace string) string {
	t.Helper()
	for text := range strings.Lines(trace) {
		var l struct {
			Silence float64 `json:"silence_duration_ms"`
			Reason  string  `json:"reason"`
		}
		if strings.Contains(text, "transition_to_SPEAK") && json.Unmarshal([]byte(text), &l) == nil && l.Reason != "" {
			return fmt.Sprintf("%s %g", l.Reason, l.Silence)
		}
	}
	return ""
}
