package porttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// UpstreamFault is what is wrong with the server of a service under test.
type UpstreamFault string

// The faults.
const (
	UpstreamHealthy UpstreamFault = "healthy"
	UpstreamBadKey  UpstreamFault = "bad key" // the key has expired
	UpstreamBusy    UpstreamFault = "busy"    // connections are refused with 429 and Retry-After: 7
	UpstreamMute    UpstreamFault = "mute"    // the connection opens, and nothing follows
	UpstreamCut     UpstreamFault = "cut"     // the connection breaks in the middle of the first answer
	UpstreamGarbage UpstreamFault = "garbage" // a message in the middle of the first answer is not one of the protocol
	UpstreamFrozen  UpstreamFault = "frozen"  // nothing is read or sent any more from the first answer on
	UpstreamLimited UpstreamFault = "limited" // the first answer fails because of a limit that lasts 7 s
	UpstreamExpires UpstreamFault = "expires" // the session ends after 1 minute
)

// UpstreamLab makes services for the conformance suite of port.Upstream. The server of a
// service hears [UpstreamHeardWords] in each turn of the user. Its answers are
// [UpstreamAnswer], sent over at least 100 ms, except that it calls the tool "clock" with {}
// when the last words of the conversation are [UpstreamAsksForTool]. It says what it is asked
// to say.
type UpstreamLab struct {
	// Service returns a service with a fresh server, within a bubble of testing/synctest.
	Service func(t *testing.T, f UpstreamFault) port.Upstream
	// Secret must not appear in errors.
	Secret string
	// Known returns the words in the conversation of the last session, as the server knows
	// it, and the results of calls.
	Known func() []string
}

// What the servers of an [UpstreamLab] hear and answer.
const (
	UpstreamHeardWords  = "good morning everybody"
	UpstreamAnswer      = "Good morning to you as well, dear caller."
	UpstreamAsksForTool = "use the tool"
)

// TestUpstream is the conformance suite of port.Upstream.
func TestUpstream(t *testing.T, lab UpstreamLab) {
	for _, rule := range []struct {
		name  string
		fault UpstreamFault
		test  func(*upstreamRig)
	}{
		{"a turn of the user is heard", UpstreamHealthy, upstreamHears},
		{"an answer is words and sound", UpstreamHealthy, upstreamAnswers},
		{"nothing is answered unasked", UpstreamHealthy, upstreamWaits},
		{"answers come one after the other", UpstreamHealthy, upstreamInOrder},
		{"a text is said beside the conversation", UpstreamHealthy, upstreamSays},
		{"a cancelled answer is silent within 50 ms", UpstreamHealthy, upstreamCancels},
		{"a request is cancelled before it begins", UpstreamHealthy, upstreamCancelsEarly},
		{"what was not heard is forgotten", UpstreamHealthy, upstreamTruncates},
		{"a truncation beyond the sound does nothing", UpstreamHealthy, upstreamTruncatesBeyond},
		{"a call and its result", UpstreamHealthy, upstreamCalls},
		{"the history is known", UpstreamHealthy, upstreamRemembers},
		{"nothing comes after close", UpstreamHealthy, upstreamCloses},
		{"methods may be called from several goroutines", UpstreamHealthy, upstreamShared},
		{"the end of a session", UpstreamExpires, upstreamExpires},
		{"an expired key", UpstreamBadKey, upstreamRefused(errclass.AuthFailure, 0)},
		{"429 with Retry-After", UpstreamBusy, upstreamRefused(errclass.RateLimit, 7*time.Second)},
		{"a server that says nothing", UpstreamMute, upstreamRefused(errclass.NetworkTimeout, 0)},
		{"a limit on answers", UpstreamLimited, upstreamLimited},
		{"a cut connection", UpstreamCut, upstreamBreaks},
		{"garbage", UpstreamGarbage, upstreamBreaks},
		{"a server that has stopped", UpstreamFrozen, upstreamBreaks},
	} {
		t.Run(rule.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rule.test(&upstreamRig{t: t, lab: lab, service: lab.Service(t, rule.fault)})
			})
		})
	}
}

