package realtime_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/leg/realtime"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/session"
)

// staying returns a rig whose conversations wait for their clients.
func staying(t *testing.T, o rigOptions) *rig {
	t.Helper()
	change := o.change
	o.change = func(ro *realtime.Options) {
		ro.Linger = time.Minute
		if change != nil {
			change(ro)
		}
	}
	return newRig(t, o)
}

// vanish ends the connection without a close frame.
func (c *client) vanish() {
	_ = c.ws.CloseNow()
	<-c.done
}

// watched calls a function with every step of every conversation of a server.
func watched(on func(session.Step)) func(*realtime.Options) {
	return func(o *realtime.Options) {
		open := o.Open
		o.Open = func(ctx context.Context, from realtime.Caller) (realtime.Parts, error) {
			parts, err := open(ctx, from)
			parts.Hold = func(ctx context.Context, s *session.Session) error {
				s.OnStep(on)
				return s.Run(ctx)
			}
			return parts, err
		}
	}
}

func (c *client) token() string { return c.header.Get("Hocket-Resume-Token") }

// back connects with a token.
func (r *rig) back(t *testing.T, token string) *client {
	t.Helper()
	return r.dial(t, dialOptions{query: "model=test&resume=" + token})
}

// refused checks that a token is refused.
func (r *rig) refused(t *testing.T, token string) {
	t.Helper()
	c := r.back(t, token)
	if e := c.of("error"); e.str("error.code") != "resume_token_invalid" {
		t.Errorf("%s", e.raw)
	}
	if code := c.ended(); code != 4000 {
		t.Errorf("close code %d", code)
	}
}

// A client that has lost its connection returns, receives the current state, and
// continues.
func TestComeBack(t *testing.T) {
	t.Parallel()
	r := staying(t, rigOptions{silent: true})
	c := texting(t, r, "hello")
	find(t, c.respond(nil), "response.done")
	first, id := c.of("rate_limits.updated"), c.header.Get("Hocket-Conversation")
	c.vanish()

	again := r.dial(t, dialOptions{header: http.Header{"Hocket-Resume-Token": {c.token()}}})
	created := again.of("session.created")
	if got := created.str("session.output_modalities.0"); got != "text" {
		t.Errorf("the configuration is not the conversation's: %s", created.raw)
	}
	if again.header.Get("Hocket-Conversation") != id || again.token() == c.token() || !strings.HasPrefix(again.token(), "rt_") {
		t.Errorf("the answer's headers are %v", again.header)
	}
	var last string
	for _, role := range []string{"user", "assistant"} {
		added, done := again.of("conversation.item.added"), again.of("conversation.item.done")
		if added.str("item.role") != role || added.str("item.status") != "completed" || added.str("previous_item_id") != last ||
			done.str("item.id") != added.str("item.id") || done.str("item.content.0.text") == "" {
			t.Errorf("%s\n%s", added.raw, done.raw)
		}
		last = added.str("item.id")
	}
	if created.str("event_id") <= first.str("event_id") && len(created.str("event_id")) <= len(first.str("event_id")) {
		t.Errorf("event ids: %s behind %s", created.str("event_id"), first.str("event_id"))
	}
	again.user("and again")
	if e := find(t, again.respond(nil), "response.done"); e.str("response.status") != "completed" {
		t.Errorf("%s", e.raw)
	}
	if n := len(r.llm.Requests()); n != 2 {
		t.Fatalf("the model was asked %d times", n)
	}
	if q := r.llm.Requests()[1]; len(q.Messages) < 3 {
		t.Errorf("the model was told %d messages", len(q.Messages))
	}
	r.refused(t, c.token()) // the client has the next token
	again.vanish()
	r.back(t, again.token()).of("session.created")
}

// TestAnswerLost checks that a client that did not receive its next token can return
// again with the previous one, which becomes invalid once the client has sent something
// over its new connection.
func TestAnswerLost(t *testing.T) {
	t.Parallel()
	r := staying(t, rigOptions{silent: true})
	c := texting(t, r, "hello")
	find(t, c.respond(nil), "response.done")
	c.vanish()
	var again *client
	for range 3 {
		again = r.back(t, c.token())
		again.of("session.created")
		again.vanish()
	}
	again = r.back(t, c.token())
	again.user("I am here")
	find(t, again.respond(nil), "response.done")
	r.refused(t, c.token())
	again.vanish()
	r.back(t, again.token()).of("session.created")
}

