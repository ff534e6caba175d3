package realtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/hocketvoice/hocket/leg/realtime"
	"github.com/hocketvoice/hocket/porttest"
)

// fakeCall is a call whose client is the test.
type fakeCall struct {
	*porttest.LineLeg
	sent  chan string // to the client
	said  chan string // by the client
	fresh chan struct{}
	endc  chan struct{}
	once  sync.Once

	mu   sync.Mutex
	shut bool
}

func newFakeCall() *fakeCall {
	return &fakeCall{
		LineLeg: porttest.NewLineLeg(porttest.NewLeg(porttest.LegOptions{Rate: 24000, Live: true})),
		sent:    make(chan string, 1000), said: make(chan string), fresh: make(chan struct{}), endc: make(chan struct{}),
	}
}

func (f *fakeCall) Send(text string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.shut {
		f.sent <- text
	}
	return nil
}

func (f *fakeCall) Receive(ctx context.Context) (string, error) {
	select {
	case text := <-f.said:
		return text, nil
	case <-f.endc:
		return "", io.EOF
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (f *fakeCall) Return(_ context.Context, offer string) (string, error) {
	if offer != "again" {
		return "", errors.New("no offer")
	}
	return "welcome back", nil
}

func (f *fakeCall) Fresh(ctx context.Context) error {
	select {
	case <-f.fresh:
		f.mu.Lock()
		defer f.mu.Unlock()
		f.shut = true
		return nil
	case <-f.endc:
		return io.EOF
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *fakeCall) Reopen() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.shut = false
}

func (f *fakeCall) Close() error {
	f.once.Do(func() { f.HangUp(); close(f.endc) })
	return nil
}

// next returns the next event of a type.
func (f *fakeCall) next(t *testing.T, name string) event {
	t.Helper()
	for {
		select {
		case text := <-f.sent:
			e := event{raw: []byte(text)}
			if err := json.Unmarshal(e.raw, &e.m); err != nil {
				t.Fatal(err)
			}
			if e.Type = e.str("type"); e.Type == name {
				return e
			}
		case <-f.endc:
			t.Fatalf("waiting for %s: the call has ended", name)
		}
	}
}

// A call's client returns with another offer, and its new connection receives the
// current state.
func TestCallComesBack(t *testing.T) {
	t.Parallel()
	call := newFakeCall()
	r := staying(t, rigOptions{silent: true, change: func(o *realtime.Options) {
		o.Answer = func(context.Context, string) (realtime.Call, string, error) { return call, "welcome", nil }
	}})
	post := func(offer, token string) (status int, h http.Header, body string) {
		t.Helper()
		q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.http.URL+"/v1/realtime/calls?model=test", strings.NewReader(offer))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Content-Type", "application/sdp")
		q.Header.Set("Hocket-Resume-Token", token)
		w, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Body.Close()
		b, err := io.ReadAll(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		return w.StatusCode, w.Header, string(b)
	}
	status, h, answer := post("hello", "")
	token, location, id := h.Get("Hocket-Resume-Token"), h.Get("Location"), h.Get("Hocket-Conversation")
	if status != http.StatusCreated || answer != "welcome" || token == "" {
		t.Fatalf("%d %q %v", status, answer, h)
	}
	call.next(t, "session.created")
	call.said <- `{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}`
	call.next(t, "conversation.item.done")

	if status, _, _ := post("again", "rt_wrong"); status != http.StatusNotFound {
		t.Errorf("a wrong token: %d", status)
	}
	if status, _, _ := post("nonsense", token); status != http.StatusBadRequest {
		t.Errorf("a bad offer: %d", status)
	}
	status, h, answer = post("again", token)
	if status != http.StatusCreated || answer != "welcome back" || h.Get("Location") != location ||
		h.Get("Hocket-Conversation") != id || h.Get("Hocket-Resume-Token") == token {
		t.Errorf("%d %q %v", status, answer, h)
	}
	select {
	case call.fresh <- struct{}{}:
	case <-call.endc:
		t.Fatal("the call has ended")
	}
	call.next(t, "session.created")
	if e := call.next(t, "conversation.item.done"); e.str("item.content.0.text") != "hi" {
		t.Errorf("%s", e.raw)
	}
	call.said <- `{"type":"conversation.item.retrieve","item_id":"nothing"}`
	call.next(t, "error")
	if status, _, _ := post("again", token); status != http.StatusNotFound {
		t.Errorf("a token that was used: %d", status)
	}
	// A client that hangs up cannot return.
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.http.URL+location+"/hangup", nil)
	if err != nil {
		t.Fatal(err)
	}
	hung, err := http.DefaultClient.Do(q)
	if err != nil || hung.StatusCode != http.StatusOK {
		t.Fatal(hung, err)
	}
	_ = hung.Body.Close()
	<-call.endc
}
