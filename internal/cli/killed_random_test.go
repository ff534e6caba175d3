//go:build unix

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/waittest"
)

// killsEnv is the environment variable with the number of kills of the tests in this
// file: `HOCKET_KILLS=500 go test ./internal/cli -run AtRandomMoments -timeout 2h`,
// part of `make soak`.
const killsEnv = "HOCKET_KILLS"

// killsWanted returns the number of kills.
func killsWanted(t *testing.T) int {
	t.Helper()
	text := os.Getenv(killsEnv)
	if text == "" {
		return 8
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q, expected a number", killsEnv, text)
	}
	return n
}

// siege is a set of callers whose servers are killed at random times, including the
// times of their returns, and what has become of them.
type siege struct {
	t       *testing.T
	service *agency
	nodes   []*node
	began   time.Time
	over    atomic.Bool   // no more kills
	events  chan struct{} // receives a token for each message and answer that a caller gets, while pass is running

	// unkept counts turns that were answered after the client was told that they are
	// not stored.
	conversations, resumes, answered, unkept, lost, twice, outOfReach atomic.Int64

	mu     sync.Mutex // guards deeds
	deeds  []string   // what was done to the servers and the database, with times
	report string     // the folder of the findings; see find
}

func newSiege(t *testing.T, service *agency, nodes ...*node) *siege {
	return &siege{t: t, service: service, nodes: nodes, began: time.Now(), events: make(chan struct{})}
}

// since returns an entry of a record, with its time.
func (s *siege) since(format string, args ...any) string {
	return fmt.Sprintf("%10.3f s  ", time.Since(s.began).Seconds()) + fmt.Sprintf(format, args...)
}

// does records what is done to the servers.
func (s *siege) does(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deeds = append(s.deeds, s.since(format, args...))
}

// find reports a violation. It writes both sides of the conversation into a folder that
// outlives the test: what the caller saw and did, what was done to the servers, the
// stored trace, and the servers' logs.
func (s *siege) find(v *traveller, story []string, format string, args ...any) {
	finding := fmt.Sprintf(v.id+": "+format, args...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.report == "" {
		var err error
		if s.report, err = os.MkdirTemp("", "hocket-kills-"); err != nil { // t.TempDir would be removed
			s.t.Errorf("%s: %v", finding, err)
			return
		}
	}
	var kept any
	if err := v.get("/v1/stored/"+v.id, &kept); err != nil {
		kept = err.Error()
	}
	lines, err := json.MarshalIndent(kept, "", " ")
	if err != nil {
		s.t.Error(err)
	}
	text := finding + "\n\nThe caller:\n" + strings.Join(story, "\n") + "\n\nThe servers:\n" + strings.Join(s.deeds, "\n") + "\n\nKept:\n" + string(lines) + "\n"
	for name, b := range map[string][]byte{".txt": []byte(text), ".trace.jsonl": v.trace()} {
		if err := os.WriteFile(filepath.Join(s.report, v.id+name), b, 0o600); err != nil {
			s.t.Error(err)
		}
	}
	s.t.Errorf("%s; both sides are in %s", finding, filepath.Join(s.report, v.id))
}

// keepLogs copies the servers' logs if there is a finding.
func (s *siege) keepLogs() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, n := range s.nodes {
		if s.report == "" {
			return
		}
		path := filepath.Join(s.report, fmt.Sprintf("node%d.log", i))
		b, err := os.ReadFile(n.log.Name())
		if err == nil {
			err = os.WriteFile(path, b, 0o600)
		}
		if err != nil {
			s.t.Error(err)
		}
	}
}

// trace returns the stored trace of the caller's conversation.
func (c *caller) trace() []byte {
	resp, err := http.Get(c.urls[0] + "/v1/stored/" + c.id + "/trace")
	if err != nil {
		return []byte(err.Error())
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return []byte(err.Error())
	}
	return b
}

// happened counts a message or an answer.
func (s *siege) happened() {
	select {
	case s.events <- struct{}{}:
	default: // pass is not running
	}
}

// pass waits for a number of messages and answers.
func (s *siege) pass(events int) {
	s.t.Helper()
	over := timeUp(s.t)
	for n := range events {
		select {
		case <-s.events:
		case <-over:
			s.t.Fatalf("waited in vain for a message to any of the callers: %d of %d came before the next kill", n, events)
		}
	}
}

