package telnyx

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/carrier"
	"github.com/hocketvoice/hocket/internal/carrier/fake"
	"github.com/hocketvoice/hocket/internal/nettest"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	public = "https://voice.test/phone/telnyx"
	caller = "+15551234567"
	called = "+15557654321"

	// pause is the time before the first retry of a command, attemptLimit the limit of an attempt.
	pause        = 250 * time.Millisecond
	attemptLimit = 5 * time.Second
)

// house is a server and the account whose calls it answers, in virtual time.
type house struct {
	t      *testing.T
	s      *Server
	f      *fake.Telnyx
	client *http.Client // reaches the server
	calls  chan Incoming
	legs   chan Leg
	ended  chan Hangup
	failed chan error
}

// inHouse runs a test in a bubble.
func inHouse(t *testing.T, o Options, fo fake.TelnyxOptions, test func(*testing.T, *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &house{
			t: t, calls: make(chan Incoming, 100), legs: make(chan Leg, 100), ended: make(chan Hangup, 100), failed: make(chan error, 100),
		}
		server := nettest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.s.ServeHTTP(w, r) }))
		h.client = &http.Client{Transport: server.Transport()}
		fo.Key, fo.Webhook, fo.Client = "KEY-sesame", public+"/voice", h.client
		h.f = fake.NewTelnyx(fo)
		o.Key, o.PublicKey, o.URL, o.API = "KEY-sesame", h.f.PublicKey(), public, "http://api.test/v2"
		o.Client = &http.Client{Transport: nettest.Serve(t, h.f).Transport()}
		if o.Start == nil {
			o.Start = func(_ context.Context, c Incoming, leg Leg) error {
				h.calls <- c
				h.legs <- leg
				return nil
			}
		}
		o.Ended = func(_ Incoming, e Hangup) { h.ended <- e }
		o.Failed = func(err error) {
			if strings.Contains(err.Error(), "555") || strings.Contains(err.Error(), "sesame") {
				t.Errorf("the error has a number or a key: %v", err)
			}
			h.failed <- err
		}
		var err error
		if h.s, err = New(o); err != nil {
			t.Fatal(err)
		}
		test(t, h)
		if err := h.s.Close(); err != nil {
			t.Error(err)
		}
		if err := h.f.Close(); err != nil {
			t.Error(err)
		}
	})
}

// settle lets a time pass in which everything happens that can.
func settle(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// over waits for the end of a call or a stream.
func over(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(5 * time.Minute):
		t.Fatal("waited in vain for the end")
	}
}

// none checks that nothing failed.
func (h *house) none() {
	h.t.Helper()
	for len(h.failed) > 0 {
		h.t.Errorf("failed: %v", <-h.failed)
	}
}

// wantFailure checks that one call failed, and how. An empty class is not checked.
func (h *house) wantFailure(want, class string) {
	h.t.Helper()
	if len(h.failed) != 1 {
		h.t.Errorf("%d failures, expected one: %s", len(h.failed), want)
		h.none()
		return
	}
	err := <-h.failed
	if !strings.Contains(err.Error(), want) {
		h.t.Errorf("failed: %v, expected %q", err, want)
	}
	if f, ok := errors.AsType[*port.Failure](err); class != "" && (!ok || f.Code != class) {
		h.t.Errorf("the failure is %+v, expected the class %s", f, class)
	}
}

