package api

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/leg/text"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/server/tokens"
)

const (
	keyOne   = "0123456789abcdef-one"
	keyTwo   = "0123456789abcdef-two"
	keyThree = "0123456789abcdef-three"
)

func mustKeys(t *testing.T, text string) *Keys {
	t.Helper()
	k, err := ParseKeys(text)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestKeysOfAWindowsEditor checks that the mark and the line ends of such a file are not part
// of the first key or its name.
func TestKeysOfAWindowsEditor(t *testing.T) {
	for text, want := range map[string]string{
		"\ufeffoffice " + keyOne + "\r\nphone " + keyTwo + "\r\n": "office",
		"\ufeff" + keyOne + "\r\n":                                "",
	} {
		owner, ok := mustKeys(t, text).Owner(keyOne)
		if !ok || want != "" && owner != want {
			t.Errorf("%q: the owner is %q, %v", text, owner, ok)
		}
	}
}

// TestKeys checks that a key gives access to its own conversations, and can be
// replaced while the server runs.
func TestKeys(t *testing.T) {
	keys := mustKeys(t, "# of the office\noffice "+keyOne+"\nphone "+keyTwo+"\n")
	h := newHouse(t, hub.Options{PerUser: 2}, func(o *Options) { o.Keys = keys })
	h.refused(http.StatusUnauthorized, "no_key", "GET", "/v1/agents", "")
	h.key = "0123456789abcdef-nobody"
	h.refused(http.StatusUnauthorized, "bad_key", "GET", "/v1/agents", "")
	h.key = keyOne
	mine := h.begin("flights")
	h.begin("flights")
	h.refused(http.StatusTooManyRequests, "too_many_conversations", "POST", "/v1/conversations", `{"transport":"text"}`)
	list := h.listen("/v1/events?from=1")

	h.key = keyTwo
	h.refused(http.StatusNotFound, "no_such_conversation", "GET", "/v1/conversations/"+mine.ID, "")
	h.refused(http.StatusNotFound, "no_such_conversation", "POST", "/v1/conversations/"+mine.ID+"/commands", `{"type":"endConversation"}`)
	h.refused(http.StatusNotFound, "no_such_conversation", "GET", "/v1/conversations/"+mine.ID+"/events", "")
	if all := ask[ConversationList](h, http.StatusOK, "GET", "/v1/conversations", ""); len(all.Conversations) != 0 {
		t.Errorf("another key sees %+v", all)
	}
	theirs := h.begin("flights")
	h.say(theirs.ID, "book a flight")
	h.key = keyOne
	h.say(mine.ID, "book a flight")
	ask[Empty](h, http.StatusAccepted, "POST", "/v1/conversations/"+mine.ID+"/commands", `{"type":"endConversation"}`)
	list.until("my conversation's end", func(m hub.Message) bool {
		if strings.Contains(string(m.Payload), theirs.ID) {
			t.Errorf("the list tells of another key's: %s", m.Payload)
		}
		return m.Type == hub.TypeEnded
	})

	keys.Replace(mustKeys(t, "office "+keyThree))
	h.refused(http.StatusUnauthorized, "bad_key", "GET", "/v1/agents", "")
	h.key = keyThree
	if all := ask[ConversationList](h, http.StatusOK, "GET", "/v1/conversations", ""); len(all.Conversations) != 2 {
		t.Errorf("the office's next key sees %+v", all)
	}
	for _, secret := range []string{keyOne, keyTwo, keyThree, mine.AccessToken} {
		if strings.Contains(h.log.String(), secret) {
			t.Errorf("the log holds a secret:\n%s", h.log)
		}
	}
}

func TestBadKeys(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "short", "a b " + keyOne, "name short"} {
		if _, err := ParseKeys(text); err == nil || strings.Contains(err.Error(), keyOne) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestTokens checks that a client token begins one conversation, and that the
// resulting tokens are valid for that conversation only.
func TestTokens(t *testing.T) {
	h := newHouse(t, hub.Options{}, func(o *Options) { o.Keys = mustKeys(t, keyOne) })
	h.key = keyOne
	other := h.begin("flights")
	token := ask[ClientToken](h, http.StatusOK, "POST", "/v1/client_tokens", "")
	if !strings.HasPrefix(token.Token, "ct_") || time.Until(token.ExpiresAt) > time.Minute {
		t.Errorf("the token is %+v", token)
	}
	h.key = token.Token
	h.refused(http.StatusUnauthorized, "bad_key", "GET", "/v1/agents", "")
	made := h.begin("flights")
	h.refused(http.StatusUnauthorized, "bad_key", "POST", "/v1/conversations", `{"transport":"text"}`)

	h.key = made.AccessToken
	h.say(made.ID, "book a flight")
	h.listen("/v1/conversations/" + made.ID + "/events?from=1").heard("fly from")
	h.refused(http.StatusNotFound, "no_such_conversation", "GET", "/v1/conversations/"+other.ID, "")
	h.refused(http.StatusForbidden, "forbidden", "GET", "/v1/conversations", "")
	h.refused(http.StatusForbidden, "forbidden", "GET", "/v1/events", "")
	// A browser's WebSocket has the token among its subprotocols.
	socket, w, err := websocket.Dial(t.Context(), h.url+"/v1/conversations/"+made.ID+"/events?from=1", &websocket.DialOptions{
		Subprotocols: []string{"hocket.events", "hocket.bearer." + made.AccessToken},
	})
	if err != nil {
		t.Fatal(err)
	}
	if w.Body != nil {
		defer w.Body.Close()
	}
	if _, _, err := socket.Read(waittest.Context(t)); err != nil || socket.Subprotocol() != "hocket.events" {
		t.Errorf("over the subprotocol %q: %v", socket.Subprotocol(), err)
	}
	_ = socket.CloseNow()
	h.refused(http.StatusForbidden, "forbidden", "POST", "/v1/client_tokens", "")
	h.refused(http.StatusForbidden, "forbidden", "POST", "/v1/conversations", `{"transport":"text"}`)
}

// TestTokenExpires checks that a client token is valid for one minute.
func TestTokenExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{o: Options{ClientTokens: tokens.NewMemory(1)}}
		token, err := s.forClient(t.Context(), who{owner: "x"}, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.forClient(t.Context(), who{owner: "x"}, ""); failureOf(err).code != "too_many_tokens" {
			t.Errorf("one too many: %v", err)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/conversations", nil)
		if err != nil {
			t.Fatal(err)
		}
		if p, ok, err := s.client(r, token); !ok || err != nil || p.owner != "x" || !p.start {
			t.Errorf("it is good for %+v, error %v", p, err)
		}
		time.Sleep(clientTokenFor + time.Second)
		if p, ok, err := s.client(r, token); ok || err != nil {
			t.Errorf("it is good for %+v, error %v", p, err)
		}
	})
}

// TestClientTokenAnywhere checks that a client token is valid once at all servers
// that share a store, that an invalid request does not spend it, and that an
// unavailable store is reported as such.
func TestClientTokenAnywhere(t *testing.T) {
	store, away := &porttest.Store{}, new(atomic.Bool)
	node := func() *house {
		h := newHouse(t, hub.Options{}, func(o *Options) {
			o.Keys = mustKeys(t, "office "+keyOne)
			o.ClientTokens = tokens.NewShared(tokens.SharedOptions{
				Store: store, Kind: "client_token", Most: 9, Limit: time.Second, Away: away.Load,
			})
		})
		h.key = keyOne
		return h
	}
	one, two := node(), node()
	token := ask[ClientToken](one, http.StatusOK, "POST", "/v1/client_tokens", `{"caller":"ann"}`)
	two.key = token.Token
	two.refused(http.StatusNotFound, "no_such_agent", "POST", "/v1/conversations", `{"transport":"text","agent":"nobody"}`)
	two.refused(http.StatusForbidden, "forbidden", "POST", "/v1/conversations", `{"transport":"text","caller":"bob"}`)
	made := two.begin("flights")
	if c, ok := two.hub.Find(made.ID); !ok || c.Owner() != "office" || c.Caller() != "office/ann" {
		t.Errorf("it is %s's, held by %s", c.Owner(), c.Caller())
	}
	for _, h := range []*house{one, two} {
		h.key = token.Token
		h.refused(http.StatusUnauthorized, "bad_key", "POST", "/v1/conversations", `{"transport":"text"}`)
	}
	one.key = keyOne
	token = ask[ClientToken](one, http.StatusOK, "POST", "/v1/client_tokens", "")
	away.Store(true)
	two.key = token.Token
	two.refused(http.StatusServiceUnavailable, "try_again", "POST", "/v1/conversations", `{"transport":"text"}`)
	if n := two.hub.Live(); n != 1 {
		t.Errorf("%d conversations", n)
	}
}

// silentHome is a home whose store does not answer.
type silentHome struct{ Home }

var errNoAnswer = errors.New("no route to the store")

func (silentHome) Access(context.Context, []byte) (string, bool, error) {
	return "", false, errNoAnswer
}

func (silentHome) Resume(context.Context, []byte) (string, bool, error) {
	return "", false, errNoAnswer
}
func (silentHome) Grant(context.Context, string, port.Grant) error { return errNoAnswer }
func (silentHome) Holder(context.Context, string) (string, bool, error) {
	return "", false, errNoAnswer
}

// TestStoreDoesNotAnswer checks that a server whose store does not answer does not call tokens invalid
// that only the store knows, and that its own tokens work.
func TestStoreDoesNotAnswer(t *testing.T) {
	h := newHouse(t, hub.Options{}, func(o *Options) { o.Keys, o.Home = mustKeys(t, keyOne), silentHome{} })
	h.key = keyOne
	made := h.begin("flights")
	h.refused(http.StatusServiceUnavailable, "try_again", "POST", "/v1/conversations", `{"resume":"rt_elsewhere"}`)
	h.refused(http.StatusServiceUnavailable, "try_again", "GET", "/v1/conversations/conv_elsewhere", "")
	h.key = made.AccessToken
	h.say(made.ID, "book a flight")
	h.key = "at_elsewhere"
	h.refused(http.StatusServiceUnavailable, "try_again", "GET", "/v1/conversations/conv_elsewhere", "")
	h.key = "ct_elsewhere"
	h.refused(http.StatusUnauthorized, "bad_key", "POST", "/v1/conversations", `{"transport":"text"}`)
}

// TestCallersOfTwoKeysShareAName checks that callers of different keys are
// distinct, whatever the names, and that a name stored by an earlier version is
// equal to the current form.
func TestCallersOfTwoKeysShareAName(t *testing.T) {
	h := newHouse(t, hub.Options{}, func(o *Options) { o.Keys = mustKeys(t, "alice/x "+keyOne+", alice "+keyTwo) })
	names := make(map[string]string)
	for _, c := range []struct{ key, caller string }{{keyOne, "ann"}, {keyTwo, "x/ann"}, {keyTwo, "x%2Fann"}, {keyOne, "%2Fann"}, {keyTwo, "ann"}} {
		h.key = c.key
		made := ask[Created](h, http.StatusCreated, "POST", "/v1/conversations", `{"transport":"text","caller":"`+c.caller+`"}`)
		running, ok := h.hub.Find(made.ID)
		if !ok {
			t.Fatal("it does not run")
		}
		if who := c.key + " and " + c.caller; names[running.Caller()] != "" {
			t.Errorf("%s is %q, as %s", who, running.Caller(), names[running.Caller()])
		} else {
			names[running.Caller()] = who
		}
	}
	for _, c := range []struct{ owner, kept, now string }{
		{"alice/x", "alice/x/ann", "alice%2Fx/ann"},
		{"alice", "alice/x/ann", "alice/x%2Fann"},
		{"alice", "alice/ann", "alice/ann"},
		{"alice", "alice/x%2Fann", "alice/x%2Fann"},
		{"alice/x", "alice%2Fx/ann", "alice%2Fx/ann"},
		{"", "", ""},
		{"", "/ann", "/ann"},
	} {
		if got := callerNow(c.owner, c.kept); got != c.now {
			t.Errorf("%q of %q is %q now, expected %q", c.kept, c.owner, got, c.now)
		}
	}
}

// TestTokensOfARemovedKey checks that removing a key invalidates all tokens issued
// in its name, and that another key of the same name keeps them valid.
func TestTokensOfARemovedKey(t *testing.T) {
	const keyNew = "0123456789abcdef-new"
	keys := mustKeys(t, "one "+keyOne+", two "+keyTwo)
	h := newHouse(t, hub.Options{}, func(o *Options) { o.Keys = keys })
	h.key = keyOne
	made := h.begin("flights")
	client := ask[ClientToken](h, http.StatusOK, "POST", "/v1/client_tokens", "")
	path, resume := "/v1/conversations/"+made.ID, `{"resume":"`+made.ResumeToken+`"}`
	keys.Replace(mustKeys(t, "one "+keyNew+", two "+keyTwo))
	h.key = made.AccessToken
	ask[hub.Details](h, http.StatusOK, "GET", path, "")
	keys.Replace(mustKeys(t, "two "+keyTwo))
	h.refused(http.StatusUnauthorized, "bad_key", "GET", path, "")
	h.refused(http.StatusUnauthorized, "bad_key", "POST", "/v1/conversations", resume)
	h.key = client.Token
	h.refused(http.StatusUnauthorized, "bad_key", "POST", "/v1/conversations", `{"transport":"text"}`)
	h.key = keyTwo
	h.refused(http.StatusNotFound, "no_such_conversation", "POST", "/v1/conversations", resume)
}

// TestWrongKeyWithoutKeys checks that a server without keys accepts requests without one and
// refuses requests with an unknown one.
func TestWrongKeyWithoutKeys(t *testing.T) {
	h := newHouse(t, hub.Options{}, nil)
	mine := h.begin("flights")
	for _, secret := range []string{"0123456789abcdef-old", "at_of-another-server", "ct_of-another-server"} {
		h.key = secret
		h.refused(http.StatusUnauthorized, "no_keys", "GET", "/v1/conversations", "")
		h.refused(http.StatusUnauthorized, "no_keys", "POST", "/v1/conversations", `{"transport":"text"}`)
		h.refused(http.StatusUnauthorized, "no_keys", "GET", "/v1/conversations/"+mine.ID, "")
	}
	h.key = mine.AccessToken
	ask[map[string]any](h, http.StatusOK, "GET", "/v1/conversations/"+mine.ID, "")
	h.key = ""
	ask[ConversationList](h, http.StatusOK, "GET", "/v1/conversations", "")
}

// TestOrigins checks that pages of other origins are refused and, without keys,
// requests for other host names.
func TestOrigins(t *testing.T) {
	const app = "https://app.example.com"
	open := newHouse(t, hub.Options{}, func(o *Options) { o.Origins = []string{app} })
	keyed := newHouse(t, hub.Options{}, func(o *Options) { o.Keys = mustKeys(t, keyOne); o.Origins = []string{app} })
	keyed.key = keyOne
	for _, c := range []struct {
		host, origin string
		open, keyed  int
	}{
		{"", "", 200, 200},
		{"localhost:8080", "http://localhost:8080", 200, 200},
		{"127.0.0.1:8080", "http://localhost:3000", 200, 200},
		{"[::1]:8080", "", 200, 200},
		{"127.0.0.1", app, 200, 200},
		{"evil.example", "", 403, 200},
		{"evil.example", "http://evil.example", 403, 200},
		{"127.0.0.1", "https://evil.example", 403, 403},
		{"127.0.0.1", "null", 403, 403},
		{"127.0.0.1", "http://127.0.0.1.evil.example", 403, 403},
		{"localhost.evil.example", "", 403, 200},
	} {
		headers := []string{"X", "y"}
		if c.host != "" {
			headers = append(headers, "Host", c.host)
		}
		if c.origin != "" {
			headers = append(headers, "Origin", c.origin)
		}
		if status, b := open.do("GET", "/v1/agents", "", headers...); status != c.open {
			t.Errorf("without keys, host %q, origin %q: %d, expected %d: %s", c.host, c.origin, status, c.open, b)
		}
		if status, b := keyed.do("GET", "/v1/agents", "", headers...); status != c.keyed {
			t.Errorf("with a key, host %q, origin %q: %d, expected %d: %s", c.host, c.origin, status, c.keyed, b)
		}
	}
	r := keyed.request("OPTIONS", "/v1/conversations", "", "Origin", app, "Access-Control-Request-Method", "POST")
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	if w.StatusCode != http.StatusNoContent || w.Header.Get("Access-Control-Allow-Origin") != app || !strings.Contains(w.Header.Get("Access-Control-Allow-Headers"), "Authorization") {
		t.Errorf("the preflight is answered with %d %v", w.StatusCode, w.Header)
	}
	if got := w.Header.Get("Access-Control-Expose-Headers"); !strings.Contains(got, "Hocket-Recording-Started") {
		t.Errorf("pages of other origins can read the headers %s", got)
	}
}

// TestResume checks that a conversation waits for its client, is resumed once with
// its token, and that the earlier client's tokens become invalid.
func TestResume(t *testing.T) {
	h := newHouse(t, hub.Options{}, func(o *Options) { o.Keys = mustKeys(t, "one "+keyOne+", two "+keyTwo) })
	h.key = keyOne
	made := h.begin("flights")
	path := "/v1/conversations/" + made.ID
	first := h.listen(path + "/events?from=1")
	first.heard("Welcome")
	h.say(made.ID, "book a flight")
	first.heard("fly from")
	if err := first.body.Close(); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the loss", nil, func() bool {
		return ask[hub.Details](h, http.StatusOK, "GET", path, "").Phase.String() == "reconnecting"
	})
	resume := `{"resume":"` + made.ResumeToken + `"}`
	h.key = keyTwo
	h.refused(http.StatusNotFound, "no_such_conversation", "POST", "/v1/conversations", resume)
	h.key = keyOne
	h.refused(http.StatusNotFound, "no_such_conversation", "POST", "/v1/conversations", `{"resume":"rt_unknown"}`)
	// The attempt with the wrong key has invalidated the token, which may have been
	// stolen.
	h.refused(http.StatusNotFound, "no_such_conversation", "POST", "/v1/conversations", resume)
	h.say(made.ID, "from boston") // a sign of life does it too
	waittest.Until(t, "the return", nil, func() bool {
		return ask[hub.Details](h, http.StatusOK, "GET", path, "").Phase.String() != "reconnecting"
	})

	other := h.begin("flights")
	h.refused(http.StatusConflict, "other_transport", "POST", "/v1/conversations", `{"resume":"`+other.ResumeToken+`","transport":"webrtc"}`)
	h.refused(http.StatusBadRequest, "bad_request", "POST", "/v1/conversations", `{"resume":"`+other.ResumeToken+`","sdp":"v=0"}`)
	h.key = other.AccessToken // what a reloaded page still has
	again := ask[Created](h, http.StatusCreated, "POST", "/v1/conversations", `{"resume":"`+other.ResumeToken+`","transport":"text"}`)
	if again.ID != other.ID || again.ResumeToken == other.ResumeToken || again.AccessToken == other.AccessToken {
		t.Errorf("it is resumed as %+v, it was %+v", again, other)
	}
	h.key = again.AccessToken
	ask[hub.Details](h, http.StatusOK, "GET", "/v1/conversations/"+other.ID, "")
	h.key = other.AccessToken // no longer, now that the next one was used
	h.refused(http.StatusUnauthorized, "bad_key", "GET", "/v1/conversations/"+other.ID, "")
	h.key = again.AccessToken
	h.refused(http.StatusNotFound, "no_such_conversation", "POST", "/v1/conversations", `{"resume":"`+other.ResumeToken+`"}`)
	h.say(again.ID, "book a flight")
	ask[Empty](h, http.StatusAccepted, "POST", "/v1/conversations/"+again.ID+"/commands", `{"type":"endConversation"}`)
	waittest.Until(t, "the end", nil, func() bool {
		return !ask[hub.Details](h, http.StatusOK, "GET", "/v1/conversations/"+again.ID, "").Ended.IsZero()
	})
	h.refused(http.StatusNotFound, "no_such_conversation", "POST", "/v1/conversations", `{"resume":"`+again.ResumeToken+`"}`)
}

