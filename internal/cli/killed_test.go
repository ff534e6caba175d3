//go:build unix

package cli

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/waittest"
)

// tripAgent is an agent that books a trip with a question, a quick action, delegated
// work, a confirmation, and an action that must not be done twice.
const tripAgent = `version: "1.0"
settings: {language: en, greeting: "Hello. What can I do for you?"}
slots:
  destination: {type: city, prompt: "Where do you want to go?", values: [Denver, Boston, Chicago]}
actions:
  quote: {inputs: [destination], outputs: [price], idempotent: true, http: {url: "${TRIP_URL}/quote"}}
  advise: {inputs: [destination], outputs: [advice], long: true, idempotent: true, http: {url: "${TRIP_URL}/advise", timeout: 20s}}
  book: {inputs: [destination], outputs: [ref], http: {url: "${TRIP_URL}/book"}}
flows:
  trip:
    description: book a trip
    trigger: {intents: ["I want a trip", "book a trip"]}
    steps:
      - {step: where, type: collect, slot: destination}
      - {step: price, type: action, call: quote, map_outputs: {price: price}}
      - {step: hold, type: say, message: "It costs {price} dollars. I ask for advice."}
      - {step: ask, type: action, call: advise, map_outputs: {advice: advice}}
      - {step: told, type: say, message: "The advice is: {advice}."}
      - {step: sure, type: confirm, message: "Shall I book {destination}?"}
      - {step: run, type: action, call: book, map_outputs: {ref: ref}}
      - {step: done, type: say, message: "It is booked, the reference is {ref}."}
`

// agency is the agent's service. It counts what was done.
type agency struct {
	mu       sync.Mutex
	done     map[string]map[string]int // by path and key: number of requests
	bookings map[string]string         // references by key
	hold     func(path string)         // called when something was done, before the answer is sent; may be nil
}

func newAgency(t *testing.T, rnd *rand.Rand) (*agency, string) {
	a := &agency{done: make(map[string]map[string]int), bookings: make(map[string]string)}
	var draw sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the content does not matter
		key := r.Header.Get("Idempotency-Key")
		draw.Lock()
		wait := time.Millisecond * time.Duration(map[string]int{"/quote": 30, "/advise": 120, "/book": 30}[r.URL.Path]+rnd.IntN(40))
		draw.Unlock()
		if r.URL.Path == "/book" {
			<-time.After(wait / 2)
		}
		answer, hold := a.take(r.URL.Path, key)
		if hold != nil {
			hold(r.URL.Path)
		}
		<-time.After(wait)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return a, server.URL
}

// take does what is requested, once for each key.
func (a *agency) take(path, key string) (answer string, hold func(string)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.done[path] == nil {
		a.done[path] = make(map[string]int)
	}
	a.done[path][key]++
	switch path {
	case "/quote":
		return `{"price": 200}`, a.hold
	case "/advise":
		return `{"advice": "take the train"}`, a.hold
	}
	if a.bookings[key] == "" {
		a.bookings[key] = fmt.Sprintf("T%d", len(a.bookings)+1)
	}
	return `{"ref": "` + a.bookings[key] + `"}`, a.hold
}

// asked returns the number of different requests of a conversation.
func (a *agency) asked(path, id string) (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for key := range a.done[path] {
		if strings.HasPrefix(key, id+"/") {
			n++
		}
	}
	return n
}

// booked returns the bookings of a conversation.
func (a *agency) booked(id string) (refs []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for key, ref := range a.bookings {
		if strings.HasPrefix(key, id+"/") {
			refs = append(refs, ref)
		}
	}
	return refs
}

// tripFile writes the agent and returns its path.
func tripFile(t *testing.T) string { return agentFile(t, tripAgent) }

func agentFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trip.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// traveller is a person who books a trip, whatever happens.
type traveller struct {
	*caller
	phase string          // the last phase seen
	last  string          // the agent's last line
	ref   string          // told by the agent; empty before
	codes map[string]bool // of the notifications
	// unkept reports that the last notification was that turns are not stored.
	unkept bool
	// eachPhase is called when a phase is entered.
	eachPhase func(phase string)
	// told is called with each line of the agent, before it is answered, and said with
	// each line that a server has accepted. Both may be nil.
	told, said func(text string)
	// seen is called with each message of the stream. It may be nil.
	seen func()
}

// say types a line.
func (v *traveller) say(text string) {
	if v.caller.say(text) && v.said != nil {
		v.said(text)
	}
}

// patience returns how long a person waits for the agent before asking.
func (v *traveller) patience() time.Duration {
	if len(v.urls) > 1 || raceDetector {
		return 3 * time.Second // many conversations run at once
	}
	return 600 * time.Millisecond
}

// answer answers the agent's words.
func (v *traveller) answer(text string) {
	v.last = text
	if v.told != nil {
		v.told(text)
	}
	switch {
	case strings.Contains(text, "the reference is "):
		_, rest, _ := strings.Cut(text, "the reference is ")
		v.ref = strings.TrimRight(rest, ".")
	case strings.Contains(text, "Shall I"), strings.Contains(text, "Do you want that?"):
		v.say("yes")
	case strings.Contains(text, "Where do you want"):
		v.say("to Denver")
	case strings.Contains(text, "What can I do"):
		v.say("I want a trip")
	case strings.Contains(text, "try again"), strings.Contains(text, "wrong"), strings.Contains(text, "didn't work"), strings.Contains(text, "did not work"):
		v.say("try again")
	case strings.Contains(text, "anything else"):
		v.say("what is my reference")
	}
}

// travel continues the conversation until the trip is booked. lost is called when the
// stream ends because the server was killed; travel continues when it returns.
func (v *traveller) travel(lost func()) {
	if v.codes == nil {
		v.codes = make(map[string]bool)
	}
	silence, over := time.NewTimer(time.Hour), timeUp(v.t)
	defer silence.Stop()
	for asked := 0; v.ref == ""; {
		// A person who hears nothing asks.
		silence.Reset(v.patience())
		select {
		case <-over:
			v.fail("%s: waited in vain for what the agent says next: it is in %s, and said last %q", v.id, v.phase, v.last)
		case m, ok := <-v.events:
			if v.seen != nil {
				v.seen()
			}
			v.at = max(v.at, m.At)
			switch {
			case !ok:
				lost()
			case m.Type == "transition":
				v.phase = m.Payload.Phase.To
				if v.eachPhase != nil {
					v.eachPhase(v.phase)
				}
			case m.Type == "agentvoice.notification":
				v.codes[m.Payload.Code] = true
				v.unkept = m.Payload.Code == "store.behind" || v.unkept && m.Payload.Code != "store.caught_up"
			case m.Type == "caption" && m.Payload.Final:
				v.answer(m.Payload.Text)
			}
		case <-silence.C:
			if asked++; asked == 1000 {
				v.fail("%s comes to no end: %s, the agent said last %q", v.id, v.phase, v.last)
			}
			v.say("repeat that please")
		}
	}
}

// kept waits until the advice is stored as told, and checks that each request for it
// has one result.
func (v *traveller) kept(service *agency) {
	told, results := 0, 0
	waittest.Until(v.t, "the checkpoint of "+v.id, nil, func() bool {
		var details struct {
			Lines []struct {
				Role, Name, Text string
				Failed           bool
			}
		}
		if err := v.get("/v1/stored/"+v.id, &details); err != nil {
			return false
		}
		told, results = 0, 0
		for _, line := range details.Lines {
			if line.Role == "tool" && line.Name == "advise" && !line.Failed {
				results++
			}
			if line.Role == "agent" && strings.Contains(line.Text, "take the train") {
				told++
			}
		}
		return told > 0
	})
	if asked := service.asked("/advise", v.id); results != asked {
		v.t.Errorf("%s: %d results of %d pieces of delegated work, told %d times", v.id, results, asked, told)
	}
}