// A conversation ends if its connection is closed on purpose or before the client has
// sent anything, and after the time limit.
func TestNobodyComesBack(t *testing.T) {
	t.Parallel()
	r := staying(t, rigOptions{silent: true})
	c := texting(t, r, "hello")
	if err := c.ws.Close(websocket.StatusNormalClosure, "bye"); err != nil {
		t.Error(err)
	}
	r.gone(t, c.token())

	c = texting(t, r, "hello")
	if err := c.ws.Close(websocket.StatusNoStatusRcvd, ""); err != nil && websocket.CloseStatus(err) != websocket.StatusNoStatusRcvd {
		t.Error(err)
	}
	r.gone(t, c.token())

	c = r.dial(t, dialOptions{})
	c.of("session.created")
	c.vanish()
	r.gone(t, c.token())

	short := newRig(t, rigOptions{silent: true, change: func(o *realtime.Options) { o.Linger = 50 * ms }})
	c = texting(t, short, "hello")
	c.vanish()
	short.gone(t, c.token())

	none := newRig(t, rigOptions{silent: true})
	c = none.dial(t, dialOptions{})
	if c.token() != "" || c.header.Get("Hocket-Conversation") == "" {
		t.Errorf("without a time to wait: %v", c.header)
	}
	none.refused(t, "rt_nothing")
}

// gone waits until a token is invalid. It tries only once, since a valid token would be
// used up.
func (r *rig) gone(t *testing.T, token string) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for r.srv.Conversations() > 0 && time.Now().Before(deadline) {
		<-time.After(5 * ms)
	}
	r.refused(t, token)
}

// If two clients connect to one conversation, the later one has it. A token cannot be
// used by another owner.
func TestTwoClients(t *testing.T) {
	t.Parallel()
	r := staying(t, rigOptions{silent: true, change: func(o *realtime.Options) {
		o.Authorize = func(_ *http.Request, k string) (string, bool) { return k, strings.HasPrefix(k, "sk-") }
	}})
	as := func(key, token string) *client {
		h := http.Header{"Authorization": {"Bearer " + key}}
		if token != "" {
			h.Set("Hocket-Resume-Token", token)
		}
		return r.dial(t, dialOptions{header: h})
	}
	one := as("sk-one", "")
	one.textOnly()
	one.user("hello")
	thief := as("sk-two", one.token())
	if e := thief.of("error"); e.str("error.code") != "resume_token_invalid" {
		t.Errorf("%s", e.raw)
	}
	two := as("sk-one", one.token())
	two.of("conversation.item.done")
	if code := one.ended(); code != 4409 {
		t.Errorf("the first one's connection ends with %d", code)
	}
	if e := find(t, two.respond(nil), "response.done"); e.str("response.status") != "completed" {
		t.Errorf("%s", e.raw)
	}
}

// A client that takes over during a response is sent the response so far, and the rest.
func TestTakeOverWhileAnswering(t *testing.T) {
	t.Parallel()
	r := staying(t, rigOptions{silent: true})
	one := texting(t, r, "talk slowly")
	one.send(obj{"type": "response.create"})
	for range 5 {
		one.of("response.output_text.delta")
	}
	two := r.back(t, one.token())
	two.wait("the user's item", func(e event) bool { return e.Type == "conversation.item.done" && e.str("item.role") == "user" })
	done := two.of("response.done")
	if s := done.str("response.status"); s == "cancelled" {
		// The machine took the old connection for lost, and answers again.
		done = two.of("response.done")
	}
	text := ""
	for _, e := range two.since(0) {
		if e.Type == "response.output_text.delta" && e.str("response_id") == done.str("response.id") {
			text += e.str("delta")
		}
	}
	if got := done.str("response.output.0.content.0.text"); got != longAnswer || text != got {
		t.Errorf("%s\ndeltas: %q", done.raw, text)
	}
}

