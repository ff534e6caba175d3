package conv

import (
	"fmt"

	"github.com/hocketvoice/hocket/turn"
)

// This file: the one table of the events. A new event is a type in event.go, a row
// here and its handler in [Conversation.handle].

// description is what the machine and the wire know of an event. Its name is the
// type's own: [Event.EventType].
type description struct {
	bare Event
	// exchange takes the fields of an event through x and returns the event that comes
	// of it.
	exchange func(x *exchange, ev Event) Event
	// check is exchange for its effect on x alone; nil: the event has no fields.
	check func(x *exchange, ev Event)
	// late reports whether the event belongs to something that is over; nil: it never does.
	late func(s *State, ev Event) bool
	// kept: the event waits for the end of a suspension; passing: it makes room for
	// others there, because the next one of its type tells as much.
	kept, passing bool
}

// of describes the events of a type. fields takes each field of an event through x, in
// one place for reading, writing and checking, and returns the event. late reports
// whether an event belongs to something that is over. Both are nil for none.
func of[E Event](fields func(x *exchange, e E) E, late func(s *State, e E) bool) description {
	var bare E
	d := description{
		bare:     bare,
		exchange: func(_ *exchange, ev Event) Event { return ev },
	}
	if fields != nil {
		d.exchange = func(x *exchange, ev Event) Event { return fields(x, as[E](ev)) }
		d.check = func(x *exchange, ev Event) { fields(x, as[E](ev)) }
	}
	if late != nil {
		d.late = func(s *State, ev Event) bool { return late(s, as[E](ev)) }
	}
	return d
}

// as returns an event as its own type, by which the table found its row.
func as[E Event](ev Event) E {
	return ev.(E) //nolint:errcheck // another type is a mistake in the table
}

// kept describes an event that waits for the end of a suspension.
func kept[E Event](fields func(x *exchange, e E) E, late func(s *State, e E) bool) description {
	d := of(fields, late)
	d.kept = true
	return d
}

// passing describes an event that waits for the end of a suspension unless there is
// no room: it only tells how far something is.
func passing[E Event](fields func(x *exchange, e E) E, late func(s *State, e E) bool) description {
	d := kept(fields, late)
	d.passing = true
	return d
}

