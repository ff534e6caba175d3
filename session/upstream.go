package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// upstream drives a speech-to-speech service (ADR 0033): it tells the machine what the service
// reports, and the service what the machine decides. The service's session is a [link]; one is in
// use, and another may be open to replace it in a quiet moment.
//
// The loop calls the methods, except those of the ear (upstreamear.go), those of the mouth
// (upstreammouth.go), and take, which the goroutines of the service call.
type upstream struct {
	s       *Session
	service port.Upstream
	post    func(...conv.Event) // for the ear
	fail    func(error)         // ends a call that cannot begin
	moved   chan struct{}       // holds a token when another link is in use

	// Only the loop's goroutine uses these fields.
	data string // the data of the conversation that the service was told last

	mu       sync.Mutex // guards the fields below
	link     *link      // in use; nil: none
	next     *link      // replaces link; nil: none
	links    int        // how many have been opened
	requests int        // how many have been made
	answers  []*saying  // those of the agent's open turn, and of its texts
	specs    map[string]port.ToolSpec
	hearing  hearing
	ended    bool
	closing  sync.WaitGroup // links that are being closed
}

// link is a session of the service.
type link struct {
	stream port.UpstreamStream
	number int
	over   bool           // it has ended by itself
	items  map[string]int // by item: the stretch of speech
	// knows are the entries of the history that the service knows: it was told them, has heard or
	// said them.
	knows map[entry]bool
}

// entry identifies an entry of the history.
type entry struct {
	turn, part int
	role       conv.Role
	call       string
}

func entryOf(it *conv.Item) entry { return entry{it.Turn, it.Part, it.Role, it.CallID} }

func newUpstream(s *Session, rate int, post func(...conv.Event)) (*upstream, error) {
	u := &upstream{s: s, service: s.o.Upstream, post: post, fail: func(error) {}, moved: make(chan struct{}, 1)}
	return u, u.hearing.open(rate, u.service.Rate(), s.conv.State().Floor.Utterance)
}

// close ends the sessions. It is called when no goroutine of the call runs any more.
func (u *upstream) close() error {
	u.mu.Lock()
	u.ended = true
	links := []*link{u.link, u.next}
	u.link, u.next = nil, nil
	u.mu.Unlock()
	var errs []error
	for _, l := range links {
		if l != nil {
			errs = append(errs, l.stream.Close())
		}
	}
	u.closing.Wait()
	return errors.Join(errs...)
}

// begin opens a session, unless there is one.
func (u *upstream) begin() {
	if u.connected() {
		u.s.loop.Post(conv.SessionReady{ID: u.s.o.ID})
		return
	}
	cfg, knows := u.config()
	first := u.opened() == 0
	u.s.spawn(func(ctx context.Context) {
		err := u.open(ctx, cfg, knows)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			u.s.postFact(conv.SessionReady{ID: u.s.o.ID})
			return
		}
		f := failureOf(err)
		u.s.postFact(conv.Fault{Code: f.Code, Message: f.Message, Fatal: first})
		if first && !u.s.o.Idle {
			u.fail(fmt.Errorf("session: open the speech-to-speech service: %w", err))
		}
	})
}

// connected reports whether there is a session.
func (u *upstream) connected() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.link != nil
}

// opened returns how many sessions the call has tried to open.
func (u *upstream) opened() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.links
}

// renew opens another session, which replaces the one in use in a quiet moment, or at once if there
// is none.
func (u *upstream) renew(r renewal) {
	cfg, knows := u.config()
	u.s.spawn(func(ctx context.Context) {
		ev := r.done
		if err := u.open(ctx, cfg, knows); err != nil {
			ev = r.failed
			if f := failureOf(err); ev != nil && errclass.Of(f.Code).Action == errclass.End {
				ev = conv.Fault{Code: f.Code, Message: f.Message}
			}
		}
		if ev != nil && ctx.Err() == nil {
			u.s.postFact(ev)
		}
	})
}

// config returns the configuration of a session that is opened now, and what the service knows
// then.
func (u *upstream) config() (port.UpstreamConfig, map[entry]bool) {
	shown := u.s.veil.Shown()
	cfg := port.UpstreamConfig{Instructions: u.s.o.Instructions, Language: u.s.conv.Options().Language}
	so, from := shown.Summary()
	if so != "" {
		cfg.Instructions += "\n\nWhat was said before, in short: " + so
	}
	if tools := u.s.toolbox.model; tools != nil && u.s.conv.Options().Agent == nil {
		cfg.Tools = tools.Specs()
	}
	specs := make(map[string]port.ToolSpec, len(cfg.Tools))
	for _, spec := range cfg.Tools {
		specs[spec.Name] = spec
	}
	u.mu.Lock()
	u.specs = specs
	u.mu.Unlock()
	history := shown.History()
	cfg.History = portMessages(history[from:])
	knows := make(map[entry]bool, len(history))
	for i := range history {
		if it := &history[i]; it.Unwritten == 0 {
			knows[entryOf(it)] = true
		}
	}
	u.data = ""
	return cfg, knows
}

// open opens a session.
func (u *upstream) open(ctx context.Context, cfg port.UpstreamConfig, knows map[entry]bool) error {
	u.mu.Lock()
	u.links++
	l := &link{number: u.links, items: make(map[string]int), knows: knows}
	u.mu.Unlock()
	stream, err := u.service.Open(ctx, cfg, func(e port.UpstreamEvent) { u.take(l, e) })
	if err != nil {
		return err
	}
	u.mu.Lock()
	l.stream = stream
	var old *link
	switch {
	case u.ended || l.over:
		old = l
		if l.over {
			err = errLost
		}
	case u.link == nil:
		u.use(l)
	default:
		old, u.next = u.next, l
	}
	u.mu.Unlock()
	if old != nil {
		_ = old.stream.Close() // it was never used
	}
	return err
}