// talk returns a call whose conversation has begun.
func (h *house) talk() (*fake.TelnyxCall, *fake.Call, Leg) {
	h.t.Helper()
	c := h.f.Ring(caller, called)
	s, err := c.Stream(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	return c, s, <-h.legs
}

func wantActions(t *testing.T, c *fake.TelnyxCall, want ...string) {
	t.Helper()
	if got := c.Actions(); !slices.Equal(got, want) {
		t.Errorf("the commands are %q, expected %q", got, want)
	}
}

func wantOver(t *testing.T, c *fake.TelnyxCall, cause, source string) {
	t.Helper()
	if gotCause, gotSource := c.Cause(); gotCause != cause || gotSource != source {
		t.Errorf("the call is over with %q of %q, expected %q of %q", gotCause, gotSource, cause, source)
	}
}

// loud returns a frame of sound.
func loud(l Leg) audio.Frame {
	f := audio.Frame{Rate: l.Rate(), PCM: make([]int16, audio.FrameSamples(l.Rate()))}
	for i := range f.PCM {
		f.PCM[i] = int16(8000 * (i%20 - 10) / 10)
	}
	return f
}

func isLoud(v int16) bool { return v > 2000 }

// say writes frames at the pace of the clock.
func say(t *testing.T, l Leg, f audio.Frame, frames int) {
	t.Helper()
	clock := time.NewTicker(audio.FrameDuration)
	defer clock.Stop()
	for range frames {
		if err := l.Write(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		<-clock.C
	}
}

// TestCall holds a call in each format, also where the telephone's is another: what the caller says
// and presses arrives, the caller hears what is written, and closing the leg hangs up.
func TestCall(t *testing.T) {
	for _, tc := range []struct{ codec, phone string }{
		{"", ""},
		{"PCMU", "PCMA"},
		{"PCMA", "PCMA"},
		{"G722", "G722"},
		{"G722", "PCMU"},
		{"L16", "L16"},
	} {
		t.Run(tc.codec+" over "+tc.phone, func(t *testing.T) {
			inHouse(t, Options{Codec: tc.codec}, fake.TelnyxOptions{Encoding: tc.phone, Shuffle: true}, func(t *testing.T, h *house) {
				c, s, leg := h.talk()
				in := <-h.calls
				if want := (Incoming{Call: c.ID(), Session: "session-" + c.ID(), Connection: "1494404757140276705", From: caller, To: called}); in != want {
					t.Errorf("the call is %+v, expected %+v", in, want)
				}
				s.Say(bytesOf(2000))
				for heard := false; !heard; {
					f, err := leg.Read(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					heard = audio.RMS(f.PCM) > 0.02
				}
				s.Press("4#")
				for _, want := range []byte("4#") {
					if key, err := leg.ReadKey(t.Context()); err != nil || key != want {
						t.Errorf("the key is %c, error %v, expected %c", key, err, want)
					}
				}
				say(t, leg, loud(leg), 20)
				settle(time.Second)
				if !slices.ContainsFunc(s.Played(), isLoud) {
					t.Error("the caller hears nothing")
				}
				// A call on which nothing is said goes on.
				settle(10 * time.Second)
				if len(h.ended) > 0 {
					t.Fatalf("the call is over: %+v", <-h.ended)
				}
				if err := leg.Close(); err != nil {
					t.Error(err)
				}
				over(t, c.Over())
				settle(time.Second)
				wantActions(t, c, "answer", "streaming_start", "hangup")
				wantOver(t, c, "normal_clearing", "callee")
				if e := <-h.ended; e != (Hangup{Cause: "normal_clearing", Source: "callee"}) {
					t.Errorf("ended: %+v", e)
				}
				h.none()
			})
		})
	}
}

// bytesOf returns so many samples of sound.
func bytesOf(n int) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = int16(8000 * (i%20 - 10) / 10)
	}
	return pcm
}

// TestHeardIsPlayed interrupts the agent at every tenth of a second: what counts as heard is at
// most what the carrier has played, and at most 200 ms less; the rest is never played.
func TestHeardIsPlayed(t *testing.T) {
	inHouse(t, Options{}, fake.TelnyxOptions{Encoding: "PCMA"}, func(t *testing.T, h *house) {
		_, s, leg := h.talk()
		for frames := 5; frames <= 50; frames += 5 {
			written, before := leg.Played(), count(s)
			say(t, leg, loud(leg), frames)
			for range 25 { // a burst that waits in the carrier's buffer
				if err := leg.Write(t.Context(), loud(leg)); err != nil {
					t.Fatal(err)
				}
			}
			settle(audio.FrameDuration / 2)
			counted, played := leg.Played()-written, count(s)-before
			if err := leg.Clear(t.Context()); err != nil {
				t.Fatal(err)
			}
			settle(time.Second)
			after := count(s) - before
			if counted > played || played-counted > audio.Pos(leg.Rate()/5) {
				t.Errorf("after %d frames %d samples count as heard, %d were played", frames, counted, played)
			}
			if after > played+audio.Pos(audio.FrameSamples(leg.Rate())) {
				t.Errorf("after %d frames %d samples were played, %d when the agent was stopped", frames, after, played)
			}
			// The marks that come back with the clear report nothing more.
			if got, want := leg.Played()-written, audio.Pos(frames+25)*160; got != want {
				t.Errorf("after the clear Played has grown by %d, expected %d, all that was written or dropped", got, want)
			}
		}
		if s.Clears() != 10 {
			t.Errorf("%d clears, expected 10", s.Clears())
		}
	})
}

// count returns how many samples were played that are not silent.
func count(s *fake.Call) (n audio.Pos) {
	for _, v := range s.Played() {
		if v > 100 || v < -100 {
			n++
		}
	}
	return n * 20 / 19 // one sample of loud in 20 is silent
}

// TestCallerHangsUp checks that nothing is sent for a call that its caller has ended, at every
// moment of it.
func TestCallerHangsUp(t *testing.T) {
	for _, tc := range []struct {
		after   time.Duration
		event   fake.Delivery // of call.initiated
		actions []string
	}{
		{0, fake.Delivery{Late: 3 * time.Second}, nil},                // the hang-up is told first
		{500 * time.Millisecond, fake.Delivery{}, []string{"answer"}}, // call.answered comes later
		{1500 * time.Millisecond, fake.Delivery{}, []string{"answer", "streaming_start"}},
		{5 * time.Second, fake.Delivery{Again: 2}, []string{"answer", "streaming_start"}},
	} {
		t.Run(fmt.Sprint(tc.after), func(t *testing.T) {
			deliver := func(kind string) fake.Delivery {
				switch kind {
				case "call.initiated":
					return tc.event
				case "call.answered":
					return fake.Delivery{Late: time.Second}
				default:
					return fake.Delivery{Again: 1}
				}
			}
			inHouse(t, Options{}, fake.TelnyxOptions{Deliver: deliver}, func(t *testing.T, h *house) {
				c := h.f.Ring(caller, called)
				settle(tc.after)
				c.HangUp()
				settle(time.Minute)
				wantActions(t, c, tc.actions...)
				wantOver(t, c, "normal_clearing", "caller")
				h.none()
				if want := min(1, len(tc.actions)); len(h.ended) != want {
					t.Errorf("the end was told %d times, expected %d", len(h.ended), want)
				}
				if len(h.legs) > 0 {
					leg := <-h.legs
					for {
						if _, err := leg.Read(t.Context()); err != nil {
							if !errors.Is(err, io.EOF) {
								t.Errorf("Read returned %v, expected io.EOF", err)
							}
							break
						}
					}
					if err := leg.Close(); err != nil {
						t.Error(err)
					}
				}
				settle(time.Minute)
				wantActions(t, c, tc.actions...)
				if h.f.Attempts("hangup") > 0 || h.f.Attempts("answer") != min(1, len(tc.actions)) {
					t.Errorf("commands were sent for a call that was over")
				}
			})
		})
	}
}

// TestDisorder checks that webhooks that are repeated and late change nothing.
func TestDisorder(t *testing.T) {
	deliver := func(kind string) fake.Delivery {
		return fake.Delivery{Again: 3, Late: map[string]time.Duration{"call.answered": 3 * time.Second, "streaming.started": 5 * time.Second}[kind]}
	}
	inHouse(t, Options{}, fake.TelnyxOptions{Deliver: deliver}, func(t *testing.T, h *house) {
		c, s, leg := h.talk()
		say(t, leg, loud(leg), 500)
		if !slices.ContainsFunc(s.Played(), isLoud) {
			t.Error("the caller hears nothing")
		}
		if err := leg.Close(); err != nil {
			t.Error(err)
		}
		settle(20 * time.Minute) // until the call is forgotten
		other, _, second := h.talk()
		if err := second.Close(); err != nil {
			t.Error(err)
		}
		settle(time.Minute)
		wantActions(t, c, "answer", "streaming_start", "hangup")
		wantActions(t, other, "answer", "streaming_start", "hangup")
		if len(h.ended) != 2 || len(h.legs) != 0 {
			t.Errorf("%d ends, %d more legs", len(h.ended), len(h.legs))
		}
		h.none()
		h.s.mu.Lock()
		defer h.s.mu.Unlock()
		if len(h.s.calls) != 1 || len(h.s.seen.order) > 10 {
			t.Errorf("%d calls and %d webhooks are remembered", len(h.s.calls), len(h.s.seen.order))
		}
	})
}

// TestManyCalls holds calls at once: each caller hears its own agent.
func TestManyCalls(t *testing.T) {
	const n = 30
	started := make(map[string]Leg)
	var mu sync.Mutex
	start := func(_ context.Context, c Incoming, leg Leg) error {
		mu.Lock()
		defer mu.Unlock()
		started[c.Call] = leg
		return nil
	}
	inHouse(t, Options{Start: start}, fake.TelnyxOptions{Deliver: func(string) fake.Delivery { return fake.Delivery{Again: 1} }}, func(t *testing.T, h *house) {
		var calls []*fake.TelnyxCall
		for range n {
			calls = append(calls, h.f.Ring(caller, called))
		}
		settle(5 * time.Second)
		for i, c := range calls {
			s, err := c.Stream(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			leg, level := started[c.ID()], 500*math.Pow(1.1, float64(i)) // G.711 is exact to 3 %
			if leg == nil {
				t.Fatalf("call %d has no conversation", i)
			}
			f := audio.Frame{Rate: 8000, PCM: slices.Repeat([]int16{int16(level)}, 160)}
			if err := leg.Write(t.Context(), f); err != nil {
				t.Fatal(err)
			}
			settle(time.Second)
			if got := float64(slices.Max(s.Played())); math.Abs(got-level) > 0.045*level {
				t.Errorf("caller %d hears %g, expected %g", i, got, level)
			}
			if err := leg.Close(); err != nil {
				t.Error(err)
			}
		}
		settle(10 * time.Second)
		for _, c := range calls {
			wantActions(t, c, "answer", "streaming_start", "hangup")
		}
		if len(started) != n || len(h.ended) != n {
			t.Errorf("%d conversations, %d ends, expected %d", len(started), len(h.ended), n)
		}
		h.none()
	})
}

// post sends a webhook and returns the status.
func (h *house) post(body []byte, header http.Header) int {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, public+"/voice", bytes.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header = header
	resp, err := h.client.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// TestWebhooksRefused checks that forged and stale webhooks are refused without a trace, and that
// one that is sent again by somebody else does nothing.
func TestWebhooksRefused(t *testing.T) {
	inHouse(t, Options{}, fake.TelnyxOptions{}, func(t *testing.T, h *house) {
		c := h.f.Ring(caller, called)
		settle(time.Second)
		other := fake.NewTelnyx(fake.TelnyxOptions{Key: "another"})
		body := c.Event("call.initiated", nil, 1, "an-id")
		now := time.Now()
		without := func(name string) http.Header {
			header := h.f.Sign(body, now)
			header.Del(name)
			return header
		}
		with := func(name, value string) http.Header {
			header := h.f.Sign(body, now)
			header.Set(name, value)
			return header
		}
		for name, tc := range map[string]struct {
			body   []byte
			header http.Header
			want   int
		}{
			"another account's":    {body, other.Sign(body, now), 403},
			"another body's":       {append(bytes.Clone(body), ' '), h.f.Sign(body, now), 403},
			"another time's":       {body, with("Telnyx-Timestamp", fmt.Sprint(now.Unix()-1)), 403},
			"no time":              {body, without("Telnyx-Timestamp"), 403},
			"no signature":         {body, without("Telnyx-Signature-Ed25519"), 403},
			"half a signature":     {body, with("Telnyx-Signature-Ed25519", base64.StdEncoding.EncodeToString(make([]byte, 32))), 403},
			"not base64":           {body, with("Telnyx-Signature-Ed25519", "%"), 403},
			"a negative time":      {body, with("Telnyx-Timestamp", "-1"), 403},
			"stale":                {body, h.f.Sign(body, now.Add(-301*time.Second)), 403},
			"of the future":        {body, h.f.Sign(body, now.Add(302*time.Second)), 403},
			"of long ago":          {body, h.f.Sign(body, time.Unix(0, 0)), 403},
			"huge":                 {bytes.Repeat([]byte(" "), maxBody+1), h.f.Sign(body, now), 400},
			"not JSON":             {[]byte("hello"), h.f.Sign([]byte("hello"), now), 400},
			"nothing":              {[]byte("{}"), h.f.Sign([]byte("{}"), now), 400},
			"just in time":         {body, h.f.Sign(body, now.Add(-299*time.Second)), 200},
			"of no call":           {[]byte(`{"data":{"id":"1","event_type":"x"}}`), h.f.Sign([]byte(`{"data":{"id":"1","event_type":"x"}}`), now), 200},
			"of an unknown call":   {[]byte(`{"data":{"id":"2","event_type":"call.answered","payload":{"call_control_id":"x"}}}`), h.f.Sign([]byte(`{"data":{"id":"2","event_type":"call.answered","payload":{"call_control_id":"x"}}}`), now), 200},
			"of a call of our own": {[]byte(`{"data":{"id":"3","event_type":"call.initiated","payload":{"call_control_id":"y","direction":"outgoing"}}}`), h.f.Sign([]byte(`{"data":{"id":"3","event_type":"call.initiated","payload":{"call_control_id":"y","direction":"outgoing"}}}`), now), 200},
		} {
			if got := h.post(tc.body, tc.header); got != tc.want {
				t.Errorf("%s: status %d, expected %d", name, got, tc.want)
			}
		}
		again := c.Event("call.hangup", nil, 1, "an-id") // a new event with an id that was there
		if got := h.post(again, h.f.Sign(again, now)); got != 200 {
			t.Errorf("a repeated id: status %d", got)
		}
		settle(time.Second)
		wantActions(t, c, "answer", "streaming_start")
		if len(h.legs) != 1 || len(h.ended) != 0 {
			t.Errorf("%d calls have begun and %d are over, expected one that goes on", len(h.legs), len(h.ended))
		}
		h.none()
	})
}

// get requests a path of the server.
func (h *house) get(path string) int {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), http.MethodGet, public+path, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	r.Header.Set("Sec-Websocket-Version", "13")
	r.Header.Set("Sec-Websocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
	resp, err := h.client.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// TestStrangersAtTheStream checks that a stream is admitted with the token of its own call, once,
// and in time.
func TestStrangersAtTheStream(t *testing.T) {
	inHouse(t, Options{}, fake.TelnyxOptions{}, func(t *testing.T, h *house) {
		for path, want := range map[string]int{"/media": 404, "/media/": 404, "/media/x": 403, "/voice": 405, "/": 404, "": 404, "/media/x/y": 404} {
			if got := h.get(path); got != want {
				t.Errorf("GET %s: status %d, expected %d", path, got, want)
			}
		}
		dial := func(token, call string) (*fake.Call, error) {
			return fake.Dial(t.Context(), fake.Options{
				Dialect: "telnyx", URL: "wss://voice.test/phone/telnyx/media/" + token, Client: h.client, Stream: "s", Call: call,
			})
		}
		c := newCall(Incoming{Call: "v3:1"})
		token, err := h.s.expected.Add("v3:1", c)
		if err != nil {
			t.Fatal(err)
		}
		s, err := dial(token, "v3:2")
		if err != nil {
			t.Fatal(err)
		}
		over(t, s.Over())
		settle(time.Second)
		h.wantFailure("the stream is that of another call", "")
		if !c.closed.happened() || len(h.legs) > 0 {
			t.Error("the stream of another call was accepted")
		}
		if _, err := dial(token, "v3:1"); err == nil {
			t.Error("a spent token is accepted")
		}
		late, err := h.s.expected.Add("v3:1", newCall(Incoming{Call: "v3:1"}))
		if err != nil {
			t.Fatal(err)
		}
		settle(carrier.Announced + time.Second)
		if _, err := dial(late, "v3:1"); err == nil {
			t.Error("a token of long ago is accepted")
		}
		_ = s.Close()
	})
}

// TestLateStream checks that a stream is heard that connects in the last moment, and begins after
// it.
func TestLateStream(t *testing.T) {
	inHouse(t, Options{}, fake.TelnyxOptions{Deliver: func(kind string) fake.Delivery { return fake.Delivery{Lost: kind == "streaming.failed"} }}, func(t *testing.T, h *house) {
		media := h.s.media
		h.s.media = "wss://voice.test/phone/telnyx/elsewhere/"
		c := h.f.Ring(caller, called)
		settle(carrier.Announced - 2*time.Second)
		token := strings.TrimPrefix(c.StreamURL(), h.s.media)
		ws, _, err := websocket.Dial(t.Context(), media+token, &websocket.DialOptions{HTTPClient: h.client}) //nolint:bodyclose // the connection is the body
		if err != nil {
			t.Fatal(err)
		}
		settle(5 * time.Second)
		if err := ws.Write(t.Context(), websocket.MessageText, []byte(`{"event":"start","start":{"call_control_id":"`+c.ID()+`"},"stream_id":"s"}`)); err != nil {
			t.Fatal(err)
		}
		leg := <-h.legs
		settle(10 * time.Second)
		wantActions(t, c, "answer", "streaming_start")
		h.none()
		for range 3 { // what is wrong is told once
			refusal := `{"event":"error","stream_id":"s","payload":{"code":100005,"title":"rate_limit_reached","detail":"Too many requests"}}`
			if err := ws.Write(t.Context(), websocket.MessageText, []byte(refusal)); err != nil {
				t.Fatal(err)
			}
		}
		settle(time.Second)
		h.wantFailure(`the agent's sound is refused: "rate_limit_reached Too many requests"`, "")
		_ = ws.CloseNow()
		if _, err := leg.Read(t.Context()); !errors.Is(err, io.EOF) {
			t.Errorf("Read returned %v after the stream was lost, expected io.EOF", err)
		}
		_ = leg.Close()
		over(t, c.Over())
		wantOver(t, c, "normal_clearing", "callee")
	})
}

// TestCommandsFail checks what becomes of a call when a command fails.
func TestCommandsFail(t *testing.T) {
	always := func(f fake.Fault) func(int) fake.Fault { return func(int) fake.Fault { return f } }
	first := func(f fake.Fault) func(int) fake.Fault {
		return func(n int) fake.Fault {
			if n > 1 {
				return fake.Fault{}
			}
			return f
		}
	}
	for name, tc := range map[string]struct {
		action string
		fault  func(n int) fake.Fault
		took   time.Duration // until the conversation has begun, or 0 if it does not
		class  string        // of the failure
		want   string
		all    string // the commands that are carried out
		tries  int    // of the action
	}{
		"the rate is limited":     {"answer", first(fake.Fault{Status: 429, RetryAfter: "2"}), 2 * time.Second, "", "", "answer streaming_start hangup", 2},
		"a server error":          {"answer", first(fake.Fault{Status: 500}), pause, "", "", "answer streaming_start hangup", 2},
		"no answer":               {"streaming_start", first(fake.Fault{Silent: true}), attemptLimit + pause, "", "", "answer streaming_start hangup", 2},
		"the answer is lost":      {"streaming_start", first(fake.Fault{Done: true, Status: 502}), 0, "", "", "answer streaming_start hangup", 2},
		"the answer is too late":  {"answer", first(fake.Fault{Done: true, Silent: true}), 0, "", "", "answer streaming_start hangup", 2},
		"errors for ever":         {"answer", always(fake.Fault{Status: 503}), 0, errclass.ServerError, "answer: the server responded 503 Service Unavailable, error 10007", "hangup", 2},
		"limits for ever":         {"answer", always(fake.Fault{Status: 429}), 0, errclass.RateLimit, "responded 429", "hangup", 4},
		"a limit for an hour":     {"answer", always(fake.Fault{Status: 429, RetryAfter: "3600"}), 0, errclass.RateLimit, "responded 429", "hangup", 1},
		"silence for ever":        {"streaming_start", always(fake.Fault{Silent: true}), 0, errclass.NetworkTimeout, "streaming_start: the connection failed", "answer hangup", 4},
		"the key is refused":      {"answer", always(fake.Fault{Status: 401, Code: "10009"}), 0, errclass.AuthFailure, "responded 401 Unauthorized, error 10009", "hangup", 1},
		"an invalid command":      {"streaming_start", always(fake.Fault{Status: 422, Code: "90034"}), 0, errclass.Unknown, "responded 422 Unprocessable Entity, error 90034", "answer hangup", 1},
		"the call is over before": {"answer", always(fake.Fault{Status: 422, Code: "90018"}), 0, "", "", "", 1},
		"over before the stream":  {"streaming_start", always(fake.Fault{Status: 422, Code: "90018"}), 0, "", "", "answer", 1},
	} {
		t.Run(name, func(t *testing.T) {
			tries := 0
			inHouse(t, Options{}, fake.TelnyxOptions{Fault: func(action string, n int) fake.Fault {
				if action != tc.action {
					return fake.Fault{}
				}
				tries = max(tries, n)
				return tc.fault(n)
			}}, func(t *testing.T, h *house) {
				begun := time.Now()
				c := h.f.Ring(caller, called)
				if tc.took > 0 {
					leg := <-h.legs
					if took := time.Since(begun); took < tc.took || took > tc.took+100*time.Millisecond {
						t.Errorf("the conversation began after %v, expected %v", took, tc.took)
					}
					_ = leg.Close()
				}
				settle(40 * time.Second)
				for len(h.legs) > 0 {
					_ = (<-h.legs).Close()
				}
				settle(40 * time.Second)
				if got := strings.Join(c.Actions(), " "); got != tc.all || tries != tc.tries {
					t.Errorf("the commands are %q, with %d tries of %s, expected %q, %d", got, tries, tc.action, tc.all, tc.tries)
				}
				if tc.want == "" {
					h.none()
					return
				}
				h.wantFailure(tc.want, tc.class)
			})
		})
	}
}

// TestHangupFails checks that a hang-up that fails is told, and that the call is not held for it.
func TestHangupFails(t *testing.T) {
	inHouse(t, Options{}, fake.TelnyxOptions{Fault: func(action string, _ int) fake.Fault {
		if action == "hangup" {
			return fake.Fault{Status: 500}
		}
		return fake.Fault{}
	}}, func(t *testing.T, h *house) {
		_, _, leg := h.talk()
		_ = leg.Close()
		settle(time.Minute)
		h.wantFailure("telnyx: a call could not be hung up: ", "")
	})
}

// TestRefusals checks what a caller hears who is not admitted, and that a server that is full lets
// Telnyx ask again.
func TestRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		err   error
		cause string
	}{
		"busy":     {fmt.Errorf("full: %w", ErrBusy), "user_busy"},
		"rejected": {errors.New("not this number"), "call_rejected"},
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, Options{Admit: func(context.Context, Incoming) error { return tc.err }}, fake.TelnyxOptions{}, func(t *testing.T, h *house) {
				c := h.f.Ring(caller, called)
				over(t, c.Over())
				settle(time.Second)
				wantActions(t, c, "reject")
				wantOver(t, c, tc.cause, "callee")
				if len(h.ended) > 0 {
					t.Error("the end of a call is told that never began")
				}
				h.none()
			})
		})
	}
	inHouse(t, Options{}, fake.TelnyxOptions{}, func(t *testing.T, h *house) {
		for i := range mostCalls {
			h.s.calls[fmt.Sprint(i)] = newCall(Incoming{})
		}
		c := h.f.Ring(caller, called)
		settle(time.Minute)
		wantActions(t, c)
		if got := h.f.Refused(); len(got) != 3 || !strings.HasPrefix(got[0], "call.initiated: 503") || len(h.failed) != 3 {
			t.Errorf("refused are %q, failed %d", got, len(h.failed))
		}
	})
}

