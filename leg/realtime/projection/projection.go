package projection

import (
	"fmt"
	"time"

	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// Rate is the sampling rate of all sound that is counted here.
const Rate = 24000

// Options are what a conversation begins with.
type Options struct {
	Session      wire.Session // the configuration in effect
	Conversation string       // its id
	Named        bool         // the client has named the model
	// Means reports whether a model's name stands for the agent of the conversation, always
	// in the same way; nil: every name does.
	Means func(model string) bool
	// IDs begins the ids of items and responses. No other conversation may have it.
	IDs string
	// Responses and Tokens are the limits of a minute.
	Responses, Tokens int
	// Instructions are the agent's own, for responses beside the conversation.
	Instructions string
	// Stopped is the silence behind which the uplink tells that a voice has stopped.
	Stopped  time.Duration
	Greets   bool // the agent has something to say first
	Flows    bool // flows answer, and the words of a message must go through the machine
	OwnTools bool // the installation has tools of its own
	Deaf     bool // there is no speech recognizer
	Plays    bool // the server plays the sound: a call over WebRTC
	Restored bool // the conversation goes on from a snapshot
}

// Instant is when an input happens.
type Instant struct {
	Now   time.Time
	Heard int // milliseconds of the client's sound that have been heard
}

// Projection is the state of one conversation as its client sees it. It belongs to one
// goroutine at a time.
type Projection struct {
	o       Options
	session wire.Session
	items   items
	limits  limits
	lastID  uint64

	named    bool // the client has named the model
	met      bool // a client has been connected
	restored bool // the items of a restored conversation are still to be made
	spoken   bool // the agent has been heard

	phase   conv.Phase
	started bool        // the machine was told to begin
	ruled   bool        // the machine has been told the rules
	running bool        // the machine listens, or has
	resp    *response   // the active one
	last    *response   // the one before, until another begins
	measure bool        // what was heard of last is not known yet
	create  *create     // a response that is to begin
	beside  []*response // responses beside the conversation

	speech      *speech   // the person's, not yet committed
	written     []*speech // committed, their words not all known
	starts      spots
	ends        spots
	userOpen    bool      // the machine has a turn of the person's
	stopMS      int       // of the sound, when the voice has been silent for as long as was configured; 0: it has not stopped
	stopAt      time.Time // when nothing is waited for any longer that could go on with the voice; zero: it goes on
	uncommitted int       // samples since the last commit
	idleAt      time.Time // when the silence behind a response is too long; zero: never
	idleFrom    int       // milliseconds of sound at its beginning

	// Of the current step.
	at  Instant
	out Output
}

// New makes the projection of a conversation that no client has met yet.
func New(now time.Time, o Options) *Projection {
	return &Projection{
		o: o, session: o.Session, named: o.Named, restored: o.Restored, started: o.Restored,
		limits: limits{responses: o.Responses, tokens: o.Tokens, since: now},
	}
}

// Output is what follows from one input. Its slices belong to the caller.
type Output struct {
	Events  []wire.Event // for the client, in order
	Effects []Effect     // for the loop, in order, behind the events
	// Question answers [ModelAsked]; nil if there is nothing to answer any more.
	Question *Question
}

// Step takes one input. An input of a response, an item or a turn that is over does
// nothing.
func (p *Projection) Step(at Instant, in Input) Output {
	p.at = at
	if p.stopMS > 0 && at.Heard >= p.stopMS {
		p.silencePassed()
	}
	switch in := in.(type) {
	case Connected:
		p.connected()
	case Disconnected:
		p.idleAt = time.Time{} // nobody hears its silence
	case Stepped:
		p.observe(in)
	case Requested:
		p.requested(in.Event)
	case Appended:
		p.uncommitted += in.Samples
		p.soundGoesOn()
		if p.Detects() {
			p.start(!p.greetsUnasked())
		}
	case CommitReached:
		p.commitReached()
	case VoiceNoted:
		p.voiceNoted(in)
	case Transcribed:
		p.wordsKnown(in.Item, in.Text, in.Failure)
	case ModelAsked:
		p.modelAsked(in)
	case ModelCalled, ModelSpent, ModelAnswered:
		p.modelSaid(in)
	case Spoken:
		if r := p.resp; r != nil && r.turn == in.Turn && r.audio {
			p.speak(r, in.PCM)
		}
	case BesideSaid, BesideSpoken, BesideEnded:
		p.besideSaid(in)
	case TimePassed:
		p.timePassed()
	default:
		panic(fmt.Sprintf("projection: unknown input %T", in))
	}
	out := p.out
	p.out = Output{}
	return out
}

// Deadline is when [TimePassed] is to be stepped; zero: never.
func (p *Projection) Deadline() time.Time {
	next := p.idleAt
	earlier := func(t time.Time) {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	earlier(p.stopAt)
	for _, s := range p.written {
		earlier(s.wordsBy)
	}
	return next
}

// passed reports whether a moment has come.
func (p *Projection) passed(t time.Time) bool { return !t.IsZero() && !p.at.Now.Before(t) }

// timePassed does what is to be done by now.
func (p *Projection) timePassed() {
	if p.passed(p.stopAt) {
		p.patiencePassed()
	}
	p.wordsPassed()
	if p.passed(p.idleAt) {
		p.idleAt = time.Time{}
		p.idlePassed()
	}
}

// Session is the configuration in effect.
func (p *Projection) Session() wire.Session { return p.session }

// Detects reports whether turns are detected. Otherwise the client says when they end,
// and its sound does not go to the machine.
func (p *Projection) Detects() bool { return p.session.Input.TurnDetection != nil }

// Started reports whether the machine has been told to begin.
func (p *Projection) Started() bool { return p.started }

// Running reports whether the machine listens, or has.
func (p *Projection) Running() bool { return p.running }

// Measuring reports whether it is still unknown how much of the last response was heard.
func (p *Projection) Measuring() bool { return p.measure }

// Voice is how the active response is spoken: at which speed, or not at all.
func (p *Projection) Voice() (speed float64, silent bool) {
	if p.resp == nil {
		return 1, false
	}
	return p.resp.session.Output.Speed, !p.resp.audio
}

// send tells the client.
func (p *Projection) send(e wire.Event) { p.out.Events = append(p.out.Events, e) }

// do has the loop do something.
func (p *Projection) do(e Effect) { p.out.Effects = append(p.out.Effects, e) }

// post hands facts to the machine.
func (p *Projection) post(events ...conv.Event) { p.do(Post{events}) }

// refuse tells the client what is wrong with its event.
func (p *Projection) refuse(err *wire.Error) { p.send(wire.ErrorEvent{Error: *err}) }

// newID makes an id that nothing in the conversation has. A client may choose ids too.
func (p *Projection) newID(kind string) string {
	for {
		p.lastID++
		id := fmt.Sprintf("%s_%s%04x", kind, p.o.IDs, p.lastID)
		if p.items.find(id) == nil {
			return id
		}
	}
}

// start tells the machine to begin, and what the client says first. Where it is not
// silent the agent greets.
func (p *Projection) start(silent bool, first ...conv.Event) {
	if p.started {
		return
	}
	p.started = true
	p.post(append([]conv.Event{conv.UserStart{Silent: silent}}, first...)...)
}

// greetsUnasked reports whether the agent greets a client that has not asked for a
// response: not one that wants none, and not where the agent has no greeting.
func (p *Projection) greetsUnasked() bool {
	t := p.session.Input.TurnDetection
	return p.o.Greets && p.session.Type != wire.TypeTranscription && t != nil && t.CreateResponse
}
