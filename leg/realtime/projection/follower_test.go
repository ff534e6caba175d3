package projection_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/explore"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
	"github.com/hocketvoice/hocket/leg/realtime/projection"
)

// follower is a client and its projection during an exploration of the machine. It does
// what the loop around a projection does, and checks the client's events against the
// rules of the protocol.
type follower struct {
	o      projection.Options
	p      *projection.Projection
	rules  *protocol
	inputs []input
	mutant func([]wire.Event) []wire.Event // changes the client's events; may be nil
	events func(conv.Event) bool           // the events of the walk; nil allows all
	apart  bool                            // states with different projections are different: see [explore.Follower]

	question    string   // the response that the model was asked for and has not answered
	turn        int      // of the question
	calls       int      // tool calls in the answer
	fails       bool     // the model is about to fail
	recognizing []string // items that are being recognized
	beside      string   // the response beside the conversation, or ""
	flushed     int      // the turn of the interrupted answer whose PlayoutFlushed is to come
}

// input is something that may happen between the steps of the machine.
type input struct {
	name string
	do   func(*follower, *conv.State) (in projection.Input, facts []conv.Event, ok bool)
}

// instant is the time of everything that happens.
var instant = projection.Instant{Now: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), Heard: 5000}

func newFollower(o projection.Options, inputs []input, mutant func([]wire.Event) []wire.Event) *follower {
	if o.Session.Type == "" {
		o.Session = wire.NewSession(wire.TypeRealtime)
	}
	o.Conversation, o.IDs, o.Responses, o.Tokens = "conv_1", "x", 1<<30, 1<<30
	f := &follower{o: o, p: projection.New(instant.Now, o), rules: newProtocol(), inputs: inputs, mutant: mutant, apart: true}
	if t := o.Session.Input.TurnDetection; o.Session.Type == wire.TypeTranscription {
		f.rules.wish = none
	} else if t != nil && !t.CreateResponse {
		f.rules.wish = asked
	}
	if _, err := f.take(projection.Connected{}); err != nil {
		panic(err)
	}
	return f
}

// Clone implements [explore.Follower].
func (f *follower) Clone() explore.Follower {
	c := *f
	c.p, c.rules, c.recognizing = f.p.Clone(), f.rules.clone(), slices.Clone(f.recognizing)
	return &c
}

// take steps the projection, checks its events against the rules and performs its
// effects. It returns the events for the machine.
func (f *follower) take(in projection.Input) (facts []conv.Event, err error) {
	at := instant
	switch in.(type) {
	case projection.TimePassed:
		at.Now = f.p.Deadline()
	case projection.Appended:
		at.Heard += 10_000
	}
	out := f.p.Step(at, in)
	if f.mutant != nil {
		out.Events = f.mutant(out.Events)
	}
	for _, e := range out.Events {
		if err := f.rules.event(e); err != nil {
			return nil, fmt.Errorf("%w, told of %T", err, in)
		}
	}
	if out.Question != nil {
		f.question, f.calls, f.fails = out.Question.Response, 0, false
	}
	for _, e := range out.Effects {
		switch e := e.(type) {
		case projection.Post:
			facts = append(facts, e.Events...)
		case projection.ReachCommit:
			more, err := f.take(projection.CommitReached{})
			if err != nil {
				return nil, err
			}
			facts = append(facts, more...)
		case projection.RecognizeBuffer:
			f.recognizing = append(f.recognizing, e.Item)
		case projection.RecognizeSound:
			f.recognizing = append(f.recognizing, e.Item)
		case projection.AnswerBeside:
			f.beside = e.Question.Response
		default: // the other effects have no result
		}
	}
	return facts, nil
}

// Step implements [explore.Follower].
func (f *follower) Step(st explore.Followed) (facts []conv.Event, err error) {
	inputs := []projection.Input{projection.Stepped{Event: st.Event, Output: st.Output, State: st.State}}
	if e, ok := st.Event.(conv.ReplyDone); ok && !st.Output.Late && f.question != "" && (e.Turn == 0 || e.Turn == f.turn) {
		answered := projection.ModelAnswered{Response: f.question}
		if f.fails {
			answered.Failure = &projection.Failure{Code: "RATE_LIMIT", Message: "too many"}
		}
		inputs = []projection.Input{answered, inputs[0]}
		f.question = ""
	}
	if !f.expected(st.Event) {
		f.rules.wish = answers // the response is requested by somebody else
	}
	if st.State.Reply.Turn != f.turn {
		f.question = "" // the model's answer is ignored from now on
	}
	for _, e := range st.Output.Effects {
		switch e := e.(type) {
		case conv.RequestReply:
			f.turn = e.Turn
			inputs = append(inputs, projection.ModelAsked{Turn: e.Turn})
		case conv.FlushPlayout:
			f.flushed = e.Turn
		default:
		}
	}
	if _, ok := st.Event.(conv.PlayoutStarted); ok && !st.Output.Late && st.State.Playout.Playing {
		inputs = append(inputs, sound(st.State.Playout.Turn))
	}
	for _, in := range inputs {
		more, err := f.take(in)
		if err != nil {
			return nil, err
		}
		facts = append(facts, more...)
	}
	return facts, nil
}