// upstreamRig is a service with a session under test.
type upstreamRig struct {
	t       *testing.T
	lab     UpstreamLab
	service port.Upstream
	stream  port.UpstreamStream
	pos     audio.Pos

	mu     sync.Mutex // guards the fields below
	events []port.UpstreamEvent
	sound  map[string]audio.Pos // by request
	last   map[string]time.Time // by request: when its last event came
	closed bool
	inside bool
}

func (r *upstreamRig) take(e port.UpstreamEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		r.t.Errorf("the sink received %+v after Close had returned", e)
	}
	if r.inside {
		r.t.Errorf("the sink was called concurrently with %+v", e)
	}
	r.inside = true
	r.sound[e.Request] += audio.Pos(len(e.PCM))
	e.PCM = nil
	r.events = append(r.events, e)
	r.last[e.Request] = time.Now()
	r.inside = false
}

// open opens the session.
func (r *upstreamRig) open(history ...port.Message) {
	r.t.Helper()
	r.sound, r.last = make(map[string]audio.Pos), make(map[string]time.Time)
	s, err := r.service.Open(r.t.Context(), port.UpstreamConfig{
		Instructions: "Be kind.", Language: "en", History: history,
		Tools: []port.ToolSpec{{Name: "clock", Description: "the time", Schema: []byte(`{"type":"object","properties":{}}`)}},
	}, r.take)
	if err != nil {
		r.t.Errorf("Open: %v", err)
		r.t.FailNow()
	}
	r.stream = s
	r.t.Cleanup(r.close)
}

func (r *upstreamRig) close() {
	r.mu.Lock()
	closed := r.closed
	r.mu.Unlock()
	if closed {
		return
	}
	r.must("Close", r.stream.Close())
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
}

func (r *upstreamRig) must(what string, err error) {
	r.t.Helper()
	if err != nil {
		r.t.Errorf("%s: %v", what, err)
		r.t.FailNow()
	}
}

// say writes sound and the silence after it, at the pace of the clock.
func (r *upstreamRig) say(voice, silence time.Duration) {
	r.t.Helper()
	rate := r.service.Rate()
	pcm := append(Tone(rate, voice), make([]int16, audio.PosOf(silence, rate))...)
	for step := audio.FrameSamples(rate); len(pcm) >= step; pcm = pcm[step:] {
		r.must("Write", r.stream.Write(audio.Frame{Pos: r.pos, Rate: rate, PCM: pcm[:step]}))
		r.pos += audio.Pos(step)
		<-time.After(audio.FrameDuration)
	}
}

// pass lets time pass, in the bubble of the rule.
func (r *upstreamRig) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// kinds returns the events of the kinds, in order.
func (r *upstreamRig) kinds(kinds ...port.UpstreamKind) (list []port.UpstreamEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if slices.Contains(kinds, e.Kind) {
			list = append(list, e)
		}
	}
	return list
}

// words returns the words of an answer.
func (r *upstreamRig) words(request string) (text string) {
	for _, e := range r.kinds(port.UpstreamText) {
		if e.Request == request {
			text += e.Text
		}
	}
	return text
}

// heard returns the length of the sound of an answer.
func (r *upstreamRig) heard(request string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sound[request].Duration(r.service.Rate())
}

// ended returns whether a request has ended, and its failure.
func (r *upstreamRig) ended(request string) (bool, *port.Failure) {
	for _, e := range r.kinds(port.UpstreamDone) {
		if e.Request == request {
			return true, e.Failure
		}
	}
	return false, nil
}

// complete fails the test unless an answer has come whole.
func (r *upstreamRig) complete(request, text string) {
	r.t.Helper()
	if ended, f := r.ended(request); !ended || f != nil {
		r.t.Errorf("the answer %s: ended %v, failure %v: expected its end", request, ended, f)
	}
	if got := r.words(request); strings.TrimSpace(got) != text {
		r.t.Errorf("the words of %s are %q: expected %q", request, got, text)
	}
	if r.heard(request) < 200*time.Millisecond {
		r.t.Errorf("the sound of %s lasts %v: expected words to be heard", request, r.heard(request))
	}
}

// item returns the item of an answer's sound.
func (r *upstreamRig) item(request string) string {
	for _, e := range r.kinds(port.UpstreamSound) {
		if e.Request == request {
			return e.Item
		}
	}
	return ""
}

func (r *upstreamRig) ask(id string) {
	r.t.Helper()
	r.must("Ask", r.stream.Ask(port.UpstreamRequest{ID: id}))
}