// TestNothingFollows checks that a call does not stay silent for ever when a webhook or the stream
// does not come.
func TestNothingFollows(t *testing.T) {
	for name, tc := range map[string]struct {
		lost string
		down bool
		all  []string
		want string
	}{
		"no call.answered": {"call.answered", false, []string{"answer", "hangup"}, "it was not answered within 1m0s"},
		"no stream":        {"", true, []string{"answer", "streaming_start", "hangup"}, "the stream failed: connection_failed"},
		"no word of it":    {"streaming.failed", true, []string{"answer", "streaming_start", "hangup"}, "it has no stream within 1m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, Options{}, fake.TelnyxOptions{Deliver: func(kind string) fake.Delivery { return fake.Delivery{Lost: kind == tc.lost, Again: 1} }}, func(t *testing.T, h *house) {
				if tc.down {
					h.s.media = "wss://voice.test/phone/telnyx/elsewhere/"
				}
				c := h.f.Ring(caller, called)
				over(t, c.Over())
				settle(time.Second)
				wantActions(t, c, tc.all...)
				h.wantFailure(tc.want, "")
			})
		})
	}
}

// TestStartFails checks that a call whose conversation cannot begin is hung up.
func TestStartFails(t *testing.T) {
	start := func(_ context.Context, _ Incoming, leg Leg) error {
		return errors.Join(errors.New("no agent"), leg.Close())
	}
	inHouse(t, Options{Start: start}, fake.TelnyxOptions{}, func(t *testing.T, h *house) {
		c := h.f.Ring(caller, called)
		over(t, c.Over())
		settle(time.Second)
		wantActions(t, c, "answer", "streaming_start", "hangup")
		h.wantFailure("no agent", "")
	})
}