// descriptions are the events in their fixed order.
var descriptions = [numKinds]description{
	kindUserStart: of(func(x *exchange, e UserStart) UserStart {
		x.flag(&x.Silent, &e.Silent)
		return e
	}, nil),
	kindUserStop: of(func(x *exchange, e UserStop) UserStop {
		x.text(&x.Reason, &e.Reason)
		return e
	}, nil),
	kindSessionEnded: of[SessionEnded](nil, nil),
	kindSessionReady: of(func(x *exchange, e SessionReady) SessionReady {
		x.text(&x.ID, &e.ID)
		return e
	}, nil),
	kindAudioReady: kept[AudioReady](nil, nil),
	kindSpeechStarted: kept(func(x *exchange, e SpeechStarted) SpeechStarted {
		x.speech(&e.Turn, &e.Utterance)
		enum(x, "source", &x.Source, &e.Source)
		x.span("lag_ms", &x.LagMS, &e.Lag)
		return e
	}, func(s *State, e SpeechStarted) bool { return s.staleSpeech(0, e.Utterance) }),
	kindSpeechStopped: kept(func(x *exchange, e SpeechStopped) SpeechStopped {
		x.speech(&e.Turn, &e.Utterance)
		enum(x, "source", &x.Source, &e.Source)
		return e
	}, func(s *State, e SpeechStopped) bool { return s.staleSpeech(e.Turn, e.Utterance) }),
	kindSTTPartial: passing(func(x *exchange, e STTPartial) STTPartial {
		x.speech(&e.Turn, &e.Utterance)
		x.text(&x.Text, &e.Text)
		x.share("confidence", &x.Confidence, &e.Confidence)
		x.share("stability", &x.Stability, &e.Stability)
		return e
	}, func(s *State, e STTPartial) bool { return s.staleWords(e.Turn, e.Utterance, squeeze(e.Text), false) }),
	kindSTTFinal: kept(func(x *exchange, e STTFinal) STTFinal {
		x.speech(&e.Turn, &e.Utterance)
		x.text(&x.Text, &e.Text)
		x.share("confidence", &x.Confidence, &e.Confidence)
		x.share("stability", &x.Stability, &e.Stability)
		x.flag(&x.Endpoint, &e.Endpoint)
		return e
	}, func(s *State, e STTFinal) bool { return s.staleWords(e.Turn, e.Utterance, squeeze(e.Text), true) }),
	kindTurnEnded: kept(func(x *exchange, e TurnEnded) TurnEnded {
		x.speech(&e.Turn, &e.Utterance)
		enum(x, "cause", &x.Cause, &e.Cause, EndSilence, EndEasyTurn, EndSemantic, EndManual, EndMaxDuration)
		return e
	}, func(s *State, e TurnEnded) bool { return s.staleSpeech(e.Turn, e.Utterance) }),
	kindUserText: kept(func(x *exchange, e UserText) UserText {
		x.text(&x.Text, &e.Text)
		return e
	}, nil),
	kindUserInterrupt: kept(func(x *exchange, e UserInterrupt) UserInterrupt {
		enum(x, "source", &x.Source, &e.Source)
		x.span("heard_ms", &x.HeardMS, &e.Heard)
		return e
	}, nil),
	kindUserCancel: kept(func(x *exchange, e UserCancel) UserCancel {
		x.text(&x.ID, &e.ID)
		return e
	},
		func(s *State, e UserCancel) bool { return e.ID != "" && s.Calls.task(e.ID) < 0 }),
	kindReplyRequested: kept(func(x *exchange, e ReplyRequested) ReplyRequested {
		x.reply(&e.Turn, &e.Request)
		x.text(&x.Source, &e.Source)
		return e
	}, func(s *State, e ReplyRequested) bool { return s.Reply.stale(e.Turn, e.Request) }),
	kindReplyDelta: kept(func(x *exchange, e ReplyDelta) ReplyDelta {
		x.reply(&e.Turn, &e.Request)
		x.text(&x.Text, &e.Text)
		return e
	}, func(s *State, e ReplyDelta) bool { return s.staleReply(e.Turn, e.Request) }),
	kindReplyDone: kept(func(x *exchange, e ReplyDone) ReplyDone {
		x.reply(&e.Turn, &e.Request)
		x.text(&x.Text, &e.Text)
		x.flag(&x.Silent, &e.Silent)
		return e
	}, func(s *State, e ReplyDone) bool { return s.staleReply(e.Turn, e.Request) }),
	kindReplyFailed: kept(func(x *exchange, e ReplyFailed) ReplyFailed {
		x.reply(&e.Turn, &e.Request)
		x.failure(&e.Code, &e.Message)
		x.flag(&x.Retryable, &e.Retryable)
		return e
	}, func(s *State, e ReplyFailed) bool { return s.staleReply(e.Turn, e.Request) }),
	kindToolCalled: kept(func(x *exchange, e ToolCalled) ToolCalled {
		x.reply(&e.Turn, &e.Request)
		x.call(&e.ID, &e.Name, &e.Arguments)
		x.flag(&x.Long, &e.Long)
		x.flag(&x.Confirm, &e.Confirm)
		return e
	}, func(s *State, e ToolCalled) bool { return !s.belated(e) && s.staleReply(e.Turn, e.Request) }),
	kindToolDone: kept(func(x *exchange, e ToolDone) ToolDone {
		x.result(&e.ID, &e.Output)
		return e
	},
		func(s *State, e ToolDone) bool { return s.Calls.find(e.ID, false) < 0 }),
	kindToolFailed: kept(func(x *exchange, e ToolFailed) ToolFailed {
		x.result(&e.ID, &e.Output)
		x.failure(&e.Code, &e.Message)
		x.flag(&x.Fatal, &e.Fatal)
		return e
	}, func(s *State, e ToolFailed) bool { return s.Calls.find(e.ID, false) < 0 }),
	kindTaskProgress: passing(func(x *exchange, e TaskProgress) TaskProgress {
		x.text(&x.ID, &e.ID)
		x.text(&x.Text, &e.Text)
		return e
	}, func(s *State, e TaskProgress) bool { return s.Calls.find(e.ID, true) < 0 }),
	kindTaskDone: kept(func(x *exchange, e TaskDone) TaskDone {
		x.result(&e.ID, &e.Output)
		return e
	},
		func(s *State, e TaskDone) bool { return s.Calls.find(e.ID, true) < 0 }),
	kindTaskFailed: kept(func(x *exchange, e TaskFailed) TaskFailed {
		x.result(&e.ID, &e.Output)
		x.failure(&e.Code, &e.Message)
		return e
	}, func(s *State, e TaskFailed) bool { return s.Calls.find(e.ID, true) < 0 }),
	kindTaskAdopted: of(func(x *exchange, e TaskAdopted) TaskAdopted {
		x.call(&e.Key, &e.Name, &e.Arguments)
		return e
	},
		func(s *State, e TaskAdopted) bool { return s.adopted(e.Key) }),
	kindSummarized: of(func(x *exchange, e Summarized) Summarized {
		x.number("request", &x.Request, &e.Request)
		x.text(&x.Text, &e.Text)
		return e
	}, func(s *State, e Summarized) bool { return e.Request != s.Summary.Request || s.Summary.Asking == 0 }),
	kindPlayoutStarted: kept(func(x *exchange, e PlayoutStarted) PlayoutStarted {
		x.playout(&e.Turn, &e.Part)
		return e
	},
		func(s *State, e PlayoutStarted) bool { return s.stalePlayout(e.Turn) }),
	kindPlayoutProgress: passing(func(x *exchange, e PlayoutProgress) PlayoutProgress {
		x.number("turn", &x.Turn, &e.Turn)
		x.heard(&e.Heard, &e.Text)
		return e
	}, func(s *State, e PlayoutProgress) bool { return s.stalePlayout(e.Turn) }),
	kindPlayoutFinished: kept(func(x *exchange, e PlayoutFinished) PlayoutFinished {
		x.playout(&e.Turn, &e.Part)
		x.heard(&e.Heard, &e.Text)
		return e
	}, func(s *State, e PlayoutFinished) bool { return s.stalePlayout(e.Turn) }),
	kindPlayoutFailed: kept(func(x *exchange, e PlayoutFailed) PlayoutFailed {
		x.number("turn", &x.Turn, &e.Turn)
		x.failure(&e.Code, &e.Message)
		return e
	}, func(s *State, e PlayoutFailed) bool { return s.stalePlayout(e.Turn) }),
	kindPlayoutFlushed: kept(func(x *exchange, e PlayoutFlushed) PlayoutFlushed {
		x.playout(&e.Turn, &e.Part)
		x.heard(&e.Heard, &e.Text)
		return e
	}, func(s *State, e PlayoutFlushed) bool { return s.staleFlush(e) }),
	kindSessionRenewal: of(func(x *exchange, e SessionRenewal) SessionRenewal {
		x.text(&x.Source, &e.Source)
		return e
	}, nil),
	kindSessionRenewed: of(func(x *exchange, e SessionRenewed) SessionRenewed {
		x.text(&x.ID, &e.ID)
		return e
	}, nil),
	kindSessionConfigured: of(func(x *exchange, e SessionConfigured) SessionConfigured {
		enum(x, "barge_in", &x.BargeIn, &e.BargeIn, turn.BargeInHybrid, turn.BargeInEnergy, turn.BargeInWords, turn.BargeInNone)
		x.flag(&x.ListenOnly, &e.ListenOnly)
		return e
	}, nil),
	kindSessionExpiring: of[SessionExpiring](nil, nil),
	kindSessionExpired:  of[SessionExpired](nil, nil),
	kindConnectionLost: of(func(x *exchange, e ConnectionLost) ConnectionLost {
		x.flag(&x.Retryable, &e.Retryable)
		return e
	}, nil),
	kindConnectionRestored: of[ConnectionRestored](nil, nil),
	kindReconnectFailed: of(func(x *exchange, e ReconnectFailed) ReconnectFailed {
		x.flag(&x.Retryable, &e.Retryable)
		return e
	}, nil),
	kindFault: of(func(x *exchange, e Fault) Fault {
		x.failure(&e.Code, &e.Message)
		x.flag(&x.Fatal, &e.Fatal)
		return e
	}, nil),
	kindDeadlinePassed: of[DeadlinePassed](nil, nil),
}

// events are the kinds by the name of the event.
var events = func() map[string]kind {
	byName := make(map[string]kind, numKinds)
	for i := range descriptions {
		byName[descriptions[i].bare.EventType()] = kind(i)
	}
	return byName
}()

// isLate reports whether an event of this type belongs to something that is over.
func (d *description) isLate(s *State, ev Event) bool { return d.late != nil && d.late(s, ev) }

// describe returns the description of an event.
func describe(ev Event) *description {
	k := ev.kind()
	if k >= numKinds {
		panic(fmt.Sprintf("conv: unexpected event %T", ev))
	}
	return &descriptions[k]
}

// EventTypes returns the names of all events in their fixed order.
func EventTypes() []string {
	var types []string
	for i := range descriptions {
		types = append(types, descriptions[i].bare.EventType())
	}
	return types
}