// An answer interrupted by the loss of the connection stays in the list with the text
// sent so far. The client continues to speak.
func TestLostWhileSpeaking(t *testing.T) {
	t.Parallel()
	engine(t)
	take(t, 1)
	lost := make(chan struct{})
	measured := sync.OnceFunc(func() { close(lost) }) // the connection is lost again at the end of the test
	r := staying(t, rigOptions{change: watched(func(st session.Step) {
		if _, ok := st.Event.(conv.PlayoutFlushed); ok && st.State.Phase == conv.Reconnecting {
			measured()
		}
	})})
	c := r.dial(t, dialOptions{})
	c.user("tell me a story")
	c.send(obj{"type": "response.create"})
	for range 30 {
		c.of("response.output_audio.delta")
	}
	c.vanish()
	<-lost // before that, the client would not count as disconnected
	again := r.back(t, c.token())
	again.of("session.created")
	if user := again.of("conversation.item.done"); user.str("item.role") != "user" {
		t.Errorf("%s", user.raw)
	}
	agent := again.of("conversation.item.done")
	if heard := agent.str("item.content.0.transcript"); agent.str("item.status") != "incomplete" || !strings.HasPrefix(longAnswer, heard) || heard == longAnswer {
		t.Errorf("%s", agent.raw)
	}
	again.microphone(nil).say(sound(t, "How are you today?"))
	again.of("input_audio_buffer.committed")
	again.wait("an answer", func(e event) bool { return e.Type == "response.done" && e.str("response.status") == "completed" })
}

// shelf is a store in memory.
type shelf struct {
	mu   sync.Mutex
	last []byte
}

func (s *shelf) Save(_ context.Context, _ port.Hold, b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = append([]byte(nil), b...)
	return nil
}

func (s *shelf) Load(context.Context, string) ([]byte, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, s.last != nil, nil
}

func (s *shelf) Delete(context.Context, string) error { return nil }

// state returns the snapshot of the last checkpoint, which must satisfy ok.
func (s *shelf) state(t *testing.T, ok func(string) bool) []byte {
	t.Helper()
	var c struct {
		Snapshot json.RawMessage `json:"snapshot"`
	}
	for deadline := time.Now().Add(patience); ; {
		b, _, _ := s.Load(t.Context(), "")
		if ok(string(b)) {
			if err := json.Unmarshal(b, &c); err != nil {
				t.Fatal(err)
			}
			return c.Snapshot
		}
		if time.Now().After(deadline) {
			t.Fatalf("the last checkpoint is %s", b)
		}
		<-time.After(5 * ms)
	}
}

// A conversation of another process continues here from its snapshot. The client
// receives its history.
func TestRestored(t *testing.T) {
	t.Parallel()
	var kept shelf
	keep := func(_ string, o *session.Options) error {
		o.Checkpoints = session.Checkpoints{Store: &kept}
		return nil
	}
	r := staying(t, rigOptions{silent: true, open: keep})
	c := texting(t, r, "hello")
	find(t, c.respond(nil), "response.done")
	state := kept.state(t, func(s string) bool {
		return strings.Contains(s, "So.") && strings.Contains(s, "listening.ready")
	})

	var parts realtime.Parts
	issued := make(chan [2][]byte, 2)
	other := staying(t, rigOptions{silent: true, change: func(o *realtime.Options) {
		o.Resume = func(ctx context.Context, from realtime.Caller, token string) (realtime.Parts, error) {
			if token != c.token() || from.Model != "test" {
				return realtime.Parts{}, realtime.ErrUnknownToken
			}
			fresh, err := o.Open(ctx, from)
			fresh.ID, fresh.Session.Restore = "conv_kept", state
			fresh.Issue = func(_ context.Context, digest, before []byte) error {
				issued <- [2][]byte{digest, before}
				return nil
			}
			parts = fresh
			return fresh, err
		}
	}})
	other.refused(t, "rt_wrong")
	again := other.back(t, c.token())
	if parts.Session.Restore == nil || again.header.Get("Hocket-Conversation") != "conv_kept" {
		t.Fatalf("%v", again.header)
	}
	digest, first := sha256.Sum256([]byte(again.token())), sha256.Sum256([]byte(c.token()))
	if got := <-issued; !bytes.Equal(got[0], digest[:]) || !bytes.Equal(got[1], first[:]) {
		t.Error("what was issued is not the token that the client got, beside the one that it came with")
	}
	again.of("session.created")
	for _, role := range []string{"user", "assistant"} {
		e := again.of("conversation.item.done")
		if e.str("item.role") != role || e.str("item.content.0.text") == "" {
			t.Errorf("%s", e.raw)
		}
	}
	again.textOnly()
	again.user("and again")
	if e := find(t, again.respond(nil), "response.done"); e.str("response.status") != "completed" {
		t.Errorf("%s", e.raw)
	}
	if got := <-issued; !bytes.Equal(got[0], digest[:]) || got[1] != nil {
		t.Error("the client has its token, and the one before it is still good")
	}
	if q := other.llm.Requests()[0]; len(q.Messages) < 3 || q.Messages[0].Text() != "hello" && q.Messages[1].Text() != "hello" {
		t.Errorf("the model was told %+v", q.Messages)
	}
}