// TestClose checks that calls are hung up when the server is closed, whatever they are doing, and
// that it takes no more.
func TestClose(t *testing.T) {
	for name, tc := range map[string]struct {
		late  time.Duration // of call.answered
		fault fake.Fault    // of hangup
		all   []string
		most  time.Duration
	}{
		"in a conversation":         {0, fake.Fault{}, []string{"answer", "streaming_start", "hangup"}, time.Second},
		"before it is answered":     {time.Hour, fake.Fault{}, []string{"answer", "hangup"}, time.Second},
		"with a carrier that hangs": {0, fake.Fault{Silent: true}, []string{"answer", "streaming_start"}, grace},
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, Options{}, fake.TelnyxOptions{
				Deliver: func(kind string) fake.Delivery {
					if kind == "call.answered" {
						return fake.Delivery{Late: tc.late}
					}
					return fake.Delivery{}
				},
				Fault: func(action string, _ int) fake.Fault {
					if action == "hangup" {
						return tc.fault
					}
					return fake.Fault{}
				},
			}, func(t *testing.T, h *house) {
				c := h.f.Ring(caller, called)
				settle(2 * time.Second)
				begun := time.Now()
				if err := h.s.Close(); err != nil {
					t.Error(err)
				}
				if took := time.Since(begun); took > tc.most {
					t.Errorf("Close took %v", took)
				}
				wantActions(t, c, tc.all...)
				if len(h.legs) > 0 {
					leg := <-h.legs
					for err := error(nil); err == nil; _, err = leg.Read(t.Context()) {
					}
					_ = leg.Close()
				}
				second := h.f.Ring(caller, called)
				settle(time.Minute)
				wantActions(t, second)
			})
		})
	}
}

