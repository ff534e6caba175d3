package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

func message(what string, n int) Message {
	return Message{Type: what, Payload: json.RawMessage(fmt.Sprint(n))}
}

// TestFeedAsAModel compares streams with the list of all published messages: each
// message is received once and in order or is within a gap, and no message is
// dropped that fits the feed.
func TestFeedAsAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bound := rapid.IntRange(1, 9).Draw(t, "bound")
		f := newFeed(bound, bound)
		f.whole = rapid.Bool().Draw(t, "whole")
		var all []Message
		type reader struct {
			s     *Stream
			at    uint64 // the next that it may see
			atSub uint64 // and the next step
			steps bool
		}
		var readers []*reader
		for range rapid.IntRange(1, 60).Draw(t, "operations") {
			switch op := rapid.IntRange(0, 9).Draw(t, "op"); {
			case op < 5:
				what := TypeTurn
				if rapid.Bool().Draw(t, "step") {
					what = TypeStep
				}
				m := message(what, len(all))
				f.publish(m)
				m.Seq = uint64(len(all) + 1)
				all = append(all, m)
			case op < 6:
				o := StreamOptions{From: rapid.Uint64Range(0, uint64(len(all)+1)).Draw(t, "from"), Steps: rapid.Bool().Draw(t, "steps")}
				s, err := f.stream(o, 100)
				if err != nil {
					t.Fatal(err)
				}
				at := o.From
				switch {
				case at == 0 && f.whole && len(readers) == 0: // the first misses nothing
					at = 1
				case at == 0:
					at = uint64(len(all) + 1)
				}
				readers = append(readers, &reader{s, at, at, o.Steps})
			case len(readers) > 0:
				r := readers[rapid.IntRange(0, len(readers)-1).Draw(t, "reader")]
				m, wait, err := r.s.take()
				if err != nil {
					t.Fatal(err)
				}
				// The messages that the reader has not seen, by kind.
				var events, steps []Message
				for _, p := range all {
					switch {
					case p.Type == TypeStep && r.steps && p.Seq >= r.atSub:
						steps = append(steps, p)
					case p.Type != TypeStep && p.Seq >= r.at:
						events = append(events, p)
					}
				}
				switch {
				case wait != nil:
					if len(events)+len(steps) > 0 {
						t.Fatalf("it waits, and %d messages are there", len(events)+len(steps))
					}
				case m.Type == TypeGap:
					var gap Gap
					if err := json.Unmarshal(m.Payload, &gap); err != nil {
						t.Fatal(err)
					}
					kind, at := events, &r.at
					if gap.Steps {
						kind, at = steps, &r.atSub
					}
					if gap.From != *at || len(kind) <= bound-max(1, bound/4) {
						t.Fatalf("gap %+v at %d, with %d messages to read and room for %d", gap, *at, len(kind), bound)
					}
					*at = gap.To + 1
				default:
					next := events
					at := &r.at
					if m.Type == TypeStep {
						next, at = steps, &r.atSub
					}
					if len(next) == 0 || next[0].Seq != m.Seq || !bytes.Equal(next[0].Payload, m.Payload) {
						t.Fatalf("it reads %+v, of %+v", m, next)
					}
					*at = m.Seq + 1
				}
			}
		}
	})
}

// TestFeedWakes checks that a waiting reader is woken by a message and by the end,
// and that ctx ends only the wait.
func TestFeedWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed(4, 4)
		s, err := f.stream(StreamOptions{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.stream(StreamOptions{}, 1); !errors.Is(err, ErrStreams) {
			t.Errorf("a second stream: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Next(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled wait: %v", err)
		}
		got := make(chan error)
		go func() {
			m, err := s.Next(t.Context())
			if err == nil && m.Seq != 1 {
				err = fmt.Errorf("message %d", m.Seq)
			}
			got <- err
			_, err = s.Next(t.Context())
			got <- err
		}()
		synctest.Wait()
		f.publish(message(TypeTurn, 1))
		if err := <-got; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		f.end()
		if err := <-got; !errors.Is(err, io.EOF) {
			t.Errorf("the end is %v", err)
		}
		left := 0
		f.streamed = func() { left++ }
		s.Close()
		s.Close()
		if left != 1 || f.watched() != 0 {
			t.Errorf("left %d times, %d streams", left, f.watched())
		}
		f.publish(message(TypeTurn, 2)) // ignored
	})
}

func TestTraceLog(t *testing.T) {
	var each []string
	l := &traceLog{bound: 20, each: func(b []byte) { each = append(each, string(b)) }}
	for _, piece := range []string{"hea", "der\n", "one\ntw", "o\n", "three\nfour\n"} {
		if n, err := l.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Fatal(n, err)
		}
	}
	got := l.trace()
	if s := string(bytes.Join(got.Lines, nil)); s != "header\none\ntwo\n" || !got.Cut {
		t.Errorf("it keeps %q, cut %v", s, got.Cut)
	}
	if fmt.Sprint(each) != "[one\n two\n three\n four\n]" {
		t.Errorf("it told %q", each)
	}
}