// phases are those in which a conversation by text stays for a while.
var phases = []string{
	"listening.ready", "processing.understanding", "processing.generating", "processing.tool", "processing.delegated", "speaking",
}

// TestKilledServer kills servers forty times (`make soak`: 400), while they listen, think,
// run a tool, delegate, ask for a confirmation or speak. It checks that the callers return,
// that their conversations continue at the same step, that each trip is booked once, and
// that the advice is told.
func TestKilledServer(t *testing.T) {
	const groups = 4
	kills := 40
	switch {
	case testing.Short():
		kills = 8
	case os.Getenv("HOCKET_LONG") != "":
		kills = 400
	}
	var mu sync.Mutex
	in, conversations := make(map[string]int), 0
	var away []time.Duration
	t.Run("groups", func(t *testing.T) {
		var all sync.WaitGroup // t.Parallel would run one per processor, but these wait most of the time
		defer all.Wait()
		for group := range groups {
			all.Go(func() {
				t.Run(fmt.Sprint(group), func(t *testing.T) {
					killed, held, returns := killServer(t, uint64(group), kills/groups)
					mu.Lock()
					defer mu.Unlock()
					away = append(away, returns...)
					conversations += held
					for phase, n := range killed {
						in[phase] += n
					}
				})
			})
		}
	})
	slices.Sort(away)
	if len(away) == 0 {
		t.Fatal("nobody was cut off")
	}
	t.Logf("%d conversations, killed %d times: %v; from the answer of the new server to the callers' streams %v (median), %v (the last)",
		conversations, kills, in, away[len(away)/2].Round(time.Millisecond), away[len(away)-1].Round(time.Millisecond))
	for _, phase := range phases {
		if in[phase] == 0 && !testing.Short() {
			t.Errorf("no server was killed in %s", phase)
		}
	}
}

// killServer kills one server the given number of times, and counts the kills by the
// phase of the caller. away contains the durations of the returns.
func killServer(t *testing.T, seed uint64, kills int) (in map[string]int, conversations int, away []time.Duration) {
	rnd := rand.New(rand.NewPCG(5, seed))
	service, url := newAgency(t, rand.New(rand.NewPCG(6, seed)))
	n := newNode(t, tripFile(t), filepath.Join(t.TempDir(), "calls.db"), "", "TRIP_URL="+url)
	n.start()
	in = make(map[string]int)
	var next []string // the phases of the kills to come
	for killed := 0; killed < kills && !t.Failed(); conversations++ {
		v := &traveller{caller: &caller{t: t, urls: []string{n.url}}}
		if !v.call(map[string]any{"transport": "text"}) || !v.follow() {
			t.Fatal("a conversation does not begin")
		}
		budget := min(1+rnd.IntN(6), kills-killed)
		target, nth := "", 0
		aim := func() {
			if len(next) == 0 {
				next = slices.Clone(phases)
				rnd.Shuffle(len(next), func(i, j int) { next[i], next[j] = next[j], next[i] })
			}
			target, nth, next = next[0], 1+rnd.IntN(3), next[1:]
		}
		aim()
		v.eachPhase = func(phase string) {
			if phase == target {
				nth--
			}
			if phase != target || nth > 0 || budget == 0 {
				return
			}
			<-time.After(time.Duration(rnd.IntN(15_000)) * time.Microsecond)
			n.kill()
			in[phase]++
			budget--
			killed++
			aim()
			n.start()
		}
		v.travel(func() {
			lost := time.Now()
			v.comeBack()
			away = append(away, time.Since(lost))
		})
		v.arrived(service)
	}
	return in, conversations, away
}

// arrived compares what the service has done with what the caller was told.
func (v *traveller) arrived(service *agency) {
	v.kept(service)
	v.leave()
	if refs := service.booked(v.id); len(refs) != 1 || refs[0] != v.ref {
		v.t.Errorf("%s: booked %q, the caller was told %q", v.id, refs, v.ref)
	}
}