// expected reports whether an event belongs to the walk, or follows from what the
// client or the model does.
func (f *follower) expected(ev conv.Event) bool {
	switch ev.(type) {
	case conv.UserStart, conv.SessionConfigured, conv.UserInterrupt, conv.UserCancel, conv.DeadlinePassed, conv.PlayoutFlushed:
		return true
	case conv.ReplyDelta, conv.ReplyDone, conv.PlayoutStarted:
		return f.rules.active != ""
	case conv.UserText, conv.ReplyRequested:
		return f.rules.asks
	default:
		return f.events == nil || f.events(ev)
	}
}

func sound(turn int) projection.Spoken {
	return projection.Spoken{Turn: turn, PCM: make([]int16, projection.Rate*frame/1000)}
}

// Inputs implements [explore.Follower].
func (f *follower) Inputs() int { return len(f.inputs) }

// InputName implements [explore.Follower].
func (f *follower) InputName(i int) string { return f.inputs[i].name }

// Input implements [explore.Follower].
func (f *follower) Input(i int, st *conv.State) (facts []conv.Event, applies bool, err error) {
	in, facts, applies := f.inputs[i].do(f, st)
	if !applies || in == nil {
		return facts, applies, nil
	}
	if _, ok := in.(projection.Connected); ok {
		f.rules.reconnected()
	}
	active, refused := f.rules.active, f.rules.refused
	asks := f.rules.asks
	if e, ok := in.(projection.Requested); ok && e.Event.Type == wire.ResponseCreate && !e.Event.Response.OutOfBand {
		f.rules.asks = true
	}
	more, err := f.take(in)
	switch e, ok := in.(projection.Requested); {
	case !ok || err != nil:
	case f.rules.refused > refused:
		f.rules.asks = asks
	case e.Event.Type == wire.ResponseCancel && active != "":
		f.rules.cancelled[active] = true
	}
	return append(facts, more...), true, err
}

// Canonical implements [explore.Follower].
func (f *follower) Canonical(st *conv.State, rename func(int) int) {
	f.turn, f.flushed = rename(f.turn), rename(f.flushed)
	f.p.Canonical(st, rename)
	f.rules.forget(f.p.ItemIDs())
	f.recognizing = slices.DeleteFunc(f.recognizing, func(id string) bool { return !slices.Contains(f.p.ItemIDs(), id) })
}

// AppendKey implements [explore.Follower].
func (f *follower) AppendKey(b []byte) []byte {
	if !f.apart {
		return b
	}
	b = f.p.AppendKey(b)
	return fmt.Appendf(b, "|%t%d%d%t%d%t%d%t%t", f.question != "", f.turn, f.calls, f.fails, len(f.recognizing), f.beside != "", f.flushed, f.rules.cancelled[f.rules.active], f.rules.asks)
}

// request returns an input for a client event that is always possible.
func request(name string, e wire.ClientEvent) input {
	return input{name, func(*follower, *conv.State) (projection.Input, []conv.Event, bool) {
		return projection.Requested{Event: e}, nil, true
	}}
}