// answers maps the traveller's lines to the agent's answers to them.
var answers = map[string]string{
	"I want a trip": "Where do you want to go?",
	"to Denver":     "It costs 200 dollars",
	"yes":           "the reference is",
}

// caller holds conversations until the siege is over.
func (s *siege) caller(urls []string) {
	for first := true; first || !s.over.Load(); first = false {
		v := &traveller{caller: &caller{t: s.t, urls: urls}}
		waittest.Until(s.t, "a new conversation", nil, func() bool { return v.call(map[string]any{"transport": "text"}) })
		s.conversations.Add(1)
		waiting := "" // the line that was not answered yet
		answered := make(map[string]int)
		var story []string
		v.seen = s.happened
		v.said = func(text string) {
			waiting = text
			story = append(story, s.since("caller: %s", text))
		}
		v.told = func(text string) {
			story = append(story, s.since("agent: %s", text))
			if want := answers[waiting]; want != "" && strings.Contains(text, want) {
				if v.unkept { // the client was told that its turn is not stored
					story = append(story, s.since("(not kept)"))
					s.unkept.Add(1)
				} else {
					answered[waiting]++
				}
				waiting = ""
			}
		}
		story = append(story, s.since("begun at %s", v.urls[0]))
		reached := v.follow() || s.back(v, &story)
		for reached && v.ref == "" {
			v.travel(func() {
				v.unkept = false
				waiting = "" // it is not known whether the line was received
				story = append(story, s.since("the stream has ended"))
				reached = s.back(v, &story)
				if story = append(story, s.since("back at %s", v.urls[0])); !reached {
					v.ref = "none"
				}
			})
		}
		if !reached {
			s.outOfReach.Add(1)
			continue
		}
		v.leave()
		s.account(v, answered, story)
		_, _ = v.post("/v1/conversations/"+v.id+"/commands", map[string]any{"type": "endConversation"}, nil) // to make room
	}
}

// back returns to the conversation, like a client whose stream has ended. It returns
// false if a server reports that the conversation does not exist.
func (s *siege) back(v *traveller, story *[]string) bool {
	v.leave()
	reached := true
	waittest.Until(s.t, "the return of "+v.id, nil, func() bool {
		status, err := v.back()
		s.happened()
		switch {
		case err == nil && status == http.StatusCreated:
			s.resumes.Add(1)
			if v.follow() {
				return true
			}
			*story = append(*story, s.since("given new tokens at %s, and no stream", v.urls[0]))
		case err == nil && status != http.StatusServiceUnavailable && status != http.StatusBadGateway:
			s.find(v, *story, "the resume token is answered with %d at %s", status, v.urls[0])
			reached = false
			return true
		}
		v.urls = append(v.urls[1:len(v.urls):len(v.urls)], v.urls[0]) // like a load balancer
		return false
	})
	return reached
}

// back makes one attempt to return.
func (c *caller) back() (status int, err error) {
	var made struct {
		AccessToken string `json:"access_token"`
		ResumeToken string `json:"resume_token"`
	}
	c.access = ""
	if status, err = c.post("/v1/conversations", map[string]any{"resume": c.resume}, &made); err == nil && status == http.StatusCreated {
		c.access, c.resume = made.AccessToken, made.ResumeToken
	}
	return status, err
}

// account compares what is stored, and what the service has done, with what the caller
// knows.
func (s *siege) account(v *traveller, answered map[string]int, story []string) {
	missing, tries := make(map[string]int), 0
	waittest.Until(s.t, "what is kept of "+v.id, nil, func() bool {
		var details struct {
			Lines []struct{ Role, Text string }
		}
		if v.get("/v1/stored/"+v.id, &details) != nil {
			v.urls = append(v.urls[1:len(v.urls):len(v.urls)], v.urls[0])
			return false
		}
		said := make(map[string]int)
		for _, line := range details.Lines {
			for text := range answers {
				if line.Role == "user" {
					said[text] += strings.Count(line.Text, text) // lines in quick succession are one turn
				}
			}
		}
		clear(missing)
		for text, n := range answered {
			if n > said[text] {
				missing[text] = n - said[text]
			}
		}
		tries++
		return len(missing) == 0 || tries > 100 // the last save may not have finished
	})
	for text, n := range answered {
		s.answered.Add(int64(n))
		if lost := missing[text]; lost > 0 {
			s.lost.Add(int64(lost))
			s.find(v, story, "%d turns %q that were answered are not kept; told in between %v", lost, text, v.codes)
		}
	}
	if refs := s.service.booked(v.id); len(refs) != 1 || refs[0] != v.ref {
		s.twice.Add(int64(max(0, len(refs)-1)))
		s.find(v, story, "booked %q, the caller was told %q", refs, v.ref)
	}
}

