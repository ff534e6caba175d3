//go:build unix

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hocketvoice/hocket/internal/waittest"
)

// house is a set of servers that share a PostgreSQL database.
type house struct {
	nodes   []*node
	service *agency
	url     string // of the service
	store   string
}

func newHouse(t *testing.T, nodes int, database string) *house {
	t.Helper()
	h := &house{store: database}
	var url string
	h.service, url = newAgency(t, rand.New(rand.NewPCG(7, 1)))
	h.url = url
	agent := tripFile(t)
	for i := range nodes {
		// A name without a process number does not show that the process has died, so
		// other nodes wait, as they would for another machine.
		n := newNode(t, agent, database, fmt.Sprintf(", node: node%d", i), "TRIP_URL="+url)
		n.start()
		h.nodes = append(h.nodes, n)
	}
	return h
}

// from returns the servers' URLs for a caller who connects to the i-th first.
func (h *house) from(i int) []string {
	var urls []string
	for k := range h.nodes {
		urls = append(urls, h.nodes[(i+k)%len(h.nodes)].url)
	}
	return urls
}

// TestThreeNodes kills one of three servers that share a database and have a hundred
// conversations. Each of its callers must be talking again within ten seconds, with
// another server, and each trip must be booked once.
func TestThreeNodes(t *testing.T) {
	callers := 100
	switch {
	case testing.Short():
		callers = 12
	case raceDetector: // three slow servers at once
		callers = 30
	}
	h := newHouse(t, 3, server.Database(t))
	var begun, moved sync.WaitGroup
	var mu sync.Mutex
	var away []time.Duration
	var delegated atomic.Int32
	doomed := h.nodes[0].url
	begun.Add(callers)
	var all sync.WaitGroup
	for i := range callers {
		moved.Add(1)
		all.Go(func() {
			once := sync.OnceFunc(begun.Done)
			defer moved.Done()
			defer once()
			v := &traveller{caller: &caller{t: t, urls: h.from(i)}}
			if !v.call(map[string]any{"transport": "text"}) || !v.follow() {
				v.fail("a conversation does not begin")
			}
			v.eachPhase = func(phase string) {
				if phase == "processing.delegated" {
					delegated.Add(1)
				}
				if phase != "listening.ready" {
					once() // the first line was said
				}
			}
			v.travel(func() {
				lost := time.Now()
				was := v.urls[0]
				v.comeBack()
				mu.Lock()
				defer mu.Unlock()
				if away = append(away, time.Since(lost)); was != doomed {
					t.Errorf("a caller of another server was cut off")
				}
			})
			v.arrived(h.service)
		})
	}
	begun.Wait()
	h.nodes[0].kill()
	all.Wait()
	if len(away) == 0 {
		t.Fatal("nobody was cut off")
	}
	slices.Sort(away)
	t.Logf("%d of %d callers were cut off, and talked again after %v (median), %v (the last); %d delegations",
		len(away), callers, away[len(away)/2].Round(time.Millisecond), away[len(away)-1].Round(time.Millisecond), delegated.Load())
}

// TestForwarded checks that a request to a server that does not hold the conversation
// is forwarded, and so are an event stream and a client that returns while its
// conversation is running.
func TestForwarded(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 2, server.Database(t))
	v := &traveller{caller: &caller{t: t, urls: h.from(0)}}
	if !v.call(map[string]any{"transport": "text"}) {
		t.Fatal("a conversation does not begin")
	}
	v.urls = h.from(1)
	if !v.follow() {
		t.Fatal("the stream is not sent on")
	}
	v.travel(func() { t.Fatal("the stream has ended") })
	v.leave()
	v.comeBack()
	v.say("what can you do")
	for m := range v.events {
		if m.Type == "caption" && m.Payload.Final {
			break
		}
	}
	v.arrived(h.service)
}

// realtimeClient is a client of the OpenAI Realtime protocol that reads and types.
type realtimeClient struct {
	t     *testing.T
	query string // more of the address
	conn  *websocket.Conn
	id    string
	back  string // the token with which it returns
}

// dial connects, with a token if it is not empty. It fails while no server can take the
// conversation.
func (c *realtimeClient) dial(url, token string) error {
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	o := &websocket.DialOptions{HTTPHeader: http.Header{}}
	if token != "" {
		o.HTTPHeader.Set("Hocket-Resume-Token", token)
	}
	conn, resp, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(url, "http")+"/v1/realtime?model=trip"+c.query, o) //nolint:bodyclose // the library closes the body
	if err != nil {
		return err
	}
	conn.SetReadLimit(1 << 20)
	if id := resp.Header.Get("Hocket-Conversation"); c.id != "" && c.id != id {
		c.t.Fatalf("it went on as %s, it was %s", id, c.id)
	} else {
		c.id = id
	}
	c.conn, c.back = conn, resp.Header.Get("Hocket-Resume-Token")
	return nil
}