// The inputs by topic.
var (
	talking = []input{
		{"sound is sent", func(f *follower, _ *conv.State) (projection.Input, []conv.Event, bool) {
			return projection.Appended{Samples: projection.Rate / 5}, nil, !f.p.Started() || !f.p.Detects() || f.p.Stopping()
		}},
		{"time passes", func(f *follower, _ *conv.State) (projection.Input, []conv.Event, bool) {
			return projection.TimePassed{}, nil, !f.p.Deadline().IsZero()
		}},
		{"more is spoken", func(_ *follower, st *conv.State) (projection.Input, []conv.Event, bool) {
			return sound(st.Reply.Turn), nil, st.Reply.Turn != 0 && st.Reply.Voiced()
		}},
		{"the measure comes", func(f *follower, _ *conv.State) (projection.Input, []conv.Event, bool) {
			turn := f.flushed
			f.flushed = 0
			return nil, []conv.Event{conv.PlayoutFlushed{Turn: turn}}, turn != 0
		}},
		{"the client comes back", func(*follower, *conv.State) (projection.Input, []conv.Event, bool) {
			return projection.Connected{}, nil, true
		}},
	}
	asking = []input{
		request("response.create", wire.ClientEvent{Type: wire.ResponseCreate}),
		request("response.cancel", wire.ClientEvent{Type: wire.ResponseCancel}),
		{"the model calls a tool of the client's", func(f *follower, _ *conv.State) (projection.Input, []conv.Event, bool) {
			f.calls++
			return projection.ModelCalled{Response: f.question, Call: projection.Call{ID: "call_1", Name: "tool"}}, nil, f.question != "" && f.calls == 1
		}},
		{"the model fails", func(f *follower, _ *conv.State) (projection.Input, []conv.Event, bool) {
			was := f.fails
			f.fails = true
			return nil, nil, f.question != "" && !was
		}},
	}
	// modelled are a model and a voice that only do what they are asked to do.
	modelled = []input{
		{"the model says something", func(f *follower, _ *conv.State) (projection.Input, []conv.Event, bool) {
			return nil, []conv.Event{conv.ReplyDelta{Text: "Well. And"}}, f.question != ""
		}},
		{"the model has said all", func(f *follower, _ *conv.State) (projection.Input, []conv.Event, bool) {
			return nil, []conv.Event{conv.ReplyDone{}}, f.question != ""
		}},
		{"it is heard", func(_ *follower, st *conv.State) (projection.Input, []conv.Event, bool) {
			return nil, []conv.Event{conv.PlayoutStarted{Turn: st.Reply.Turn}}, st.Reply.Turn != 0 && st.Reply.Voiced()
		}},
	}
	typing = []input{
		{"conversation.item.create", func(f *follower, _ *conv.State) (projection.Input, []conv.Event, bool) {
			return projection.Requested{Event: wire.ClientEvent{Type: wire.ItemCreate, Item: wire.Item{
				Type: wire.Message, Role: "user", Status: wire.Completed, Content: []wire.Content{{Type: wire.InputText, Text: "hello"}},
			}}}, nil, len(f.p.ItemIDs()) < 3
		}},
		{"conversation.item.delete", func(f *follower, _ *conv.State) (projection.Input, []conv.Event, bool) {
			if len(f.rules.items) == 0 {
				return nil, nil, false
			}
			return projection.Requested{Event: wire.ClientEvent{Type: wire.ItemDelete, ItemID: f.rules.items[len(f.rules.items)-1]}}, nil, true
		}},
	}
	cutting = []input{
		truncate("at its beginning", func(int) int { return 0 }),
		truncate("at its end", func(frames int) int { return frames * frame }),
		truncate("behind its end", func(frames int) int { return frames*frame + 100 }),
		request("output_audio_buffer.clear", wire.ClientEvent{Type: wire.OutputClear}),
	}
	committing = []input{
		request("input_audio_buffer.commit", wire.ClientEvent{Type: wire.AudioCommit}),
		request("input_audio_buffer.clear", wire.ClientEvent{Type: wire.AudioClear}),
		{"the words are known", func(f *follower, _ *conv.State) (projection.Input, []conv.Event, bool) {
			if len(f.recognizing) == 0 {
				return nil, nil, false
			}
			id := f.recognizing[0]
			f.recognizing = f.recognizing[1:]
			return projection.Transcribed{Item: id, Text: "hello"}, nil, true
		}},
	}
	configuring = []input{
		request("turn detection off", wire.ClientEvent{Type: wire.SessionUpdate, Session: []byte(`{"type":"realtime","audio":{"input":{"turn_detection":null}}}`)}),
		request("turn detection on", wire.ClientEvent{Type: wire.SessionUpdate, Session: []byte(`{"type":"realtime","audio":{"input":{"turn_detection":{"type":"server_vad"}}}}`)}),
	}
	besides = []input{
		{"response.create beside", func(f *follower, _ *conv.State) (projection.Input, []conv.Event, bool) {
			return projection.Requested{Event: wire.ClientEvent{Type: wire.ResponseCreate, Response: wire.CreateParams{OutOfBand: true}}}, nil, f.beside == ""
		}},
		{"it says something", func(f *follower, _ *conv.State) (projection.Input, []conv.Event, bool) {
			return projection.BesideSaid{Response: f.beside, Text: "beside"}, nil, f.beside != ""
		}},
		{"it is over", func(f *follower, _ *conv.State) (projection.Input, []conv.Event, bool) {
			id := f.beside
			f.beside = ""
			return projection.BesideEnded{Response: id}, nil, id != ""
		}},
	}
)

// truncate returns an input that truncates the current or the last answer.
func truncate(where string, at func(frames int) int) input {
	return input{"conversation.item.truncate " + where, func(f *follower, _ *conv.State) (projection.Input, []conv.Event, bool) {
		i := slices.IndexFunc(f.rules.items, func(id string) bool { return f.rules.frames[id] > 0 })
		if i < 0 {
			return nil, nil, false
		}
		id := f.rules.items[i]
		return projection.Requested{Event: wire.ClientEvent{Type: wire.ItemTruncate, ItemID: id, AudioEndMS: at(f.rules.frames[id])}}, nil, true
	}}
}
