package hub_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/leg/text"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/session"
	"github.com/hocketvoice/hocket/turn"
)

// troubled is a model and a tool that fail when a test wants them to.
type troubled struct {
	mu    sync.Mutex
	fails []error // of the next attempts; a nil answers
}

var errHangs = errors.New("it never answers")

func (m *troubled) next() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.fails) == 0 {
		return nil
	}
	err := m.fails[0]
	m.fails = m.fails[1:]
	return err
}

func (m *troubled) Reply(ctx context.Context, r port.Request, emit func(port.Delta) error) error {
	err := m.next()
	if errors.Is(err, errHangs) {
		<-ctx.Done()
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	if last := r.Messages[len(r.Messages)-1]; last.Role == "user" && strings.Contains(last.Content, "tool") {
		return emit(port.Delta{Call: &port.ToolCall{ID: "c1", Name: "weather", Arguments: "{}"}})
	}
	return emit(port.Delta{Text: "Here it is."})
}

// TestFailures checks that operators see each failure and retry of a model and a tool with its
// kind, attempt and latency, without any words of the conversation, and that the trace has the
// same failures.
func TestFailures(t *testing.T) {
	failure := func(code string) error {
		return &port.Failure{Code: code, Message: "secret detail", Retryable: errclass.Of(code).Retries > 0}
	}
	limited := failure(errclass.RateLimit)
	for _, c := range []struct {
		name, line string
		model      []error
		tool       func(ctx context.Context) error
		want       []string
	}{
		{"four times too many requests", "hello", []error{limited, limited, limited, limited}, nil, []string{
			"model gpt RATE_LIMIT 1 0s true", "model gpt RATE_LIMIT 2 0s true", "model gpt RATE_LIMIT 3 0s true", "model gpt RATE_LIMIT 4 0s false",
		}},
		{"a failure of the server, then an answer", "hello", []error{failure(errclass.ServerError)}, nil, []string{"model gpt SERVER_ERROR 1 0s true"}},
		{"a wrong key", "hello", []error{failure(errclass.AuthFailure)}, nil, []string{"model gpt AUTH_FAILURE 1 0s false"}},
		{"a model that hangs once", "hello", []error{errHangs}, nil, []string{"model gpt TIMEOUT 1 8s true"}},
		{"a tool that fails", "use the tool", nil, func(context.Context) error { return failure(errclass.ToolError) }, []string{"tool weather TOOL_ERROR 1 0s false"}},
		{"a tool that hangs", "use the tool", nil, func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}, []string{"tool weather TIMEOUT 1 30s false"}},
		{"a tool that tries again", "use the tool", nil, func(ctx context.Context) error {
			port.NoteRetry(ctx, port.Retry{Name: "weather", Class: errclass.ServerError, Attempt: 1, Latency: time.Second})
			return nil
		}, []string{"tool weather SERVER_ERROR 1 1s true"}},
		{"nothing fails", "use the tool", nil, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				h := mustHub(t, hub.Options{Log: slog.New(slog.NewJSONHandler(&log, nil))})
				tool := &porttest.Tool{Known: []port.ToolSpec{{Name: "weather"}}, Run: func(ctx context.Context, _ port.ToolCall, _ func(string)) (string, error) {
					if c.tool == nil {
						return "sunny", nil
					}
					return "sunny", c.tool(ctx)
				}}
				conversation := mustStart(t, h, hub.Call{
					Agent: "test", Transport: "text", Leg: text.New(text.Options{}), Services: map[string]string{"model": "gpt"},
					Session: func(one *hub.Conversation) (*session.Session, error) {
						return session.New(session.Options{
							ID: one.ID(), Leg: one.Leg(), Trace: one.Recorder(), TraceLive: true, Text: true,
							Model: &troubled{fails: c.model}, ModelTools: tool, Retried: one.Retried,
							Conv: conv.Options{Endpoint: "manual", DeadAir: turn.DeadAirOptions{Off: true}},
						})
					},
				})
				if err := conversation.Command(hub.Command{Type: "send_text", Text: c.line}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute) // of virtual time
				synctest.Wait()
				trace, _ := conversation.Trace()
				drained(h)
				var got []string
				for line := range strings.Lines(log.String()) {
					var l struct {
						Level, Msg, Conversation, Agent, Kind, Name, Class string
						Attempt                                            int
						Seconds                                            float64
						Retried                                            bool
					}
					if err := json.Unmarshal([]byte(line), &l); err != nil {
						t.Fatal(err)
					}
					if l.Msg != "provider or tool failed" {
						continue
					}
					if l.Level != "WARN" || l.Conversation != conversation.ID() || l.Agent != "test" {
						t.Errorf("the line is %s", line)
					}
					got = append(got, fmt.Sprint(l.Kind, " ", l.Name, " ", l.Class, " ", l.Attempt, " ", time.Duration(l.Seconds*1e9).Round(100*time.Millisecond), " ", l.Retried))
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("the log has %q, expected %q", got, c.want)
				}
				for _, word := range []string{"secret", "hello", "sunny", "Here"} {
					if strings.Contains(log.String(), word) {
						t.Errorf("the log has %q", word)
					}
				}
				var replayed journal.Failures
				found := 0
				if _, err := journal.Replay(bytes.NewReader(slices.Concat(trace.Lines...)), func(_ journal.Line, ev conv.Event, m *conv.Conversation) {
					found += len(replayed.Step(m.State().Now, ev, m.Last(), m.State()))
				}); err != nil {
					t.Fatal(err)
				}
				want := len(c.want)
				if c.name == "a tool that tries again" {
					want = 0 // within the call
				}
				if found != want {
					t.Errorf("the replayed trace has %d failures, expected %d", found, want)
				}
			})
		})
	}
}