// A client that must be refused at the moment is refused before it receives another
// token, so its token stays valid. The same holds if its handshake fails.
func TestTokenOutlivesRefusal(t *testing.T) {
	var mu sync.Mutex
	var refusal error
	var issued []bool // for each call of Issue: whether the client's token stays valid
	closed := make(chan bool, 2)
	r := staying(t, rigOptions{silent: true, change: func(o *realtime.Options) {
		open := o.Open
		o.Resume = func(ctx context.Context, from realtime.Caller, token string) (realtime.Parts, error) {
			mu.Lock()
			defer mu.Unlock()
			if refusal != nil {
				return realtime.Parts{}, refusal
			}
			parts, err := open(ctx, from)
			parts.ID = "conv_" + token
			parts.Issue = func(_ context.Context, _, before []byte) error {
				digest := sha256.Sum256([]byte("rt_kept"))
				mu.Lock()
				defer mu.Unlock()
				issued = append(issued, bytes.Equal(before, digest[:]))
				return nil
			}
			parts.Close = func() error { closed <- true; return nil }
			return parts, err
		}
	}})
	for err, code := range map[error]string{realtime.ErrBusy: "rate_limit_exceeded", realtime.ErrAgain: "try_again"} {
		mu.Lock()
		refusal = err
		mu.Unlock()
		c := r.back(t, "rt_kept")
		if e := c.of("error"); e.str("error.code") != code || c.token() != "" {
			t.Errorf("%s, token %q", e.raw, c.token())
		}
		if got := c.ended(); got != 1013 {
			t.Errorf("close code %d", got)
		}
	}
	mu.Lock()
	refusal = nil
	mu.Unlock()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.http.URL+"/v1/realtime?model=test&resume=rt_kept", nil)
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Connection", "Upgrade")
	q.Header.Set("Upgrade", "websocket") // without a version and a key
	w, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Body.Close()
	if w.StatusCode < 400 {
		t.Errorf("half a handshake is answered with %d", w.StatusCode)
	}
	<-closed // the parts are released
	mu.Lock()
	stays := issued
	mu.Unlock()
	if slices.Contains(stays, false) {
		t.Error("the token of a client that is not connected is no longer good")
	}
	r.back(t, "rt_kept").of("session.created")
}

// If the program dies while it stores the next token of a returning client, the client
// has not received that token yet.
func TestTokenGivenBeforeItIsKept(t *testing.T) {
	for _, runs := range []bool{true, false} {
		dies := make(chan func(), 1)
		issue := func(context.Context, []byte, []byte) error {
			select {
			case die := <-dies:
				die()
			default:
			}
			return nil
		}
		r := staying(t, rigOptions{silent: true, change: func(o *realtime.Options) {
			open := o.Open
			o.Open = func(ctx context.Context, from realtime.Caller) (realtime.Parts, error) {
				parts, err := open(ctx, from)
				parts.Issue = issue
				return parts, err
			}
			o.Resume = func(ctx context.Context, from realtime.Caller, token string) (realtime.Parts, error) {
				return o.Open(ctx, from)
			}
		}})
		token := "rt_elsewhere"
		if runs {
			c := texting(t, r, "hello")
			find(t, c.respond(nil), "response.done")
			token = c.token()
			c.vanish()
		}
		dies <- r.http.CloseClientConnections
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		ws, resp, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(r.http.URL, "http")+"/v1/realtime?model=test&resume="+token, nil)
		cancel()
		if resp != nil && resp.Body != nil {
			_ = resp.Body.Close()
		}
		if err == nil {
			_ = ws.CloseNow()
			t.Errorf("it runs here %v: the client has a token that is not kept", runs)
		}
		for { // it returns with the token that it has
			e := r.back(t, token).wait("session.created", func(e event) bool { return e.Type == "session.created" || e.Type == "error" })
			if e.Type == "session.created" {
				break
			}
			if e.str("error.code") != "try_again" { // what began for the lost connection is ending
				t.Fatalf("it runs here %v: %s", runs, e.raw)
			}
		}
	}
}

