package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/provider/openai/fake"
)

func TestKeepsThePortsRules(t *testing.T) {
	porttest.TestModel(t, func(t *testing.T) port.Model {
		return onLoopback(t, &fake.Server{Key: testKey})
	})
}

func TestTextComesInPieces(t *testing.T) {
	for _, piece := range []int{0, 1, 2, 7, 64} {
		a := fake.Text("It ", "is ", "booked. Grüße 👋")
		a.Piece = piece
		try(t, answers(a), nil, func(w *world) {
			text, calls, err := w.hear(w.t.Context(), question())
			if err != nil || text != "It is booked. Grüße 👋" || len(calls) != 0 {
				t.Errorf("piece %d: %q, calls %v, error %v", piece, text, calls, err)
			}
			if len(w.report) != 1 {
				w.t.Fatalf("%d reports", len(w.report))
			}
			r := w.report[0]
			want := Usage{Prompt: 20, Completion: 3, Cached: 10, Reasoning: 1}
			if r.Usage != want || !r.Counted || r.Finish != "stop" || r.Model != "fake-1" || r.RequestID != "req_fake" || r.Err != nil {
				t.Errorf("report %+v", r)
			}
			q := w.server.Requests()[0]
			if !q.Stream || q.StreamOptions == nil || !q.StreamOptions.IncludeUsage || q.Model != "fake-1" {
				t.Errorf("request %+v", q)
			}
		})
	}
}

// TestPiecesAreToldAtOnce checks that a piece is emitted when it arrives, not when the
// next one does.
func TestPiecesAreToldAtOnce(t *testing.T) {
	a := fake.Text("one ", "two ", "three")
	a.Gap = time.Second / 2
	try(t, answers(a), nil, func(w *world) {
		start := time.Now()
		var at []time.Duration
		err := w.model.Reply(w.t.Context(), question(), func(port.Delta) error {
			at = append(at, time.Since(start))
			return nil
		})
		if want := []time.Duration{time.Second / 2, time.Second, 3 * time.Second / 2}; err != nil || !slices.Equal(at, want) {
			t.Errorf("pieces at %v, expected %v, error %v", at, want, err)
		}
		if w.report[0].First != time.Second/2 || w.report[0].Total != 3*time.Second {
			t.Errorf("report %+v", w.report[0])
		}
	})
}

func TestConnectionIsUsedAgain(t *testing.T) {
	try(t, nil, nil, func(w *world) {
		for range 3 {
			if _, _, err := w.hear(w.t.Context(), question()); err != nil {
				w.t.Fatal(err)
			}
			synctest.Wait()
		}
		if n := w.net.Dials(); n != 1 {
			t.Errorf("%d connections for 3 requests, expected 1", n)
		}
	})
}