// TestNobodyReturns checks that a client that does not return in time counts as
// having hung up.
func TestNobodyReturns(t *testing.T) {
	h := newHouse(t, hub.Options{}, func(o *Options) {
		o.Text = func() port.Leg { return text.New(text.Options{Linger: 200 * time.Millisecond}) }
	})
	made := h.begin("flights")
	path := "/v1/conversations/" + made.ID
	s := h.listen(path + "/events?from=1")
	s.heard("Welcome")
	if err := s.body.Close(); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the end", nil, func() bool { return !ask[hub.Details](h, http.StatusOK, "GET", path, "").Ended.IsZero() })
}

// TestOnePerCaller checks that, with the option, a second conversation of a caller
// is refused while the first runs, and that callers of another key are not
// affected.
func TestOnePerCaller(t *testing.T) {
	for _, one := range []bool{true, false} {
		h := newHouse(t, hub.Options{OnePerCaller: one}, func(o *Options) { o.Keys = mustKeys(t, "office "+keyOne+", phone "+keyTwo) })
		h.key = keyOne
		const ann = `{"transport":"text","caller":"ann"}`
		ask[Created](h, http.StatusCreated, "POST", "/v1/conversations", ann)
		if !one {
			ask[Created](h, http.StatusCreated, "POST", "/v1/conversations", ann)
			continue
		}
		h.refused(http.StatusConflict, "conversation_active", "POST", "/v1/conversations", ann)
		token := ask[ClientToken](h, http.StatusOK, "POST", "/v1/client_tokens", `{"caller":"ann"}`)
		h.key = token.Token
		h.refused(http.StatusConflict, "conversation_active", "POST", "/v1/conversations", `{"transport":"text"}`)
		h.key = keyTwo
		ask[Created](h, http.StatusCreated, "POST", "/v1/conversations", ann)
	}
}

