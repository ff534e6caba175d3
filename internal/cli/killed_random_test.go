//go:build unix

package cli

import (
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
)

// killsEnv is how many kills the tests of this file do, if it is set: `HOCKET_KILLS=500 go
// test ./internal/cli -run AtRandomMoments -timeout 2h`, part of `make soak`.
const killsEnv = "HOCKET_KILLS"

// killsWanted returns how often servers are killed.
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

// siege is callers whose servers are killed at random moments, those of their returns
// included, and what has become of them.
type siege struct {
	t       *testing.T
	service *agency
	over    atomic.Bool   // nobody is killed any more
	events  chan struct{} // one for each message and each answer that a caller gets, while they are counted

	conversations, resumes, answered, lost, twice, outOfReach atomic.Int64
}

func newSiege(t *testing.T, service *agency) *siege {
	return &siege{t: t, service: service, events: make(chan struct{})}
}

// happened counts what a caller gets.
func (s *siege) happened() {
	select {
	case s.events <- struct{}{}:
	default: // nobody counts at the moment
	}
}

// pass waits until so much has happened.
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

// answers are what the agent says to what a traveller says: a line is answered when it
// has said so.
var answers = map[string]string{
	"I want a trip": "Where do you want to go?",
	"to Denver":     "It costs 200 dollars",
	"yes":           "the reference is",
}

