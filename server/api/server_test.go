package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/internal/messages"
	"github.com/hocketvoice/hocket/internal/seeds"
	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/leg/text"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/session"
	"github.com/hocketvoice/hocket/turn"
)

// house is a server with the agent of the tests, over real sockets.
type house struct {
	t    *testing.T
	url  string
	hub  *hub.Hub
	api  *Server
	log  *safeBuffer
	keys *Keys
	key  string // that requests carry; may be empty
	http *httptest.Server
	call func(*hub.Call) // changes what a conversation is begun with; may be nil
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// textCall describes a conversation by text with the agent of the tests.
func textCall(t *testing.T, privacy conv.Privacy) hub.Call { return textCallOf(t, testAgent, privacy) }

// textCallOf describes a conversation by text with the agent of a source.
func textCallOf(t *testing.T, source string, privacy conv.Privacy) hub.Call {
	files := []agent.File{{Name: "/srv/office/agents/agent.yaml", Data: []byte(source)}}
	agent, problems := dialog.Parse(files)
	if agent == nil {
		t.Fatal(problems)
	}
	return hub.Call{
		Agent: "flights", Transport: "text", Privacy: privacy,
		Session: func(c *hub.Conversation) (*session.Session, error) {
			return session.New(session.Options{
				ID: c.ID(), Leg: c.Leg(), Trace: c.Recorder(), TraceLive: true, AgentFiles: files, Text: true,
				Conv: conv.Options{
					Agent: agent, Endpoint: "manual", Privacy: privacy, DeadAir: turn.DeadAirOptions{Off: true},
					Limits: conv.Limits{Grace: 50 * time.Millisecond},
				},
			})
		},
	}
}

// newHouse opens a server; change may change its options.
func newHouse(t *testing.T, limits hub.Options, change func(*Options)) *house {
	t.Helper()
	h := &house{t: t, log: &safeBuffer{}}
	log := slog.New(slog.NewJSONHandler(h.log, nil))
	limits.Log = log
	var err error
	if h.hub, err = hub.New(limits); err != nil {
		t.Fatal(err)
	}
	o := Options{
		Hub: h.hub, Agents: func() []Agent {
			return []Agent{{Name: "flights", Title: "Flights", Language: "en"}, {Name: "secret", Title: "Secret", Language: "en"}}
		},
		Call: func(agent, _ string) (hub.Call, error) {
			call := textCall(t, conv.PrivacyKeep)
			if agent == "secret" {
				call = textCall(t, conv.PrivacyNone)
			}
			if h.call != nil {
				h.call(&call)
			}
			return call, nil
		},
		Text:    func() port.Leg { return text.New(text.Options{}) },
		Panel:   fstest.MapFS{"index.html": {Data: []byte("<title>panel</title>")}},
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "x 1\n") }),
		Log:     log,
	}
	if change != nil {
		change(&o)
	}
	h.keys = o.Keys
	if h.api, err = New(o); err != nil {
		t.Fatal(err)
	}
	h.http = httptest.NewServer(h.api)
	h.url = h.http.URL
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		h.hub.Drain(ctx, 5*time.Second)
		h.http.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return h
}