func upstreamCloses(r *upstreamRig) {
	r.open()
	r.ask("one")
	r.pass(50 * time.Millisecond)
	r.close()
	if err := r.stream.Write(audio.Frame{Rate: r.service.Rate(), PCM: make([]int16, audio.FrameSamples(r.service.Rate()))}); err == nil {
		r.t.Error("Write after Close returns no error")
	}
	if err := r.stream.Ask(port.UpstreamRequest{ID: "two"}); err == nil {
		r.t.Error("Ask after Close returns no error")
	}
	r.must("Close again", r.stream.Close())
	r.pass(time.Minute)
}

func upstreamShared(r *upstreamRig) {
	r.open()
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for range 20 {
				_ = r.stream.Write(audio.Frame{Rate: r.service.Rate(), PCM: make([]int16, audio.FrameSamples(r.service.Rate()))})
				<-time.After(audio.FrameDuration)
			}
		})
		all.Go(func() {
			id := fmt.Sprint("ask-", i)
			_ = r.stream.Ask(port.UpstreamRequest{ID: id})
			<-time.After(20 * time.Millisecond)
			if i%2 == 1 {
				_ = r.stream.Cancel(id)
			}
		})
	}
	all.Wait()
	r.pass(20 * time.Second)
	for i := 0; i < 4; i += 2 {
		r.complete(fmt.Sprint("ask-", i), UpstreamAnswer)
	}
}

func upstreamExpires(r *upstreamRig) {
	opened := time.Now()
	r.open()
	if left := r.stream.Expires().Sub(opened); left < 55*time.Second || left > 65*time.Second {
		r.t.Errorf("the session ends after %v: expected 1 minute", left)
	}
	r.pass(2 * time.Minute)
	list := r.kinds(port.UpstreamClosed)
	if len(list) != 1 || list[0].Failure == nil || list[0].Failure.Code != errclass.SessionExpired {
		r.t.Errorf("closed: %+v: expected %s, once", list, errclass.SessionExpired)
	}
}

func upstreamRefused(class string, after time.Duration) func(*upstreamRig) {
	return func(r *upstreamRig) {
		ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
		defer cancel()
		s, err := r.service.Open(ctx, port.UpstreamConfig{}, func(port.UpstreamEvent) {})
		if err == nil {
			_ = s.Close()
			r.t.Fatal("Open returns no error")
		}
		f, ok := errors.AsType[*port.Failure](err)
		if !ok || f.Code != class || f.After != after {
			r.t.Errorf("error %#v: expected %s, to be tried again after %v", err, class, after)
		}
		r.secret(err)
	}
}

// secret fails the test if an error shows the key.
func (r *upstreamRig) secret(err error) {
	r.t.Helper()
	if r.lab.Secret != "" && strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), r.lab.Secret) {
		r.t.Errorf("the error shows the key: %v", err)
	}
}

func upstreamLimited(r *upstreamRig) {
	r.open()
	r.ask("one")
	r.pass(time.Second)
	ended, f := r.ended("one")
	if !ended || f == nil || f.Code != errclass.RateLimit || f.After < 5*time.Second || f.After > 7*time.Second {
		r.t.Fatalf("ended %v, failure %#v: expected %s, to be tried again after about 7 s", ended, f, errclass.RateLimit)
	}
	r.secret(f)
	r.pass(8 * time.Second)
	r.ask("two")
	r.pass(5 * time.Second)
	r.complete("two", UpstreamAnswer)
}

func upstreamBreaks(r *upstreamRig) {
	r.open()
	r.ask("one")
	r.pass(20 * time.Second)
	list := r.kinds(port.UpstreamClosed)
	if len(list) != 1 || list[0].Failure == nil {
		r.t.Fatalf("closed: %+v: expected once, with the reason", list)
	}
	r.secret(list[0].Failure)
	r.mu.Lock()
	last := r.events[len(r.events)-1]
	r.mu.Unlock()
	if last.Kind != port.UpstreamClosed {
		r.t.Errorf("the last event is %+v: expected the end of the session", last)
	}
	if err := r.stream.Ask(port.UpstreamRequest{ID: "two"}); err == nil {
		r.t.Error("Ask after the end of the session returns no error")
	}
}
