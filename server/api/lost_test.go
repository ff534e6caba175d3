package api

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"sync"
	"testing"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/hub"
)

// This file tests that a process that dies before the store has its client's new tokens does not
// leave the client without a valid token.

// ledger is a home whose store may fail. It outlives its server.
type ledger struct {
	Home

	mu     sync.Mutex // guards the fields below
	fails  error      // what a grant fails with
	grants map[string]port.Grant
	taken  map[string]int // conversations that were restored and not given up
	call   func() hub.Call
}

// Restore returns the conversation each time.
func (l *ledger) Restore(_ context.Context, id string) (hub.Call, error) {
	call := l.call()
	call.ID = id
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken[id]++
	call.Over = func(id string, _ bool) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.taken[id]--
	}
	return call, nil
}

// held returns how many times a conversation was restored and not released.
func (l *ledger) held(id string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taken[id]
}

func (l *ledger) Grant(_ context.Context, id string, g port.Grant) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fails == nil {
		l.grants[id] = g
	}
	return l.fails
}

func (l *ledger) Access(context.Context, []byte) (string, bool, error) { return "", false, nil }

func (l *ledger) Resume(_ context.Context, digest []byte) (string, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, g := range l.grants {
		if d := string(digest); d == string(g.Now.Resume) || d == string(g.Before.Resume) {
			return id, true, nil
		}
	}
	return "", false, nil
}

func (l *ledger) set(fails error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fails = fails
}

// has reports whether the store knows a resume token.
func (l *ledger) has(token string) bool {
	d := sha256.Sum256([]byte(token))
	_, ok, _ := l.Resume(context.Background(), d[:])
	return ok
}

func newLedger(t *testing.T) (*ledger, *house) {
	l := &ledger{grants: make(map[string]port.Grant), taken: make(map[string]int), call: func() hub.Call { return textCall(t, conv.PrivacyKeep) }}
	return l, newHouse(t, hub.Options{}, func(o *Options) { o.Home = l })
}

func (h *house) back(token string) Created {
	h.t.Helper()
	return ask[Created](h, http.StatusCreated, "POST", "/v1/conversations", `{"resume":"`+token+`"}`)
}

// TestClientHasTokensThatTheStoreDoesNot checks that a client that returns while the
// store does not answer keeps a resume token that the store has, whatever it does with
// the tokens that it gets: this process may die before the store has the next ones.
func TestClientHasTokensThatTheStoreDoesNot(t *testing.T) {
	l, h := newLedger(t)
	made := h.begin("flights")
	if !l.has(made.ResumeToken) {
		t.Fatal("the first token is not stored")
	}
	for _, name := range []string{"at once", "again", "with another try"} {
		l.set(errors.New("no route to the store"))
		given := h.back(made.ResumeToken)
		if name == "with another try" { // the response was lost
			given = h.back(made.ResumeToken)
		}
		if !l.has(given.ResumeToken) {
			t.Errorf("%s: the client has a token that the store does not know", name)
		}
		h.key = given.AccessToken
		ask[hub.Details](h, http.StatusOK, "GET", "/v1/conversations/"+made.ID, "") // it has used what it was given
		l.set(nil)
		ask[hub.Details](h, http.StatusOK, "GET", "/v1/conversations/"+made.ID, "")
		h.key = ""
		if !l.has(given.ResumeToken) {
			t.Errorf("%s: the token that the client has was invalidated", name)
		}
		made = given
	}
	next := h.back(made.ResumeToken)
	if next.ResumeToken == made.ResumeToken || !l.has(next.ResumeToken) || !l.has(made.ResumeToken) {
		t.Error("with the store there is a new token, beside the one before")
	}
	h.key = next.AccessToken
	ask[hub.Details](h, http.StatusOK, "GET", "/v1/conversations/"+made.ID, "")
	h.key = ""
	if l.has(made.ResumeToken) {
		t.Error("the token before stays valid when the next one was used")
	}
}

// TestReturnToAnOldCopy checks the answer to a client that returns to a process whose conversation
// another process has taken over: it is refused, but not told that its token is invalid, since this
// process does not know the tokens of the other one.
func TestReturnToAnOldCopy(t *testing.T) {
	for _, own := range []bool{false, true} {
		l, h := newLedger(t)
		made := h.begin("flights")
		elsewhere := sha256.Sum256([]byte("rt_elsewhere"))
		l.mu.Lock()
		l.grants[made.ID] = port.Grant{Now: port.Tokens{Resume: elsewhere[:]}}
		l.mu.Unlock()
		l.set(port.ErrFenced)
		if own { // the response of the other process was lost
			h.refused(http.StatusServiceUnavailable, "try_again", "POST", "/v1/conversations", `{"resume":"`+made.ResumeToken+`"}`)
		}
		for range 2 {
			h.refused(http.StatusServiceUnavailable, "try_again", "POST", "/v1/conversations", `{"resume":"rt_elsewhere"}`)
		}
		h.refused(http.StatusNotFound, "no_such_conversation", "POST", "/v1/conversations", `{"resume":"rt_nothing"}`)
	}
}

// TestReturnWhileTheConversationEnds checks that a client that returns while its conversation is
// being ended here, so that it can continue elsewhere, is asked to try again, and that the
// conversation can then be continued, because no node still holds it.
func TestReturnWhileTheConversationEnds(t *testing.T) {
	ending, ended := make(chan struct{}), make(chan struct{})
	end := sync.OnceFunc(func() { close(ended) })
	l, h := newLedger(t)
	t.Cleanup(end) // before the hub's
	h.call = func(c *hub.Call) {
		c.Over = func(string, bool) {
			close(ending)
			<-ended
		}
	}
	made := h.begin("flights")
	h.call = nil
	resume := `{"resume":"` + made.ResumeToken + `"}`
	h.hub.Lose(made.ID)
	<-ending
	h.refused(http.StatusServiceUnavailable, "try_again", "POST", "/v1/conversations", resume)
	if n := l.held(made.ID); n != 0 {
		t.Errorf("it is held %d times by nobody", n)
	}
	end()
	waittest.Until(t, "the return", nil, func() bool {
		status, _ := h.do("POST", "/v1/conversations", resume)
		return status == http.StatusCreated
	})
	if n := l.held(made.ID); n != 1 {
		t.Errorf("it is held %d times", n)
	}
}