// TestTraceOfAClient checks that an access token gives the trace without the agent,
// that a key gives all of it, and that neither reveals the files' folder.
func TestTraceOfAClient(t *testing.T) {
	h := newHouse(t, hub.Options{}, func(o *Options) { o.Keys = mustKeys(t, "office "+keyOne+"\n") })
	h.key = keyOne
	made := h.begin("flights")
	h.say(made.ID, "book a flight")
	source := base64.StdEncoding.EncodeToString([]byte(testAgent))
	path := "/v1/conversations/" + made.ID

	status, whole := h.do("GET", path+"/trace", "")
	if status != http.StatusOK || !bytes.Contains(whole, []byte(source)) {
		t.Fatalf("a key gets %d: %.200s", status, whole)
	}
	if _, err := journal.Replay(bytes.NewReader(whole), nil); err != nil {
		t.Error(err)
	}
	h.key = made.AccessToken
	status, client := h.do("GET", path+"/trace", "")
	if status != http.StatusOK || !bytes.Contains(client, []byte(`"agent_withheld":true`)) {
		t.Fatalf("a token gets %d: %.200s", status, client)
	}
	steps := h.listen(path + "/events?steps=1&from=1")
	for seen := 0; seen < 3; {
		m, err := steps.next()
		if err != nil {
			t.Fatal(err)
		}
		if m.Type == hub.TypeStep {
			client = append(client, m.Payload...)
			seen++
		}
	}
	for what, b := range map[string][]byte{"a key": whole, "a token": client} {
		if bytes.Contains(b, []byte("/srv/office")) {
			t.Errorf("%s is told where the agent's files are: %.300s", what, b)
		}
	}
	if bytes.Contains(client, []byte(source[:40])) {
		t.Errorf("a token gets the agent's source: %.300s", client)
	}
	_, client = h.do("GET", path+"/trace", "")
	if _, err := journal.Replay(bytes.NewReader(client), nil); !errors.Is(err, journal.ErrWithheld) {
		t.Errorf("without the agent: %v", err)
	}
	p := journal.Player{Agent: []agent.File{{Name: "./agent.yaml", Data: []byte(testAgent)}}}
	if err := p.Play(bytes.NewReader(client)); err != nil || p.Steps < 3 {
		t.Errorf("with the agent: %d steps, error %v", p.Steps, err)
	}
	p.Agent = []agent.File{{Name: "agent.yaml", Data: []byte(testAgent + "\n")}}
	if err := p.Play(bytes.NewReader(client)); err == nil || !strings.Contains(err.Error(), "differ from those of the recorded conversation") {
		t.Errorf("with another agent: %v", err)
	}
}

// TestFirstStreamMissesNothing checks that the first stream of a conversation has the greeting,
// however late it is opened, without being asked for the beginning; the next one has what
// follows.
func TestFirstStreamMissesNothing(t *testing.T) {
	h := newHouse(t, hub.Options{}, nil)
	made := h.begin("flights")
	path := "/v1/conversations/" + made.ID
	other := h.begin("flights")
	h.say(made.ID, "book a flight") // the greeting is over when this is answered
	for answered := false; !answered; {
		_, trace := h.do("GET", path+"/trace", "")
		answered = strings.Contains(string(trace), "fly from")
	}
	first := h.listen(path + "/events")
	first.heard("Welcome")
	first.heard("fly from")
	h.listen("/v1/conversations/" + other.ID + "/events").heard("Welcome")
}