func TestCancelEndsTheRequestAtOnce(t *testing.T) {
	slow := fake.Text("one ", "two ", "three ")
	slow.Gap = time.Second
	mute := fake.Text("never")
	mute.First = time.Hour
	hung := fake.Text("one ")
	hung.NoDone, hung.Hang, hung.Events = true, true, hung.Events[:2]
	for name, a := range map[string]fake.Answer{"between pieces": slow, "before the first": mute, "in a hung stream": hung} {
		t.Run(name, func(t *testing.T) {
			try(t, answers(a), nil, func(w *world) {
				ctx, cancel := context.WithCancel(w.t.Context())
				start := time.Now()
				time.AfterFunc(1500*time.Millisecond, cancel)
				_, _, err := w.hear(ctx, question())
				if at := time.Since(start); !errors.Is(err, context.Canceled) || at != 1500*time.Millisecond {
					t.Errorf("returned at %v with %v, expected at 1.5s, canceled", at, err)
				}
				synctest.Wait() // no time passes
				if time.Since(start) != 1500*time.Millisecond || w.server.Left() != 1 {
					t.Errorf("the server has noticed %d ends after %v, expected 1 at 1.5s", w.server.Left(), time.Since(start))
				}
			})
		})
	}
	t.Run("within emit, nothing more is delivered", func(t *testing.T) {
		try(t, answers(fake.Text("one ", "two ", "three ")), nil, func(w *world) {
			ctx, cancel := context.WithCancel(w.t.Context())
			calls := 0
			err := w.model.Reply(ctx, question(), func(port.Delta) error { calls++; cancel(); return nil })
			if !errors.Is(err, context.Canceled) || calls != 1 {
				t.Errorf("%d pieces, error %v", calls, err)
			}
		})
	})
	t.Run("in the last piece, the calls are not delivered", func(t *testing.T) {
		a := fake.Stream(fake.Said("x"), fake.Call(0, "a", "f", "{}"), fake.Finish("tool_calls"))
		try(t, answers(a), nil, func(w *world) {
			ctx, cancel := context.WithCancel(w.t.Context())
			calls := 0
			err := w.model.Reply(ctx, question(), func(port.Delta) error { calls++; cancel(); return nil })
			if !errors.Is(err, context.Canceled) || calls != 1 {
				t.Errorf("%d pieces, error %v", calls, err)
			}
		})
	})
	t.Run("in an answer that is not streamed", func(t *testing.T) {
		a := fake.Answer{
			Header: map[string][]string{"Content-Type": {"application/json"}},
			Body:   `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`,
		}
		try(t, answers(a), nil, func(w *world) {
			ctx, cancel := context.WithCancel(w.t.Context())
			if err := w.model.Reply(ctx, question(), func(port.Delta) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		})
	})
	t.Run("in a call, the next is not delivered", func(t *testing.T) {
		a := fake.Stream(fake.Call(0, "a", "f", "{}"), fake.Call(1, "b", "f", "{}"), fake.Finish("tool_calls"))
		try(t, answers(a), nil, func(w *world) {
			ctx, cancel := context.WithCancel(w.t.Context())
			calls := 0
			err := w.model.Reply(ctx, question(), func(port.Delta) error { calls++; cancel(); return nil })
			if !errors.Is(err, context.Canceled) || calls != 1 {
				t.Errorf("%d calls, error %v", calls, err)
			}
		})
	})
	t.Run("before it begins", func(t *testing.T) {
		try(t, nil, nil, func(w *world) {
			ctx, cancel := context.WithCancel(w.t.Context())
			cancel()
			if _, _, err := w.hear(ctx, question()); !errors.Is(err, context.Canceled) || len(w.server.Requests()) != 0 {
				t.Errorf("error %v, %d requests", err, len(w.server.Requests()))
			}
		})
	})
	t.Run("a deadline is the caller's own", func(t *testing.T) {
		try(t, answers(mute), nil, func(w *world) {
			ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
			defer cancel()
			if _, _, err := w.hear(ctx, question()); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v", err)
			}
		})
	})
}