// caller holds one conversation after the other until the siege is over.
func (s *siege) caller(urls []string) {
	for first := true; first || !s.over.Load(); first = false {
		v := &traveller{caller: &caller{t: s.t, urls: urls}}
		waitFor(s.t, "a new conversation", func() bool { return v.call(map[string]any{"transport": "text"}) })
		s.conversations.Add(1)
		waiting := "" // the line that has no answer yet
		answered := make(map[string]int)
		var story []string
		v.seen = s.happened
		v.said = func(text string) {
			waiting = text
			story = append(story, "caller: "+text)
		}
		v.told = func(text string) {
			story = append(story, "agent: "+text)
			if want := answers[waiting]; want != "" && strings.Contains(text, want) {
				if !v.unkept { // else it was told that its turn is not kept
					answered[waiting]++
				}
				waiting = ""
			}
		}
		reached := v.follow() || s.back(v)
		for reached && v.ref == "" {
			v.travel(func() {
				v.unkept = false
				waiting = "" // nobody knows whether the line that waits was heard
				story = append(story, "killed")
				if reached = s.back(v); !reached {
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

// back comes back as a client does whose stream has ended. It reports false where a
// server says that there is nothing to come back to.
func (s *siege) back(v *traveller) bool {
	v.leave()
	reached := true
	waitFor(s.t, "the return of "+v.id, func() bool {
		status, err := v.back()
		s.happened()
		switch {
		case err == nil && status == http.StatusCreated:
			s.resumes.Add(1)
			if v.follow() {
				return true
			}
		case err == nil && status != http.StatusServiceUnavailable && status != http.StatusBadGateway:
			s.t.Errorf("%s: the resume token is answered with %d", v.id, status)
			reached = false
			return true
		}
		v.urls = append(v.urls[1:len(v.urls):len(v.urls)], v.urls[0]) // as behind a load balancer
		return false
	})
	return reached
}

// back is one try to come back.
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

// account holds what is kept and what the service has done against what the caller knows.
func (s *siege) account(v *traveller, answered map[string]int, story []string) {
	missing, tries, kept := make(map[string]int), 0, []string(nil)
	waitFor(s.t, "what is kept of "+v.id, func() bool {
		var details struct {
			Lines []struct{ Role, Text string }
		}
		if v.get("/v1/stored/"+v.id, &details) != nil {
			v.urls = append(v.urls[1:len(v.urls):len(v.urls)], v.urls[0])
			return false
		}
		said := make(map[string]int)
		kept = kept[:0]
		for _, line := range details.Lines {
			kept = append(kept, line.Role+": "+line.Text)
			for text := range answers {
				if line.Role == "user" {
					said[text] += strings.Count(line.Text, text) // lines that come close together are one turn
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
		return len(missing) == 0 || tries > 100 // the last save may be on its way
	})
	for text, n := range answered {
		s.answered.Add(int64(n))
		if lost := missing[text]; lost > 0 {
			s.lost.Add(int64(lost))
			s.t.Errorf("%s: %d turns %q that were answered are not kept: there was %q, and kept is %q; told in between %v", v.id, lost, text, story, kept, v.codes)
		}
	}
	if refs := s.service.booked(v.id); len(refs) != 1 || refs[0] != v.ref {
		s.twice.Add(int64(max(0, len(refs)-1)))
		s.t.Errorf("%s: booked %q, the caller was told %q", v.id, refs, v.ref)
	}
}

// hold has so many callers in their conversations while besiege kills.
func (s *siege) hold(callers int, urls func(i int) []string, besiege func()) {
	var all sync.WaitGroup
	defer all.Wait()
	for i := range callers {
		all.Go(func() { s.caller(urls(i)) })
	}
	defer s.over.Store(true)
	besiege()
}

func (s *siege) figures(kills, outages int) {
	s.t.Logf("%d kills, %d outages of the database, %d conversations, %d returns, %d answered turns: %d lost; %d actions twice, %d conversations out of reach",
		kills, outages, s.conversations.Load(), s.resumes.Load(), s.answered.Load(), s.lost.Load(), s.twice.Load(), s.outOfReach.Load())
}

// lifetime is how much happens while the next process lives: often too little for the
// callers' returns.
func lifetime(rnd *rand.Rand) int {
	if rnd.IntN(2) == 0 {
		return rnd.IntN(60)
	}
	return 100 + rnd.IntN(500)
}

// TestKilledAtRandomMoments: with ten conversations on one server, which is killed again
// and again, in the middle of its callers' returns too, no turn that was answered is lost,
// no action is done twice, and no conversation is out of its client's reach.
func TestKilledAtRandomMoments(t *testing.T) {
	kills := killsWanted(t)
	rnd := rand.New(rand.NewPCG(8, uint64(kills)))
	service, url := newAgency(t, rand.New(rand.NewPCG(9, 1)))
	n := newNode(t, tripFile(t), filepath.Join(t.TempDir(), "calls.db"), "", "TRIP_URL="+url)
	n.start()
	s := newSiege(t, service)
	s.hold(10, func(int) []string { return []string{n.url} }, func() {
		for range kills {
			s.pass(lifetime(rnd))
			n.kill()
			n.start()
		}
	})
	s.figures(kills, 0)
}

// TestNodesKilledAtRandomMoments: the same holds of three servers that share a database,
// and, where more kills are asked for, of a database that goes away, too, again and again.
// Nobody is killed while it is away: what was said since could not be kept.
func TestNodesKilledAtRandomMoments(t *testing.T) {
	kills := killsWanted(t)
	rnd := rand.New(rand.NewPCG(10, uint64(kills)))
	proxy, through := server.Proxy(t, server.Database(t))
	h := newHouse(t, 3, through)
	s := newSiege(t, h.service)
	outages := 0
	s.hold(10, h.from, func() {
		for i := range kills {
			s.pass(lifetime(rnd))
			n := h.nodes[rnd.IntN(len(h.nodes))]
			n.kill()
			n.start()
			if i%4 != 3 || os.Getenv(killsEnv) == "" {
				continue
			}
			outages++
			proxy.Die()
			for _, n := range h.nodes {
				waitFor(t, "what "+n.url+" says of a store that is away", func() bool { return !n.ready() })
			}
			proxy.Revive()
			for _, n := range h.nodes {
				waitFor(t, "the store of "+n.url, n.ready)
			}
			// A save may take 2 s, and is tried again each second; tokens come with a sign of life,
			// within 6 s or the node is taken for dead.
			<-time.After(8 * time.Second)
		}
	})
	s.figures(kills, outages)
}

// ready reports that a server's store answers.
func (n *node) ready() bool {
	resp, err := http.Get(n.url + "/readyz")
	if err != nil {
		return false
	}
	_ = resp.Body.Close() // its status is enough
	return resp.StatusCode == http.StatusOK
}
