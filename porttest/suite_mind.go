package porttest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/hocketvoice/hocket/port"
)

// TestModel is the conformance suite of port.Model. open must return a fresh model
// for each rule; it must answer the question with a text of at least two pieces.
func TestModel(t *testing.T, open func(*testing.T) port.Model) {
	question := port.Request{
		Instructions: "Answer in one short sentence.",
		Messages:     []port.Message{{Role: "user", Content: "Please say that the flight to Boston is booked."}},
	}
	t.Run("a reply comes in pieces", func(t *testing.T) {
		var text strings.Builder
		pieces, inside := 0, false
		err := open(t).Reply(t.Context(), question, func(d port.Delta) error {
			if inside {
				t.Error("emit was called concurrently")
			}
			inside = true
			defer func() { inside = false }()
			text.WriteString(d.Text)
			pieces++
			return nil
		})
		if err != nil || pieces < 2 || strings.TrimSpace(text.String()) == "" {
			t.Errorf("%q in %d pieces, error %v", text.String(), pieces, err)
		}
	})
	t.Run("the error of emit ends the reply and is returned", func(t *testing.T) {
		unwanted := errors.New("no longer wanted")
		calls := 0
		err := open(t).Reply(t.Context(), question, func(port.Delta) error { calls++; return unwanted })
		if !errors.Is(err, unwanted) || calls != 1 {
			t.Errorf("%d calls of emit, error %v", calls, err)
		}
	})
	t.Run("the end of the context ends the reply", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		calls := 0
		err := open(t).Reply(ctx, question, func(port.Delta) error { calls++; cancel(); return nil })
		if !errors.Is(err, context.Canceled) || calls > 2 {
			t.Errorf("%d calls of emit, error %v", calls, err)
		}
	})
	t.Run("replies do not know each other", func(t *testing.T) {
		m := open(t)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if err := m.Reply(t.Context(), question, func(port.Delta) error { return nil }); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
}

// TestTool is the conformance suite of port.Tool. call must be a call that
// succeeds.
func TestTool(t *testing.T, open func(*testing.T) port.Tool, call port.ToolCall) {
	t.Run("each tool is described, once", func(t *testing.T) {
		seen := map[string]bool{}
		for _, s := range open(t).Specs() {
			if s.Name == "" || seen[s.Name] {
				t.Errorf("name %q: must be set and unique", s.Name)
			}
			seen[s.Name] = true
			if len(s.Schema) > 0 && !json.Valid(s.Schema) {
				t.Errorf("the schema of %s is not valid JSON: %s", s.Name, s.Schema)
			}
		}
		if !seen[call.Name] {
			t.Errorf("%s is not among the tools", call.Name)
		}
	})
	t.Run("a call has a result, with and without an ear for its progress", func(t *testing.T) {
		for _, progress := range []func(string){nil, func(string) {}} {
			if _, err := open(t).Call(t.Context(), call, progress); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("a tool that does not exist is a failure with a class", func(t *testing.T) {
		_, err := open(t).Call(t.Context(), port.ToolCall{ID: "1", Name: "no such tool"}, nil)
		if f := (*port.Failure)(nil); !errors.As(err, &f) || f.Code == "" {
			t.Errorf("error %v", err)
		}
	})
	t.Run("an ended context ends a call", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := open(t).Call(ctx, call, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}