// say types a line and requests an answer as text.
func (c *realtimeClient) say(text string) {
	c.t.Helper()
	for _, ev := range []string{
		`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":` + strconv.Quote(text) + `}]}}`,
		`{"type":"response.create","response":{"output_modalities":["text"]}}`,
	} {
		if err := c.conn.Write(c.t.Context(), websocket.MessageText, []byte(ev)); err != nil {
			c.t.Fatal(err)
		}
	}
}

// hears waits for an event that contains the words, and returns it.
func (c *realtimeClient) hears(words string) string {
	c.t.Helper()
	var events []string
	ctx := waittest.Context(c.t)
	for {
		_, b, err := c.conn.Read(ctx)
		if err != nil {
			c.t.Fatalf("%q does not come: %v; there was %s", words, err, events)
		}
		events = append(events, string(b[:min(len(b), 300)]))
		if strings.Contains(string(b), words) {
			return string(b)
		}
	}
}

// quiet waits until no event has arrived for a while.
func (c *realtimeClient) quiet() {
	events := make(chan struct{}, 64)
	ctx := c.t.Context()
	go func() {
		defer close(events)
		for {
			_, b, err := c.conn.Read(ctx)
			if err != nil {
				return
			}
			events <- struct{}{}
			if strings.Contains(string(b), `"type":"session.updated"`) {
				return
			}
		}
	}()
	for {
		timer := time.NewTimer(1500 * time.Millisecond)
		select {
		case _, ok := <-events:
			timer.Stop()
			if !ok {
				return
			}
		case <-timer.C:
			// The reader ends with the answer to this event.
			if err := c.conn.Write(ctx, websocket.MessageText, []byte(`{"type":"session.update","session":{"type":"realtime"}}`)); err != nil {
				return
			}
			for range events {
				continue
			}
			return
		}
	}
}

// TestRealtimeClientMoves checks that a client of the OpenAI Realtime protocol whose
// connection breaks can return through another server, and to another server when its
// own is killed.
func TestRealtimeClientMoves(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 2, server.Database(t))
	var agents struct{ Agents []struct{ Speech bool } }
	if err := (&caller{t: t, urls: h.from(0)}).get("/v1/agents", &agents); err != nil {
		t.Fatal(err)
	}
	if !agents.Agents[0].Speech {
		t.Skip("this build has no voice: the protocol's conversations want one")
	}
	c := &realtimeClient{t: t}
	if err := c.dial(h.nodes[0].url, ""); err != nil {
		t.Fatal(err)
	}
	c.hears("session.created")
	c.say("hello")
	c.hears("response.done")
	c.say("I want a trip")
	c.hears("Where do you want to go?")
	if err := c.conn.CloseNow(); err != nil {
		t.Fatal(err)
	}
	if err := c.dial(h.nodes[1].url, c.back); err != nil { // forwarded to the first
		t.Fatal(err)
	}
	c.hears("Where do you want to go?")                    // earlier lines are sent again
	waittest.Until(t, "the checkpoint", nil, func() bool { // it is written asynchronously
		var details struct{ Lines []struct{ Text string } }
		err := (&caller{t: t, urls: h.from(1)}).get("/v1/stored/"+c.id, &details)
		return err == nil && len(details.Lines) > 0 && strings.Contains(details.Lines[len(details.Lines)-1].Text, "Where do you want to go?")
	})
	h.nodes[0].kill()
	token := c.back
	waittest.Until(t, "the return", nil, func() bool { return c.dial(h.nodes[1].url, token) == nil })
	c.hears("Where do you want to go?")
	c.quiet() // what the killed server was saying is repeated
	c.say("to Denver")
	c.hears("It costs 200 dollars")
	if err := c.conn.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Fatal(err)
	}
}

// TestFullServer checks that a server without room leaves a client's token valid for
// another server.
func TestFullServer(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 1, server.Database(t))
	v := &traveller{caller: &caller{t: t, urls: h.from(0)}}
	if !v.call(map[string]any{"transport": "text"}) || !v.follow() {
		t.Fatal("a conversation does not begin")
	}
	full := newNode(t, tripFile(t), h.store, ", node: full, max_conversations: 1", "TRIP_URL="+h.url)
	full.start()
	other := &caller{t: t, urls: []string{full.url}}
	if !other.call(map[string]any{"transport": "text"}) {
		t.Fatal("the second server takes nobody")
	}
	h.nodes[0].kill()
	v.leave()
	v.urls = []string{full.url}
	waittest.Until(t, "the end of the killed server's hold", nil, func() bool {
		var failure struct{ Error struct{ Code string } }
		b, err := v.refusal(map[string]any{"resume": v.resume})
		return err == nil && json.Unmarshal(b, &failure) == nil && failure.Error.Code != "try_again"
	})
	h.nodes[0].start()
	v.urls = h.from(0)
	v.comeBack()
	v.travel(func() { v.fail("the stream has ended") })
	v.arrived(h.service)
}