// While the next token of a returning client cannot be stored, the client continues
// with the one that it has, however often it returns.
func TestTokenThatIsNotKept(t *testing.T) {
	for _, runs := range []bool{true, false} {
		var away atomic.Bool
		r := staying(t, rigOptions{silent: true, change: func(o *realtime.Options) {
			open := o.Open
			o.Open = func(ctx context.Context, from realtime.Caller) (realtime.Parts, error) {
				parts, err := open(ctx, from)
				parts.Issue = func(context.Context, []byte, []byte) error {
					if away.Load() {
						return errors.New("no route to the store")
					}
					return nil
				}
				return parts, err
			}
			o.Resume = func(ctx context.Context, from realtime.Caller, token string) (realtime.Parts, error) {
				if token != "rt_elsewhere" {
					return realtime.Parts{}, realtime.ErrUnknownToken
				}
				return o.Open(ctx, from)
			}
		}})
		token := "rt_elsewhere"
		if runs {
			c := texting(t, r, "hello")
			find(t, c.respond(nil), "response.done")
			token = c.token()
			c.vanish()
		}
		away.Store(true)
		for range 2 {
			c := r.back(t, token)
			c.of("session.created")
			c.user("it has arrived")
			if c.token() != token {
				t.Errorf("it runs here %v: the client has a token that is not kept", runs)
			}
			c.vanish()
		}
		away.Store(false)
		c := r.back(t, token)
		if c.of("session.created"); c.token() == token {
			t.Errorf("it runs here %v: there is no new token", runs)
		}
		c.vanish()
		r.back(t, c.token()).of("session.created")
	}
}

// A client whose conversation is moved to another server is told to reconnect, and no
// error.
func TestMoved(t *testing.T) {
	for what, end := range map[string]error{"fenced": port.ErrFenced, "the server goes": context.Canceled} {
		stop := make(chan struct{})
		r := staying(t, rigOptions{silent: true, change: func(o *realtime.Options) {
			open := o.Open
			o.Open = func(ctx context.Context, from realtime.Caller) (realtime.Parts, error) {
				parts, err := open(ctx, from)
				parts.Hold = func(ctx context.Context, s *session.Session) error {
					ctx, cancel := context.WithCancel(ctx)
					defer cancel()
					go func() { <-stop; cancel() }()
					_ = s.Run(ctx) // it was cancelled
					return end
				}
				return parts, err
			}
		}})
		c := r.dial(t, dialOptions{})
		c.of("session.created")
		close(stop)
		if code := c.ended(); code != 1012 {
			t.Errorf("%s: close code %d", what, code)
		}
		for _, e := range c.since(0) {
			if e.Type == "error" {
				t.Errorf("%s: %s", what, e.raw)
			}
		}
	}
}

// A client that returns before it is known how much it has heard of an interrupted
// answer waits for it, and does not receive text that it has not heard.
func TestBackBeforeTheMeasure(t *testing.T) {
	lost, goOn := make(chan struct{}), make(chan struct{})
	first := sync.OnceFunc(func() { close(lost) }) // the connection is lost again at the end of the test
	r := staying(t, rigOptions{change: watched(func(st session.Step) {
		if _, ok := st.Event.(conv.ConnectionLost); ok {
			first()
			<-goOn // the report follows this step
		}
	})})
	c := r.dial(t, dialOptions{})
	c.user("tell me a story")
	c.send(obj{"type": "response.create"})
	for range 30 {
		c.of("response.output_audio.delta")
	}
	c.vanish()
	<-lost
	again := r.back(t, c.token())
	for _, e := range again.come() {
		t.Errorf("told before it is known: %s", e.raw)
	}
	close(goOn)
	again.of("conversation.item.done")
	agent := again.of("conversation.item.done")
	if heard := agent.str("item.content.0.transcript"); agent.str("item.status") != "incomplete" || !strings.HasPrefix(longAnswer, heard) || heard == longAnswer {
		t.Errorf("%s", agent.raw)
	}
}
