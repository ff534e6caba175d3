package projection

import (
	"fmt"
	"time"

	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// Rate is the sampling rate of all sound counted by this package, in hertz.
const Rate = 24000

// Options configures a [Projection].
type Options struct {
	Session      wire.Session // the initial configuration
	Conversation string       // the conversation's id
	Named        bool         // the client has named the model
	// Means reports whether a model name stands for the agent of the conversation. Its
	// results must not change. Nil accepts every name.
	Means func(model string) bool
	// IDs is the prefix of the ids of items and responses. It must be unique to the
	// conversation.
	IDs string
	// Responses and Tokens are the limits per minute.
	Responses, Tokens int
	// Instructions are the agent's instructions, for responses beside the conversation.
	Instructions string
	// Stopped is the silence after which the uplink reports that speech has stopped.
	Stopped  time.Duration
	Greets   bool // the agent speaks first
	Flows    bool // flows answer, so the words of messages must be passed to the machine
	OwnTools bool // the server has tools of its own
	Deaf     bool // there is no speech recognizer
	Plays    bool // the server plays the sound: a call over WebRTC
	Restored bool // the conversation continues from a snapshot
}

// Instant is the time of an input.
type Instant struct {
	Now   time.Time
	Heard int // milliseconds of the client's sound that have been heard
}

// Projection is the state of one conversation as seen by its client. It must be used by
// one goroutine at a time.
type Projection struct {
	o       Options
	session wire.Session
	items   items
	limits  limits
	lastID  uint64

	named    bool // the client has named the model
	met      bool // a client has connected before
	restored bool // the items must still be created from the restored history
	spoken   bool // the agent has been heard

	phase   conv.Phase
	started bool        // the machine was told to begin
	ruled   bool        // the machine was told the rules
	running bool        // the machine listens or has listened
	resp    *response   // the active response, or nil
	last    *response   // the previous response, until the next begins
	measure bool        // it is not yet known how much of last was heard
	create  *create     // a requested response that has not begun, or nil
	beside  []*response // responses beside the conversation

	speech      *speech   // the person's current turn, or nil
	written     []*speech // committed turns whose words are not all known
	starts      spots
	ends        spots
	userOpen    bool      // the machine has an open turn of the person
	stopMS      int       // position of the sound at which the configured silence has passed; 0 while the person speaks
	stopAt      time.Time // when a turn under semantic_vad ends without further sound; zero if it does not
	uncommitted int       // samples since the last commit
	idleAt      time.Time // when the silence after a response has lasted too long; zero if not set
	idleFrom    int       // milliseconds of sound at the beginning of that silence

	// Values of the current step.
	at  Instant
	out Output
}

// New returns the projection of a conversation to which no client has connected yet.
func New(now time.Time, o Options) *Projection {
	return &Projection{
		o: o, session: o.Session, named: o.Named, restored: o.Restored, started: o.Restored,
		limits: limits{responses: o.Responses, tokens: o.Tokens, since: now},
	}
}

// Output is the result of one input. The caller owns its slices.
type Output struct {
	Events  []wire.Event // for the client, in order
	Effects []Effect     // for the loop, in order, after the events
	// Question is the answer to [ModelAsked], or nil if the turn is over.
	Question *Question
}

// Step handles one input. It ignores inputs for responses, items and turns that are
// over.
func (p *Projection) Step(at Instant, in Input) Output {
	p.at = at
	p.maybeStop()
	switch in := in.(type) {
	case Connected:
		p.connected()
	case Disconnected:
		p.idleAt = time.Time{} // nobody hears the silence
	case Stepped:
		p.observe(in)
	case Requested:
		p.requested(in.Event)
	case Appended:
		p.appended(in.Samples)
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
		p.sounded(in)
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

// maybeStop ends the speech of the client if enough silence was heard after it.
func (p *Projection) maybeStop() {
	if p.stopMS > 0 && p.at.Heard >= p.stopMS {
		p.silencePassed()
	}
}

// appended handles sound of the client.
func (p *Projection) appended(samples int) {
	p.uncommitted += samples
	p.soundGoesOn()
	if p.Detects() {
		p.start(!p.greetsUnasked())
	}
}

// sounded sends the sound of the active response.
func (p *Projection) sounded(in Spoken) {
	if r := p.resp; r != nil && r.turn == in.Turn && r.audio {
		p.speak(r, in.PCM)
	}
}

// Deadline returns when [TimePassed] must be passed to Step; zero means never.
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

// passed reports whether a time has come.
func (p *Projection) passed(t time.Time) bool { return !t.IsZero() && !p.at.Now.Before(t) }

// timePassed handles the deadlines that have passed.
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

// Session returns the current configuration.
func (p *Projection) Session() wire.Session { return p.session }

// Detects reports whether turn detection is on. If it is off, the client ends turns,
// and its sound is not passed to the machine.
func (p *Projection) Detects() bool { return p.session.Input.TurnDetection != nil }

// Started reports whether the machine was told to begin.
func (p *Projection) Started() bool { return p.started }

// Running reports whether the machine listens or has listened.
func (p *Projection) Running() bool { return p.running }

// Measuring reports whether it is still unknown how much of the last response was
// heard.
func (p *Projection) Measuring() bool { return p.measure }

// Voice returns the speed at which the active response is spoken, and whether it is
// silent.
func (p *Projection) Voice() (speed float64, silent bool) {
	if p.resp == nil {
		return 1, false
	}
	return p.resp.session.Output.Speed, !p.resp.audio
}

// send adds an event for the client.
func (p *Projection) send(e wire.Event) { p.out.Events = append(p.out.Events, e) }

// do adds an effect.
func (p *Projection) do(e Effect) { p.out.Effects = append(p.out.Effects, e) }

// post passes events to the machine.
func (p *Projection) post(events ...conv.Event) { p.do(Post{events}) }

// refuse sends an error about the client's event.
func (p *Projection) refuse(err *wire.Error) { p.send(wire.ErrorEvent{Error: *err}) }

// newID returns a new id that is unique in the conversation, since clients may choose
// ids too.
func (p *Projection) newID(kind string) string {
	for {
		p.lastID++
		id := fmt.Sprintf("%s_%s%04x", kind, p.o.IDs, p.lastID)
		if p.items.find(id) == nil {
			return id
		}
	}
}

// start tells the machine to begin and passes the client's first events to it. The
// agent greets unless silent is true.
func (p *Projection) start(silent bool, first ...conv.Event) {
	if p.started {
		return
	}
	p.started = true
	p.post(append([]conv.Event{conv.UserStart{Silent: silent}}, first...)...)
}

// greetsUnasked reports whether the agent greets a client that has not asked for a
// response: it has a greeting, and the client's configuration allows responses that
// were not requested.
func (p *Projection) greetsUnasked() bool {
	t := p.session.Input.TurnDetection
	return p.o.Greets && p.session.Type != wire.TypeTranscription && t != nil && t.CreateResponse
}