// do makes a request, and returns status and body.
func (h *house) do(method, path, body string, headers ...string) (int, []byte) {
	h.t.Helper()
	r := h.request(method, path, body, headers...)
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer w.Body.Close()
	b, err := io.ReadAll(w.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return w.StatusCode, b
}

func (h *house) request(method, path, body string, headers ...string) *http.Request {
	h.t.Helper()
	r, err := http.NewRequestWithContext(waittest.Context(h.t), method, h.url+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	if h.key != "" {
		r.Header.Set("Authorization", "Bearer "+h.key)
	}
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	return r
}

// ask makes a request, checks the status of the answer, and reads the answer.
func ask[T any](h *house, status int, method, path, body string, headers ...string) T {
	h.t.Helper()
	got, b := h.do(method, path, body, headers...)
	if got != status {
		h.t.Fatalf("%s %s %.100s: status %d, expected %d: %s", method, path, body, got, status, b)
	}
	var v T
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		h.t.Fatalf("%s %s: %v: %s", method, path, err, b)
	}
	return v
}

// refused makes a request and checks that it is refused with a status and a code.
func (h *house) refused(status int, code, method, path, body string, headers ...string) {
	h.t.Helper()
	f := ask[Failure](h, status, method, path, body, headers...)
	if f.Error.Code != code || f.Error.Message == "" {
		h.t.Errorf("%s %s %.100s: code %q, expected %q: %s", method, path, body, f.Error.Code, code, f.Error.Message)
	}
}

// begin begins a conversation by text.
func (h *house) begin(agent string) Created {
	h.t.Helper()
	return ask[Created](h, http.StatusCreated, "POST", "/v1/conversations", `{"agent":"`+agent+`","transport":"text"}`)
}

// say sends a line.
func (h *house) say(id, line string) {
	h.t.Helper()
	ask[Empty](h, http.StatusAccepted, "POST", "/v1/conversations/"+id+"/commands", `{"type":"send_text","text":"`+line+`"}`)
}

// stream is an event stream that a test reads.
type stream struct {
	t     *testing.T
	lines *bufio.Reader
	body  io.Closer
	seen  []hub.Message
}

// listen opens an event stream.
func (h *house) listen(path string, headers ...string) *stream {
	h.t.Helper()
	w, err := http.DefaultClient.Do(h.request("GET", path, "", headers...))
	if err != nil {
		h.t.Fatal(err)
	}
	if w.StatusCode != http.StatusOK || w.Header.Get("Content-Type") != "text/event-stream" {
		b, _ := io.ReadAll(w.Body)
		h.t.Fatalf("GET %s: status %d: %s", path, w.StatusCode, b)
	}
	s := &stream{t: h.t, lines: bufio.NewReader(w.Body), body: w.Body}
	h.t.Cleanup(func() { _ = w.Body.Close() })
	return s
}

// next returns the next message; io.EOF ends the stream.
func (s *stream) next() (hub.Message, error) {
	ended := false
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return hub.Message{}, err
		}
		line = strings.TrimSuffix(line, "\n")
		if line == "event: end" {
			ended = true
		}
		data, ok := strings.CutPrefix(line, "data: ")
		switch {
		case !ok:
			continue
		case ended:
			return hub.Message{}, io.EOF
		}
		var m hub.Message
		d := json.NewDecoder(strings.NewReader(data))
		d.DisallowUnknownFields()
		if err := d.Decode(&m); err != nil {
			s.t.Fatalf("%s: %v", line, err)
		}
		s.seen = append(s.seen, m)
		return m, nil
	}
}

// until reads up to a message that fits.
func (s *stream) until(what string, fits func(hub.Message) bool) hub.Message {
	s.t.Helper()
	for {
		m, err := s.next()
		if err != nil {
			s.t.Fatalf("waiting for %s: %v", what, err)
		}
		if fits(m) {
			return m
		}
	}
}

// heard waits until the agent has said a text that contains words.
func (s *stream) heard(words string) hub.Caption {
	s.t.Helper()
	var c hub.Caption
	s.until(words, func(m hub.Message) bool {
		c = hub.Caption{}
		return m.Type == hub.TypeCaption && json.Unmarshal(m.Payload, &c) == nil && c.Final && strings.Contains(c.Text, words)
	})
	return c
}