// TestLostAnswer checks that a client that did not receive the answer to its return can
// return again with the same token, and that the token becomes invalid when the client
// uses the new ones.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 1, server.Database(t))
	v := &traveller{caller: &caller{t: t, urls: h.from(0)}}
	if !v.call(map[string]any{"transport": "text"}) || !v.follow() {
		t.Fatal("a conversation does not begin")
	}
	v.leave()
	for _, died := range []bool{false, true} {
		if died {
			h.nodes[0].kill()
			h.nodes[0].start()
		}
		token := v.resume
		v.comeBack()
		v.leave() // opening the stream has used the access token
		var b []byte
		waittest.Until(t, "a clear answer", nil, func() bool { // a server that has just started is not sure
			var err error
			b, err = v.refusal(map[string]any{"resume": token})
			return err == nil && !bytes.Contains(b, []byte("try_again"))
		})
		if !bytes.Contains(b, []byte("no_such_conversation")) {
			t.Errorf("a spent token: %s", b)
		}
		token = v.resume
		for range 2 { // the first answer is lost
			v.resume = token
			if !v.call(map[string]any{"resume": token}) {
				t.Error("it is not let in again")
			}
		}
	}
}

// TestDrain checks that a server that is stopped hands its conversations over: the
// agent does not say goodbye, and the callers continue with another server.
func TestDrain(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 2, server.Database(t))
	v := &traveller{caller: &caller{t: t, urls: h.from(0)}}
	if !v.call(map[string]any{"transport": "text"}) || !v.follow() {
		t.Fatal("a conversation does not begin")
	}
	v.eachPhase = func(phase string) {
		if phase == "processing.delegated" && h.nodes[0].cmd != nil {
			h.nodes[0].stop()
		}
	}
	moved := 0
	v.travel(func() {
		moved++
		v.comeBack()
	})
	if v.arrived(h.service); moved != 1 {
		t.Errorf("the caller moved %d times", moved)
	}
}

// TestDatabaseAway stops the database for ten seconds during conversations. They must
// continue, the callers must be notified, and everything must be stored afterwards.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	proxy, through := server.Proxy(t, server.Database(t))
	h := newHouse(t, 1, through)
	outage := 10 * time.Second
	if testing.Short() {
		outage = 3 * time.Second
	}
	var travellers []*traveller
	for range 5 {
		v := &traveller{caller: &caller{t: t, urls: h.from(0)}}
		if !v.call(map[string]any{"transport": "text"}) || !v.follow() {
			t.Fatal("a conversation does not begin")
		}
		travellers = append(travellers, v)
	}
	proxy.Die()
	back := time.After(outage)
	waittest.Until(t, "a server that says that its store is away", nil, func() bool {
		resp, err := http.Get(h.nodes[0].url + "/readyz")
		if err != nil {
			return false
		}
		_ = resp.Body.Close() // only the status is needed
		return resp.StatusCode == http.StatusServiceUnavailable
	})
	for _, v := range travellers {
		v.say("I want a trip")
		v.codes = make(map[string]bool)
		for m := range v.events {
			if m.Type == "agentvoice.notification" {
				v.codes[m.Payload.Code] = true
			}
			if m.Type == "caption" && m.Payload.Final && m.Payload.Text == "Where do you want to go?" {
				break // the conversation continues without a database
			}
		}
	}
	<-back
	proxy.Revive()
	var all sync.WaitGroup
	for _, v := range travellers {
		all.Go(func() {
			v.say("to Denver")
			v.travel(func() { v.fail("a conversation was lost") })
			v.arrived(h.service)
		})
	}
	all.Wait()
	for _, v := range travellers {
		if testing.Short() {
			break // the database returns before a save fails
		}
		if !v.codes["store.behind"] || !v.codes["store.caught_up"] {
			t.Errorf("a caller was told %v, expected store.behind and store.caught_up", v.codes)
		}
	}
	// What was said is stored: the server is killed, and a caller returns.
	v := travellers[0]
	h.nodes[0].kill()
	h.nodes[0].start()
	v.comeBack()
	v.kept(h.service)
	v.leave()
}