// hold runs a number of callers while besiege kills servers.
func (s *siege) hold(callers int, urls func(i int) []string, besiege func()) {
	defer s.keepLogs()
	var all sync.WaitGroup
	defer all.Wait()
	for i := range callers {
		all.Go(func() { s.caller(urls(i)) })
	}
	defer s.over.Store(true)
	besiege()
}

// kill kills a server and starts it again.
func (s *siege) kill(number int, n *node) {
	n.kill()
	s.does("kill %d: %s", number+1, n.url)
	n.start()
	s.does("up again: %s", n.url)
	if number%50 == 49 {
		s.t.Logf("%d kills, %d conversations, %d returns", number+1, s.conversations.Load(), s.resumes.Load())
	}
}

func (s *siege) figures(kills, outages int) {
	s.t.Logf("%d kills, %d outages of the database, %d conversations, %d returns, %d answered turns: %d lost; %d actions twice, %d conversations out of reach; %d more turns were answered behind the news that they are not kept",
		kills, outages, s.conversations.Load(), s.resumes.Load(), s.answered.Load(), s.lost.Load(), s.twice.Load(), s.outOfReach.Load(), s.unkept.Load())
}

// lifetime returns how many messages and answers pass before the next kill, which is
// often too few for the callers to return.
func lifetime(rnd *rand.Rand) int {
	if rnd.IntN(2) == 0 {
		return rnd.IntN(60)
	}
	return 100 + rnd.IntN(500)
}

// TestKilledAtRandomMoments runs ten conversations on a server that is killed
// repeatedly, also while its callers return. It checks that no answered turn is lost,
// no action is done twice, and each client can return to its conversation.
func TestKilledAtRandomMoments(t *testing.T) {
	kills := killsWanted(t)
	rnd := rand.New(rand.NewPCG(8, uint64(kills)))
	service, url := newAgency(t, rand.New(rand.NewPCG(9, 1)))
	n := newNode(t, tripFile(t), filepath.Join(t.TempDir(), "calls.db"), "", "TRIP_URL="+url)
	n.start()
	s := newSiege(t, service, n)
	s.hold(10, func(int) []string { return []string{n.url} }, func() {
		for i := range kills {
			s.pass(lifetime(rnd))
			s.kill(i, n)
		}
	})
	s.figures(kills, 0)
}

// TestNodesKilledAtRandomMoments does the same with three servers that share a
// database. If more kills are requested, the database is stopped repeatedly too. No
// server is killed meanwhile, since recent turns could not be stored.
func TestNodesKilledAtRandomMoments(t *testing.T) {
	kills := killsWanted(t)
	rnd := rand.New(rand.NewPCG(10, uint64(kills)))
	proxy, through := server.Proxy(t, server.Database(t))
	h := newHouse(t, 3, through)
	s := newSiege(t, h.service, h.nodes...)
	outages := 0
	s.hold(10, h.from, func() {
		for i := range kills {
			s.pass(lifetime(rnd))
			s.kill(i, h.nodes[rnd.IntN(len(h.nodes))])
			if i%4 != 3 || os.Getenv(killsEnv) == "" {
				continue
			}
			outages++
			s.does("the database goes away")
			proxy.Die()
			for _, n := range h.nodes {
				waittest.Until(t, "what "+n.url+" says of a store that is away", nil, func() bool { return !n.ready() })
			}
			s.does("the database is back")
			proxy.Revive()
			for _, n := range h.nodes {
				waittest.Until(t, "the store of "+n.url, nil, n.ready)
			}
			s.does("all servers have it again")
			// A save may take 2 s and is retried every second. Tokens are stored with
			// the next sign of life, within 6 s, after which the node counts as dead.
			<-time.After(8 * time.Second)
		}
	})
	s.figures(kills, outages)
}

// ready reports whether a server's store answers.
func (n *node) ready() bool {
	resp, err := http.Get(n.url + "/readyz")
	if err != nil {
		return false
	}
	_ = resp.Body.Close() // only the status is needed
	return resp.StatusCode == http.StatusOK
}