// TestConversation holds a conversation by text over HTTP.
func TestConversation(t *testing.T) {
	h := newHouse(t, hub.Options{}, nil)
	list := h.listen("/v1/events")
	made := h.begin("flights")
	events := h.listen("/v1/conversations/" + made.ID + "/events?from=1")
	if c := events.heard("Welcome to the airline"); c.Heard != c.Text || c.Unheard != "" {
		t.Errorf("the greeting was not heard whole: %+v", c)
	}
	h.say(made.ID, "book a flight from boston to denver")
	events.heard("day")
	h.say(made.ID, "on friday")
	events.heard("Boston to Denver")

	d := ask[hub.Details](h, http.StatusOK, "GET", "/v1/conversations/"+made.ID, "")
	if d.Agent != "flights" || d.Transport != "text" || d.Metrics.UserTurns != 2 || len(d.Timings) != 2 || len(d.Transitions) < 10 {
		t.Errorf("details %+v", d)
	}
	all := ask[ConversationList](h, http.StatusOK, "GET", "/v1/conversations", "")
	if len(all.Conversations) != 1 || all.Conversations[0].ID != made.ID || all.Conversations[0].Label == "" {
		t.Errorf("the list is %+v", all)
	}

	ask[Empty](h, http.StatusAccepted, "POST", "/v1/conversations/"+made.ID+"/commands", `{"type":"endConversation","reason":"done"}`)
	for {
		if _, err := events.next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	list.until("the end in the list", func(m hub.Message) bool { return m.Type == hub.TypeEnded })
	for i, m := range events.seen {
		if i > 0 && m.Seq <= events.seen[i-1].Seq {
			t.Errorf("message %d follows message %d", m.Seq, events.seen[i-1].Seq)
		}
	}
	d = ask[hub.Details](h, http.StatusOK, "GET", "/v1/conversations/"+made.ID, "")
	if d.Ended.IsZero() || d.Reason != "user.stop" || d.State != "idle" {
		t.Errorf("behind its end it is %+v", d.Info)
	}
	h.refused(http.StatusConflict, "conversation_ended", "POST", "/v1/conversations/"+made.ID+"/commands", `{"type":"interrupt"}`)
	if strings.Contains(h.log.String(), "boston") || strings.Contains(h.log.String(), "Welcome") {
		t.Errorf("the log holds what was said:\n%s", h.log)
	}
}

// TestSeedMessages checks that the messages of the seeds have exactly the seeds' fields, with
// the expected values: the state's words and turn, the time of the change, the duration of
// turns and states. A reply by text is over at once: nothing interrupts it.
func TestSeedMessages(t *testing.T) {
	h := newHouse(t, hub.Options{}, nil)
	made := h.begin("flights")
	events := h.listen("/v1/conversations/" + made.ID + "/events?from=1")
	events.heard("Welcome")
	h.say(made.ID, "book a flight")
	events.heard("fly from")
	h.say(made.ID, "from boston")
	events.heard("fly to")
	fields := map[string][]string{
		hub.TypeState: {"localizedLabel", "metadata", "since", "state", "turnId"},
		hub.TypeTurn:  {"confidence", "durationMs", "event", "role", "turnId"},
		hub.TypeEnter: {"context", "state"},
		hub.TypeExit:  {"duration", "state"},
	}
	states := make([]string, 0, 16)
	values := newSeedValues(t)
	for _, m := range events.seen {
		var payload map[string]any
		if err := json.Unmarshal(m.Payload, &payload); err != nil {
			t.Fatal(err)
		}
		if m.Type == hub.TypeState {
			state, _ := payload["state"].(string)
			states = append(states, state)
		}
		want, ok := fields[m.Type]
		if !ok {
			continue
		}
		var got []string
		for k := range payload {
			got = append(got, k)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s has the fields %v, expected %v", m.Type, got, want)
		}
		values.check(m, payload)
	}
	if values.ended < 3 || values.exits < 3 {
		t.Errorf("%d turns ended, %d states were left: nothing was compared", values.ended, values.exits)
	}
	if want := []string{"preparing", "listening", "processing", "speaking", "listening", "processing", "speaking"}; len(states) < len(want) || !slices.Equal(states[:len(want)], want) {
		t.Errorf("the states are %v, expected to begin with %v", states, want)
	}
}

// seedValues follows the messages of one conversation.
type seedValues struct {
	t             *testing.T
	states        map[string]bool // of seed 000
	words         *messages.Catalog
	interruptions float64
	turns         map[string]float64 // when each began, in milliseconds since the start
	state         string             // of seed 001, that was entered
	entered       float64
	since         time.Time
	ended, exits  int
}

func newSeedValues(t *testing.T) *seedValues {
	t.Helper()
	var f struct{ States []string }
	seeds.Load(t, "agent-voice", &f)
	words, err := messages.Lookup("en")
	if err != nil {
		t.Fatal(err)
	}
	v := &seedValues{t: t, words: words, states: make(map[string]bool), turns: make(map[string]float64)}
	for _, s := range f.States {
		v.states[s] = true
	}
	return v
}

// near reports whether two times of one message agree to the millisecond.
func near(a, b float64) bool { return a-b < 1 && b-a < 1 }

func (v *seedValues) check(m hub.Message, p map[string]any) {
	v.t.Helper()
	text := func(name string) string { s, _ := p[name].(string); return s }
	number := func(name string) float64 { n, _ := p[name].(float64); return n }
	switch m.Type {
	case hub.TypeState:
		state, meta := text("state"), p["metadata"].(map[string]any)
		if !v.states[state] || text("localizedLabel") == "" || text("localizedLabel") != v.words.Text("state."+state) {
			v.t.Errorf("state %q has the words %q, the catalog has %q", state, text("localizedLabel"), v.words.Text("state."+state))
		}
		since, err := time.Parse(time.RFC3339Nano, text("since"))
		if err != nil || since.Before(v.since) {
			v.t.Errorf("state %s since %v, behind one since %v: %v", state, since, v.since, err)
		}
		v.since = since
		if _, begun := v.turns[text("turnId")]; p["turnId"] != nil && state == "speaking" && !begun {
			v.t.Errorf("state %s is of %s, which has not begun", state, text("turnId"))
		}
		if got := meta["interruptionCount"]; got != v.interruptions && state != "interrupted" {
			v.t.Errorf("state %s after %v interruptions has %v", state, v.interruptions, got)
		}
	case hub.TypeTurn:
		id := text("turnId")
		began, open := v.turns[id]
		switch what := text("event"); {
		case text("role") != "user" && text("role") != "assistant":
			v.t.Errorf("%s of %q", what, text("role"))
		case number("confidence") < 0 || number("confidence") > 1:
			v.t.Errorf("%s with the confidence %v", what, number("confidence"))
		case what == "turn-started" && open || what != "turn-started" && !open:
			v.t.Errorf("%s of %s, begun: %v", what, id, open)
		case what == "turn-started":
			v.turns[id] = m.At
		default:
			if v.ended++; !near(number("durationMs"), m.At-began) {
				v.t.Errorf("%s of %s after %v ms, it began %v ms ago", what, id, number("durationMs"), m.At-began)
			}
			if what == "turn-completed" && text("role") == "user" && number("confidence") != 1 {
				v.t.Errorf("what was typed has the confidence %v", number("confidence"))
			}
			if what == "turn-interrupted" {
				v.interruptions++
			}
		}
	case hub.TypeEnter:
		v.state, v.entered = text("state"), m.At
	case hub.TypeExit:
		if v.state == "" {
			return // the state that it began in
		}
		if v.exits++; text("state") != v.state || !near(number("duration"), m.At-v.entered) {
			v.t.Errorf("%s is left after %v ms; %s was entered %v ms ago", text("state"), number("duration"), v.state, m.At-v.entered)
		}
	}
}

// TestTrace checks that a downloaded trace replays and that steps are its lines.
func TestTrace(t *testing.T) {
	h := newHouse(t, hub.Options{}, nil)
	made := h.begin("flights")
	events := h.listen("/v1/conversations/" + made.ID + "/events?from=1&steps=1")
	events.heard("Welcome")
	_, trace := h.do("GET", "/v1/conversations/"+made.ID+"/trace", "")
	lines := bytes.Split(bytes.TrimSpace(trace), []byte("\n"))
	n := 1 // behind the header
	for _, m := range events.seen {
		if m.Type != hub.TypeStep {
			continue
		}
		if n < len(lines) && !bytes.Equal(bytes.TrimSpace(m.Payload), lines[n]) {
			t.Errorf("step %d is %s, in the trace it is %s", n, m.Payload, lines[n])
		}
		n++
	}
	if n < 5 || len(lines) < n {
		t.Errorf("%d steps, and %d lines of the trace", n-1, len(lines))
	}
	secret := h.begin("secret")
	h.refused(http.StatusForbidden, "private", "GET", "/v1/conversations/"+secret.ID+"/trace", "")
}

// TestPrivacyNone checks that a client that connects later cannot read earlier
// words.
func TestPrivacyNone(t *testing.T) {
	h := newHouse(t, hub.Options{}, nil)
	made := h.begin("secret")
	first := h.listen("/v1/conversations/" + made.ID + "/events?from=1")
	first.until("the greeting's end", func(m hub.Message) bool {
		return m.Type == hub.TypeTurn && strings.Contains(string(m.Payload), "turn-completed")
	})
	h.say(made.ID, "book a flight")
	first.heard("fly from")
	later := h.listen("/v1/conversations/" + made.ID + "/events?from=1")
	h.say(made.ID, "from boston")
	later.heard("fly to")
	for _, m := range later.seen {
		if strings.Contains(string(m.Payload), "book a flight") || strings.Contains(string(m.Payload), "fly from") {
			t.Errorf("it was told later: %s", m.Payload)
		}
	}
	ask[Empty](h, http.StatusAccepted, "POST", "/v1/conversations/"+made.ID+"/commands", `{"type":"endConversation"}`)
	for {
		if _, err := later.next(); err != nil {
			break
		}
	}
	behind := h.listen("/v1/conversations/" + made.ID + "/events?from=1")
	for {
		m, err := behind.next()
		if err != nil {
			break
		}
		if m.Type == hub.TypeTranscript || m.Type == hub.TypeCaption {
			t.Errorf("behind the end there is %s", m.Payload)
		}
	}
	if len(behind.seen) == 0 {
		t.Error("nothing is remembered")
	}
}

func encodeMessage(t *testing.T, m hub.Message) []byte {
	t.Helper()
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