var errLost = errors.New("the session has ended at once")

// use puts a link in use. The caller holds the mutex.
func (u *upstream) use(l *link) {
	u.link = l
	u.hearing.moved(l.stream)
	select {
	case u.moved <- struct{}{}:
	default: // watch has a token already
	}
}

// watch tells the machine in time that the session in use will end, until ctx ends. A session
// that is over before long, by this clock, is not replaced before it is: the next one would be as
// short.
func (u *upstream) watch(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	defer timer.Stop()
	var ends time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-u.moved:
			timer.Stop()
			ends = u.ends()
			if left := ends.Sub(u.s.now()); left >= shortest {
				timer.Reset(max(left-renewBefore, left/2))
			}
		case <-timer.C:
			if u.ends().Equal(ends) {
				u.s.postFact(conv.SessionExpiring{})
			}
		}
	}
}

// ends returns when the session in use will end, or the zero time.
func (u *upstream) ends() time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.link == nil {
		return time.Time{}
	}
	return u.link.stream.Expires()
}

// retire closes a link that is not in use any more. The caller holds the mutex, and has seen that
// the call has not ended: so close waits for it.
func (u *upstream) retire(l *link) {
	u.closing.Go(func() { _ = l.stream.Close() }) // the error does not matter
}

// heed follows a step: it notes what the service has heard, and replaces the link in a quiet
// moment.
func (u *upstream) heed(st *conv.State) {
	quiet := st.Phase == conv.ListeningReady && !st.Floor.Speaking && st.User.Turn == 0 && len(st.Calls) == 0
	u.mu.Lock()
	defer u.mu.Unlock()
	if l := u.link; l != nil {
		if st.User.Turn != 0 {
			l.knows[entry{turn: st.User.Turn, role: conv.RoleUser}] = true
		}
		if u.next != nil && quiet && u.hearing.idle() && !slices.ContainsFunc(u.answers, (*saying).awaited) {
			u.use(u.next)
			u.next = nil
			u.retire(l)
		}
	}
	u.answers = slices.DeleteFunc(u.answers, func(a *saying) bool { return a.ended && a.turn < st.Playout.Turn && a.turn != st.Reply.Turn })
}

const (
	// renewBefore is how long before the end of a session another one is opened.
	renewBefore = time.Minute
	// shortest is how long a session must last that is replaced before its end.
	shortest = 10 * time.Second
)

// cutOff notes that a link has ended by itself. The next one takes its place, if it is open, and
// else the machine learns that the session is over.
func (u *upstream) cutOff(l *link, f *port.Failure) {
	u.mu.Lock()
	l.over = true
	var facts []conv.Event
	var lost []*saying
	switch {
	case u.ended || l.stream == nil:
		u.mu.Unlock()
		return // open sees it, or nobody cares
	case u.next == l:
		u.next = nil
	case u.link == l:
		facts, lost = u.broken(l, u.next != nil)
		u.hearing.moved(nil)
		if u.link = nil; u.next != nil {
			u.use(u.next)
			u.next = nil
		} else if f != nil && errclass.Of(f.Code).Action == errclass.End {
			facts = append(facts, conv.Fault{Code: f.Code, Message: f.Message})
		} else {
			facts = append(facts, conv.SessionExpired{})
		}
	}
	u.retire(l)
	u.mu.Unlock()
	for _, ev := range facts {
		u.s.postFact(ev)
	}
	// The voice learns of it after the machine, which may take the turn back.
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, a := range lost {
		a.end(u.s, errCut)
	}
}

// broken returns the answers that end with a link, and the facts that follow: the end of the
// stretch of speech and, if told is set, the failures of the answers. The caller holds the mutex.
func (u *upstream) broken(l *link, told bool) (facts []conv.Event, lost []*saying) {
	if n := u.hearing.voice; n != 0 {
		u.hearing.voice = 0
		facts = append(facts, conv.SpeechStopped{Utterance: n, Source: conv.SourceVAD})
	}
	for _, a := range u.answers {
		if a.link != l || a.ended {
			continue
		}
		lost = append(lost, a)
		if told && !a.said {
			facts = append(facts, conv.ReplyFailed{
				Turn: a.turn, Request: a.request, Code: errclass.NetworkTimeout, Message: errCut.Error(), Retryable: true,
			})
		}
	}
	return facts, lost
}

var errCut = errors.New("the connection to the speech-to-speech service broke")

// failureOf returns the failure of an error.
func failureOf(err error) *port.Failure {
	if f, ok := errors.AsType[*port.Failure](err); ok {
		return f
	}
	return &port.Failure{Code: errclass.Unknown, Message: err.Error()}
}

// take takes an event of the service.
func (u *upstream) take(l *link, e port.UpstreamEvent) {
	switch e.Kind {
	case port.UpstreamVoice, port.UpstreamSilence, port.UpstreamHearing, port.UpstreamHeard:
		u.hear(l, e)
	case port.UpstreamClosed:
		u.cutOff(l, e.Failure)
	default:
		u.answered(l, e)
	}
}

// resampler returns a resampler from one rate to another, nil if they are the same.
func resampler(from, to int) (*audio.Resampler, error) {
	if from == to {
		return nil, nil
	}
	r, err := audio.NewResampler(audio.ResamplerOptions{From: from, To: to})
	if err != nil {
		return nil, fmt.Errorf("resample the sound of the speech-to-speech service: %w", err)
	}
	return r, nil
}