func TestTimeouts(t *testing.T) {
	limits := func(o *Options, _ *fake.Server) {
		o.FirstChunk, o.Stall = 3*time.Second, 2*time.Second
	}
	t.Run("the first event", func(t *testing.T) {
		a := fake.Text("late")
		a.First = time.Hour
		try(t, answers(a), limits, func(w *world) {
			d := took(func() { w.wantFailure(errclass.NetworkTimeout, "did not start to answer for 3s") })
			if d != 3*time.Second {
				t.Errorf("after %v, expected 3s", d)
			}
		})
	})
	t.Run("a stall keeps what came", func(t *testing.T) {
		a := fake.Text("one ", "two")
		a.Gap = time.Hour
		a.Piece = len("data: \n\n") + len(a.Events[0]) + len("data: \n\n") + len(a.Events[1]) // two events, then silence
		try(t, answers(a), limits, func(w *world) {
			var f port.Failure
			d := took(func() { f = w.failure(errclass.NetworkTimeout, "stalled during its answer for 2s") })
			if d != 2*time.Second || f.Partial != "one " || !f.Retryable {
				t.Errorf("after %v, failure %+v", d, f)
			}
		})
	})
	t.Run("a comment is not a piece", func(t *testing.T) {
		a := fake.Answer{Raw: strings.Repeat(": still here\n\n", 100), Piece: 14, Gap: time.Second}
		try(t, answers(a), limits, func(w *world) {
			d := took(func() { w.wantFailure(errclass.NetworkTimeout, "did not start to answer") })
			if d != 3*time.Second {
				t.Errorf("after %v, expected 3s", d)
			}
		})
	})
	t.Run("the time of emit does not count", func(t *testing.T) {
		try(t, answers(fake.Text("one ", "two ", "three ")), limits, func(w *world) {
			n := 0
			err := w.model.Reply(w.t.Context(), question(), func(port.Delta) error {
				n++
				<-time.After(time.Minute)
				return nil
			})
			if n != 3 || err != nil {
				t.Errorf("%d pieces, error %v", n, err)
			}
		})
	})
	t.Run("the connection", func(t *testing.T) {
		try(t, nil, limits, func(w *world) {
			never := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
			w.reach.Store(&never)
			w.wantFailure(errclass.NetworkTimeout, "did not start to answer")
			synctest.Wait()
			nowhere := func(context.Context) error { return errors.New("no route to host") }
			w.reach.Store(&nowhere)
			if f := w.failure(errclass.NetworkTimeout, "no route to host"); !f.Retryable {
				t.Error("not retryable")
			}
		})
	})
	t.Run("a stream that stays open behind its end", func(t *testing.T) {
		a := fake.Text("all")
		a.Hang = true
		try(t, answers(a), limits, func(w *world) {
			d := took(func() {
				if text, _, err := w.hear(w.t.Context(), question()); text != "all" || err != nil {
					t.Errorf("%q, error %v", text, err)
				}
			})
			if d != 50*time.Millisecond {
				t.Errorf("after %v, expected 50ms", d)
			}
		})
	})
	t.Run("a reason of the end and nothing after it", func(t *testing.T) {
		a := fake.Stream(fake.Said("all"), fake.Call(0, "a", "f", "{}"), fake.Finish("tool_calls"))
		a.Hang, a.NoDone = true, true
		try(t, answers(a), limits, func(w *world) {
			d := took(func() {
				text, calls, err := w.hear(w.t.Context(), question())
				if text != "all" || len(calls) != 1 || err != nil {
					t.Errorf("%q, calls %v, error %v", text, calls, err)
				}
			})
			if d > 1050*time.Millisecond {
				t.Errorf("after %v, expected 1s", d)
			}
		})
	})
}