func TestOptions(t *testing.T) {
	key := base64.StdEncoding.EncodeToString(make([]byte, 32))
	start := func(context.Context, Incoming, Leg) error { return nil }
	for want, o := range map[string]Options{
		"the API key is empty":           {PublicKey: key, URL: public, Start: start},
		"the public key is invalid":      {Key: "k", PublicKey: "sesame", URL: public, Start: start},
		"the URL is invalid":             {Key: "k", PublicKey: key, URL: "http://voice.test", Start: start},
		"the URL of the API is invalid":  {Key: "k", PublicKey: key, URL: public, API: "ftp://x", Start: start},
		`the codec is "OPUS": expected`:  {Key: "k", PublicKey: key, URL: public, Codec: "OPUS", Start: start},
		"Start is nil":                   {Key: "k", PublicKey: key, URL: public},
		"must not contain a user name":   {Key: "k", PublicKey: key, URL: "https://sesame@voice.test", Start: start},
		"must not contain a query or a ": {Key: "k", PublicKey: key, URL: "https://voice.test?sesame", Start: start},
	} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%v, expected %q", err, want)
		}
	}
	if s, err := New(Options{Key: "k", PublicKey: key, URL: public + "/", Start: start}); err != nil || s.media != "wss://voice.test/phone/telnyx/media/" {
		t.Errorf("%v", err)
	}
}