func TestCalls(t *testing.T) {
	whole := func(list ...string) []port.ToolCall {
		var calls []port.ToolCall
		for i := 0; i < len(list); i += 3 {
			calls = append(calls, port.ToolCall{ID: list[i], Name: list[i+1], Arguments: list[i+2]})
		}
		return calls
	}
	for _, test := range []struct {
		name   string
		events []string
		want   []port.ToolCall // an empty ID is replaced by the client
	}{
		{"in pieces", []string{
			fake.Call(0, "call_a", "book", ""), fake.Call(0, "", "", `{"to":`), fake.Call(0, "", "", `"Boston"}`),
		}, whole("call_a", "book", `{"to":"Boston"}`)},
		{"two, interleaved", []string{
			fake.Call(0, "a", "book", ""), fake.Call(1, "b", "seat", `{"row"`), fake.Call(0, "", "", `{}`), fake.Call(1, "", "", `:3}`),
		}, whole("a", "book", "{}", "b", "seat", `{"row":3}`)},
		{"whole, as Ollama sends them", []string{
			fake.Call(0, "call_1", "book", `{"to":"Boston"}`), fake.Call(1, "call_2", "book", `{"to":"Denver"}`),
		}, whole("call_1", "book", `{"to":"Boston"}`, "call_2", "book", `{"to":"Denver"}`)},
		{"the index is always 0, the ids differ", []string{
			fake.Call(0, "a", "book", `{"to":"Boston"}`), fake.Call(0, "b", "book", `{"to":`), fake.Call(0, "", "", `"Denver"}`),
		}, whole("a", "book", `{"to":"Boston"}`, "b", "book", `{"to":"Denver"}`)},
		{"the index is always 0, and there are no ids", []string{
			fake.Call(0, "", "book", `{"to":"Boston"}`), fake.Call(0, "", "book", `{"to":"Denver"}`), fake.Call(0, "", "seat", ""),
		}, whole("", "book", `{"to":"Boston"}`, "", "book", `{"to":"Denver"}`, "", "seat", "{}")},
		{"no index", []string{
			fake.Call(-1, "a", "book", `{"to":`), fake.Call(-1, "", "", `"Boston"}`), fake.Call(-1, "b", "seat", `{}`),
		}, whole("a", "book", `{"to":"Boston"}`, "b", "seat", "{}")},
		{"no index, interleaved", []string{
			fake.Call(-1, "a", "book", `{"to":`), fake.Call(-1, "b", "seat", `{`), fake.Call(-1, "a", "", `"Boston"}`), fake.Call(-1, "b", "", `}`),
		}, whole("a", "book", `{"to":"Boston"}`, "b", "seat", "{}")},
		{"neither index nor id", []string{
			fake.Call(-1, "", "book", `{"to":`), fake.Call(-1, "", "", `"Boston"}`), fake.Call(-1, "", "seat", `{}`),
		}, whole("", "book", `{"to":"Boston"}`, "", "seat", "{}")},
		{"id and name in every piece", []string{
			fake.Call(0, "a", "book", `{"to":`), fake.Call(0, "a", "book", `"Boston"}`),
		}, whole("a", "book", `{"to":"Boston"}`)},
		{"the name in every piece", []string{
			fake.Call(0, "", "book", `{"to":`), fake.Call(0, "", "book", `"Boston"}`),
		}, whole("", "book", `{"to":"Boston"}`)},
		{"the same id twice", []string{
			fake.Call(0, "a", "book", `{}`), fake.Call(1, "a", "seat", `{}`),
		}, whole("a", "book", "{}", "", "seat", "{}")},
		{"an id that the conversation knows", []string{fake.Call(0, "known", "book", `{}`)}, whole("", "book", "{}")},
		{"no arguments", []string{fake.Call(0, "a", "now", "")}, whole("a", "now", "{}")},
		{"arguments that are not JSON stay", []string{fake.Call(0, "a", "now", `{"x":`)}, whole("a", "now", `{"x":`)},
		{"an object in place of a text", []string{
			`{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"book","arguments":{"to":"Boston"}}}]}}]}`,
		}, whole("a", "book", `{"to":"Boston"}`)},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := fake.Stream(append(append([]string{fake.Said("Moment. ")}, test.events...), fake.Finish("tool_calls"), fake.Used(1, 2))...)
			try(t, answers(a), nil, func(w *world) {
				r := question()
				r.Messages = append(r.Messages, port.Message{Role: "tool", CallID: "known", Name: "book", Content: "done"})
				text, calls, err := w.hear(w.t.Context(), r)
				if err != nil || text != "Moment. " || len(calls) != len(test.want) {
					w.t.Fatalf("%q, calls %v, error %v, expected %v", text, calls, err, test.want)
				}
				ids := map[string]bool{"known": true}
				for i, c := range calls {
					want := test.want[i]
					if want.ID == "" {
						if ids[c.ID] || len(c.ID) != 9 {
							t.Errorf("id %q of call %d, expected a new one of 9", c.ID, i)
						}
						want.ID = c.ID
					}
					ids[c.ID] = true
					if c != want {
						t.Errorf("call %+v, expected %+v", c, want)
					}
				}
				if w.report[0].Calls != len(test.want) {
					t.Errorf("report %+v", w.report[0])
				}
			})
		})
	}
	for name, events := range map[string][]string{
		"a piece of nothing": {fake.Call(0, "", "", `{}`)},
		"no name":            {fake.Call(0, "a", "", `{}`)},
		"bad arguments":      {`{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"book","arguments":[1]}}]}}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			try(t, answers(fake.Stream(events...)), nil, func(w *world) { w.wantFailure(errclass.ServerError) })
		})
	}
	t.Run("too many", func(t *testing.T) {
		var events []string
		for i := range 64 + 1 {
			events = append(events, fake.Call(i, fmt.Sprint("id", i), "f", "{}"))
		}
		try(t, answers(fake.Stream(events...)), nil, func(w *world) { w.wantFailure(errclass.ServerError, "64") })
	})
	t.Run("the error of emit at a call", func(t *testing.T) {
		unwanted := errors.New("no longer wanted")
		a := fake.Stream(fake.Call(0, "a", "f", "{}"), fake.Call(1, "b", "f", "{}"))
		try(t, answers(a), nil, func(w *world) {
			n := 0
			err := w.model.Reply(w.t.Context(), question(), func(port.Delta) error { n++; return unwanted })
			if !errors.Is(err, unwanted) || n != 1 {
				t.Errorf("%d calls of emit, error %v", n, err)
			}
		})
	})
}

func TestVariantsOfServers(t *testing.T) {
	azure := fake.Text("It is ", "booked.")
	azure.Events = append([]string{`{"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{"hate":{"filtered":false}}}]}`}, azure.Events...)
	azure.Events = append(azure.Events, `{"choices":[{"content_filter_offsets":{"start_offset":1},"content_filter_results":{},"delta":{},"finish_reason":null,"index":0}],"id":"","model":"","object":""}`)
	null := fake.Stream(
		`{"choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":null},"finish_reason":null}],"usage":null}`,
		fake.Event(map[string]any{"reasoning": "hm", "reasoning_content": "hm", "content": ""}, ""),
		fake.Said("It is booked."), fake.Finish("stop"))
	crlf := fake.Answer{Raw: "\ufeff: hello\r\n\r\nevent: message\r\nid: 1\r\ndata: " + fake.Said("It is booked.") + "\r\n\r\ndata:[DONE]\r\n\r\n"}
	lines := fake.Answer{Raw: "data: {\"choices\":[{\"delta\":\ndata: {\"content\":\"It is booked.\"}}]}\n\ndata: [DONE]\n\n"}
	noDone := fake.Text("It is booked.")
	noDone.NoDone = true
	unended := fake.Answer{Raw: "data: " + fake.Event(map[string]any{"content": "It is booked."}, "stop") + "\n\ndata: [DONE]"}
	others := fake.Stream(`{"choices":[{"index":1,"delta":{"content":"no"}},{"index":0,"delta":{"content":"It is booked."}}]}`)
	json := map[string][]string{"Content-Type": {"application/json"}}
	unstreamed := fake.Answer{Header: json, Body: `{"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"It is booked."},"finish_reason":"stop"}],"usage":{"prompt_tokens":3}}`}
	for name, a := range map[string]fake.Answer{
		"Azure's annotations": azure, "null and reasoning": null, "CRLF, BOM, comment": crlf, "data of two lines": lines,
		"no mark of the end": noDone, "a mark without a line end": unended, "two choices": others, "no stream": unstreamed,
	} {
		t.Run(name, func(t *testing.T) {
			try(t, answers(a), nil, func(w *world) {
				if text, _, err := w.hear(w.t.Context(), question()); text != "It is booked." || err != nil {
					t.Errorf("%q, error %v", text, err)
				}
			})
		})
	}
}

func TestReasonsOfTheEnd(t *testing.T) {
	said := fake.Said("It is bo")
	call := fake.Call(0, "a", "book", `{"to":"Bos`)
	for _, test := range []struct {
		name   string
		events []string
		class  string // empty if the answer is a reply
	}{
		{"stop", []string{said, fake.Finish("stop")}, ""},
		{"nothing", []string{fake.Finish("stop")}, ""},
		{"an unknown one", []string{said, fake.Finish("eos")}, ""},
		{"length, text", []string{said, fake.Finish("length")}, ""},
		{"length, no text", []string{fake.Finish("length")}, errclass.Unknown},
		{"length, a call", []string{said, call, fake.Finish("length")}, errclass.InvalidArgs},
		{"content filter", []string{said, fake.Finish("content_filter")}, errclass.Unknown},
		{"abort", []string{said, fake.Finish("abort")}, errclass.ServerError},
	} {
		t.Run(test.name, func(t *testing.T) {
			try(t, answers(fake.Stream(test.events...)), nil, func(w *world) {
				text, calls, err := w.hear(w.t.Context(), question())
				if len(calls) > 0 {
					t.Errorf("calls %v", calls)
				}
				if test.class == "" {
					if err != nil {
						t.Error(err)
					}
					return
				}
				if f := wantFailure(t, err, test.class); f.Partial != text {
					t.Errorf("partial %q, expected %q", f.Partial, text)
				}
				if r := w.report[0]; !errors.Is(r.Err, err) {
					t.Errorf("report %+v", r)
				}
			})
		})
	}
}

func TestReplyJSON(t *testing.T) {
	schema := []byte(`{"type":"object","properties":{"to":{"type":"string"}},"required":["to"],"additionalProperties":false}`)
	form := port.Form{Name: "flight", Description: "where to", Schema: schema, Strict: true}
	ask := func(w *world, f port.Form) ([]byte, error) { return w.model.ReplyJSON(w.t.Context(), question(), f) }
	try(t, answers(fake.Text(`{"to":`, ` "Boston"}`, "\n")), nil, func(w *world) {
		got, err := ask(w, form)
		if err != nil || string(got) != `{"to": "Boston"}` {
			t.Errorf("%s, error %v", got, err)
		}
		f := w.server.Requests()[0].ResponseFormat
		if f == nil || f.Type != "json_schema" || f.JSONSchema.Name != "flight" || !f.JSONSchema.Strict || f.JSONSchema.Description != "where to" {
			w.t.Fatalf("response_format %+v", f)
		}
		var a, b any
		if json.Unmarshal(f.JSONSchema.Schema, &a) != nil || json.Unmarshal(schema, &b) != nil || fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("schema %s", f.JSONSchema.Schema)
		}
	})
	try(t, answers(fake.Text("I'd say Boston")), nil, func(w *world) {
		_, err := ask(w, form)
		if f := wantFailure(t, err, errclass.Unknown, "not valid JSON", `"stop"`); f.Partial != "I'd say Boston" {
			t.Errorf("partial %q", f.Partial)
		}
		_, err = ask(w, port.Form{Name: "a b", Schema: schema})
		wantFailure(t, err, errclass.Unknown, "invalid form name")
		_, err = ask(w, port.Form{Schema: []byte(`[]`)})
		wantFailure(t, err, errclass.Unknown, `"answer" is not a JSON object`)
	})
	refusal := fake.Stream(fake.Event(map[string]any{"refusal": "I cannot."}, ""), fake.Finish("stop"))
	try(t, answers(refusal), nil, func(w *world) {
		_, err := ask(w, form)
		wantFailure(t, err, errclass.Unknown, "refused")
		if text, _, err := w.hear(w.t.Context(), question()); text != "I cannot." || err != nil {
			t.Errorf("a refusal is a reply: %q, error %v", text, err)
		}
	})
	try(t, answers(fake.Failure(500, "server_error", "boom")), nil, func(w *world) {
		_, err := ask(w, form)
		wantFailure(t, err, errclass.ServerError, "boom")
	})
}

func TestManyAtOnce(t *testing.T) {
	a := func(q fake.Request) fake.Answer {
		a := fake.Text(strings.SplitAfter(q.Messages[len(q.Messages)-1].Text(), " ")...)
		a.Gap, a.Piece = time.Millisecond, 50
		return a
	}
	try(t, a, nil, func(w *world) {
		w.quiet = true
		type result struct{ got, want string }
		results := make(chan result)
		for i := range 50 {
			go func() {
				want := fmt.Sprint("Tell me about flight ", i, ", please.")
				got, _, err := w.hear(w.t.Context(), port.Request{Messages: []port.Message{{Role: "user", Content: want}}})
				if err != nil {
					got = err.Error()
				}
				results <- result{got, want}
			}()
		}
		for range 50 {
			if r := <-results; r.got != r.want {
				t.Errorf("%q, expected %q", r.got, r.want)
			}
		}
	})
}
