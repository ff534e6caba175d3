package conv

import "github.com/hocketvoice/hocket/turn"

// This file contains the table of the events. A new event needs a type in event.go, a row
// here and a handler in [Conversation.handle].

// EventType returns the name of the event in traces and on the command line, such as
// "user.start".
func EventType(ev Event) string { return describe(ev).name }

// description describes a type of event.
type description struct {
	name string // in traces and on the command line
	bare Event  // the zero value
	// exchange passes the fields of an event through x and returns the resulting event.
	exchange func(x *exchange, ev Event) Event
	// late reports whether the event belongs to something that is over, and notes in x
	// whether a text is malformed.
	late func(x *exchange, s *State, ev Event) bool
	// deferred says that the event waits until a suspension ends. passing says that it may
	// be dropped while it waits, because the next event of its type reports as much.
	deferred, passing bool
}

// of returns the description of the events of type E. fields passes each field of an event
// through x, for reading, writing, checking and hiding alike, and returns the event. late
// reports whether an event belongs to something that is over. Both may be nil.
func of[E Event](name string, fields func(x *exchange, e E) E, late func(s *State, e E) bool) description {
	var bare E
	d := description{
		name: name, bare: bare,
		exchange: func(_ *exchange, ev Event) Event { return ev },
	}
	if fields != nil {
		d.exchange = func(x *exchange, ev Event) Event { return fields(x, as[E](ev)) }
	}
	switch texts := hasTexts(fields); {
	case texts && late != nil:
		d.late = func(x *exchange, s *State, ev Event) bool {
			e := as[E](ev)
			fields(x, e)
			return !x.malformed && late(s, e)
		}
	case texts:
		d.late = func(x *exchange, _ *State, ev Event) bool {
			fields(x, as[E](ev))
			return false
		}
	case late != nil:
		d.late = func(_ *exchange, s *State, ev Event) bool { return late(s, as[E](ev)) }
	default:
		d.late = func(*exchange, *State, Event) bool { return false }
	}
	return d
}

// hasTexts reports whether the events of a type have a text, which may be malformed.
func hasTexts[E Event](fields func(x *exchange, e E) E) bool {
	if fields == nil {
		return false
	}
	var bare E
	x := exchange{mode: probing}
	fields(&x, bare)
	return x.texts
}

// as returns an event as a value of its type.
func as[E Event](ev Event) E {
	return ev.(E) //nolint:errcheck // another type is a mistake in the table
}

// deferred is of for an event that waits until a suspension ends.
func deferred[E Event](name string, fields func(x *exchange, e E) E, late func(s *State, e E) bool) description {
	d := of(name, fields, late)
	d.deferred = true
	return d
}

// passing is deferred for an event that only reports progress: it is dropped if there is no
// room for it.
func passing[E Event](name string, fields func(x *exchange, e E) E, late func(s *State, e E) bool) description {
	d := deferred(name, fields, late)
	d.passing = true
	return d
}

// The valid values of fields.
var (
	endCauses       = []EndCause{EndAuto, EndSilence, EndEasyTurn, EndSemantic, EndManual, EndMaxDuration}
	bargeInPolicies = []turn.BargeInPolicy{turn.BargeInHybrid, turn.BargeInEnergy, turn.BargeInWords, turn.BargeInNone}
)

// descriptions describes the events, by their kind.
var descriptions = [numKinds]description{
	kindUserStart: of("user.start", func(x *exchange, e UserStart) UserStart {
		x.flag(&x.Silent, &e.Silent)
		return e
	}, nil),
	kindUserStop: of("user.stop", func(x *exchange, e UserStop) UserStop {
		x.text(&x.Reason, &e.Reason)
		return e
	}, nil),
	kindSessionEnded: of[SessionEnded]("session.ended", nil, nil),
	kindSessionReady: of("session.ready", func(x *exchange, e SessionReady) SessionReady {
		x.name(&x.ID, &e.ID)
		return e
	}, nil),
	kindAudioReady: deferred[AudioReady]("audio.ready", nil, nil),
	kindSpeechStarted: deferred("speech.started", func(x *exchange, e SpeechStarted) SpeechStarted {
		x.speech(&e.Turn, &e.Utterance)
		enum(x, "source", &x.Source, &e.Source, nil)
		x.span("lag_ms", &x.LagMS, &e.Lag)
		x.flag(&x.Echo, &e.Echo)
		return e
	}, func(s *State, e SpeechStarted) bool { return s.staleSpeech(0, e.Utterance) }),
	kindSpeechStopped: deferred("speech.stopped", func(x *exchange, e SpeechStopped) SpeechStopped {
		x.speech(&e.Turn, &e.Utterance)
		enum(x, "source", &x.Source, &e.Source, nil)
		x.span("lag_ms", &x.LagMS, &e.Lag)
		return e
	}, func(s *State, e SpeechStopped) bool { return s.staleSpeech(e.Turn, e.Utterance) }),
	kindSTTPartial: passing("stt.partial", func(x *exchange, e STTPartial) STTPartial {
		x.speech(&e.Turn, &e.Utterance)
		x.text(&x.Text, &e.Text)
		x.share("confidence", &x.Confidence, &e.Confidence)
		x.share("stability", &x.Stability, &e.Stability)
		return e
	}, func(s *State, e STTPartial) bool { return s.staleWords(e.Turn, e.Utterance, e.Text, false) }),
	kindSTTFinal: deferred("stt.final", func(x *exchange, e STTFinal) STTFinal {
		x.speech(&e.Turn, &e.Utterance)
		x.text(&x.Text, &e.Text)
		x.share("confidence", &x.Confidence, &e.Confidence)
		x.share("stability", &x.Stability, &e.Stability)
		x.flag(&x.Endpoint, &e.Endpoint)
		x.span("lag_ms", &x.LagMS, &e.Lag)
		return e
	}, func(s *State, e STTFinal) bool { return s.staleWords(e.Turn, e.Utterance, e.Text, true) }),
	kindTurnEnded: deferred("turn.ended", func(x *exchange, e TurnEnded) TurnEnded {
		x.speech(&e.Turn, &e.Utterance)
		enum(x, "cause", &x.Cause, &e.Cause, endCauses)
		return e
	}, func(s *State, e TurnEnded) bool { return s.staleSpeech(e.Turn, e.Utterance) }),
	kindUserText: deferred("user.text", func(x *exchange, e UserText) UserText {
		x.text(&x.Text, &e.Text)
		return e
	}, nil),
	kindUserKey: deferred[UserKey]("user.key", nil, nil),
	kindUserInterrupt: deferred("user.interrupt", func(x *exchange, e UserInterrupt) UserInterrupt {
		enum(x, "source", &x.Source, &e.Source, nil)
		x.span("heard_ms", &x.HeardMS, &e.Heard)
		return e
	}, nil),
	kindUserCancel: deferred("user.cancel", func(x *exchange, e UserCancel) UserCancel {
		x.name(&x.ID, &e.ID)
		return e
	},
		func(s *State, e UserCancel) bool { return e.ID != "" && s.Calls.task(e.ID) < 0 }),
	kindUserRecover: deferred[UserRecover]("user.recover", nil, nil),
	kindReplyRequested: deferred("reply.requested", func(x *exchange, e ReplyRequested) ReplyRequested {
		x.reply(&e.Turn, &e.Request)
		enum(x, "source", &x.Source, &e.Source, nil)
		return e
	}, func(s *State, e ReplyRequested) bool { return s.Reply.stale(e.Turn, e.Request) }),
	kindReplyDelta: deferred("reply.delta", func(x *exchange, e ReplyDelta) ReplyDelta {
		x.reply(&e.Turn, &e.Request)
		x.text(&x.Text, &e.Text)
		return e
	}, func(s *State, e ReplyDelta) bool { return s.staleReply(e.Turn, e.Request) }),
	kindReplyDone: deferred("reply.done", func(x *exchange, e ReplyDone) ReplyDone {
		x.reply(&e.Turn, &e.Request)
		x.text(&x.Text, &e.Text)
		x.flag(&x.Silent, &e.Silent)
		return e
	}, func(s *State, e ReplyDone) bool { return s.staleReply(e.Turn, e.Request) }),
	kindReplyFailed: deferred("reply.failed", func(x *exchange, e ReplyFailed) ReplyFailed {
		x.reply(&e.Turn, &e.Request)
		x.failure(&e.Code, &e.Message)
		x.flag(&x.Retryable, &e.Retryable)
		return e
	}, func(s *State, e ReplyFailed) bool { return s.staleReply(e.Turn, e.Request) }),
	kindToolCalled: deferred("tool.called", func(x *exchange, e ToolCalled) ToolCalled {
		x.reply(&e.Turn, &e.Request)
		x.call(&e.ID, &e.Name, &e.Arguments)
		x.flag(&x.Long, &e.Long)
		x.flag(&x.Confirm, &e.Confirm)
		return e
	}, func(s *State, e ToolCalled) bool { return !s.belated(e) && s.staleReply(e.Turn, e.Request) }),
	kindToolDone: deferred("tool.done", func(x *exchange, e ToolDone) ToolDone {
		x.result(&e.ID, &e.Output)
		return e
	},
		func(s *State, e ToolDone) bool { return s.Calls.find(e.ID, false) < 0 }),
	kindToolFailed: deferred("tool.failed", func(x *exchange, e ToolFailed) ToolFailed {
		x.result(&e.ID, &e.Output)
		x.failure(&e.Code, &e.Message)
		x.flag(&x.Fatal, &e.Fatal)
		return e
	}, func(s *State, e ToolFailed) bool { return s.Calls.find(e.ID, false) < 0 }),
	kindTaskProgress: passing("task.progress", func(x *exchange, e TaskProgress) TaskProgress {
		x.name(&x.ID, &e.ID)
		x.text(&x.Text, &e.Text)
		return e
	}, func(s *State, e TaskProgress) bool { return s.Calls.find(e.ID, true) < 0 }),
	kindTaskDone: deferred("task.done", func(x *exchange, e TaskDone) TaskDone {
		x.result(&e.ID, &e.Output)
		return e
	},
		func(s *State, e TaskDone) bool { return s.Calls.find(e.ID, true) < 0 }),
	kindTaskFailed: deferred("task.failed", func(x *exchange, e TaskFailed) TaskFailed {
		x.result(&e.ID, &e.Output)
		x.failure(&e.Code, &e.Message)
		return e
	}, func(s *State, e TaskFailed) bool { return s.Calls.find(e.ID, true) < 0 }),
	kindTaskAdopted: of("task.adopted", func(x *exchange, e TaskAdopted) TaskAdopted {
		x.call(&e.Key, &e.Name, &e.Arguments)
		return e
	},
		func(s *State, e TaskAdopted) bool { return s.adopted(e.Key) }),
	kindSummarized: of("history.summarized", func(x *exchange, e Summarized) Summarized {
		x.number("request", &x.Request, &e.Request)
		x.text(&x.Text, &e.Text)
		return e
	}, func(s *State, e Summarized) bool { return e.Request != s.Summary.Request || s.Summary.Asking == 0 }),
	kindPlayoutStarted: deferred("playout.started", func(x *exchange, e PlayoutStarted) PlayoutStarted {
		x.playout(&e.Turn, &e.Part)
		return e
	},
		func(s *State, e PlayoutStarted) bool { return s.stalePlayout(e.Turn) }),
	kindPlayoutProgress: passing("playout.progress", func(x *exchange, e PlayoutProgress) PlayoutProgress {
		x.number("turn", &x.Turn, &e.Turn)
		x.heard(&e.Heard, &e.Text)
		return e
	}, func(s *State, e PlayoutProgress) bool { return s.stalePlayout(e.Turn) }),
	kindPlayoutFinished: deferred("playout.finished", func(x *exchange, e PlayoutFinished) PlayoutFinished {
		x.playout(&e.Turn, &e.Part)
		x.heard(&e.Heard, &e.Text)
		return e
	}, func(s *State, e PlayoutFinished) bool { return s.stalePlayout(e.Turn) }),
	kindPlayoutFailed: deferred("playout.failed", func(x *exchange, e PlayoutFailed) PlayoutFailed {
		x.number("turn", &x.Turn, &e.Turn)
		x.failure(&e.Code, &e.Message)
		return e
	}, func(s *State, e PlayoutFailed) bool { return s.stalePlayout(e.Turn) }),
	kindPlayoutFlushed: deferred("playout.flushed", func(x *exchange, e PlayoutFlushed) PlayoutFlushed {
		x.playout(&e.Turn, &e.Part)
		x.heard(&e.Heard, &e.Text)
		return e
	}, func(s *State, e PlayoutFlushed) bool { return !s.History.wasCut(e.Turn) }),
	kindSessionRenewal: of("session.renewal", func(x *exchange, e SessionRenewal) SessionRenewal {
		enum(x, "source", &x.Source, &e.Source, nil)
		return e
	}, nil),
	kindSessionRenewed: of("session.renewed", func(x *exchange, e SessionRenewed) SessionRenewed {
		x.name(&x.ID, &e.ID)
		return e
	}, nil),
	kindSessionConfigured: of("session.configured", func(x *exchange, e SessionConfigured) SessionConfigured {
		enum(x, "barge_in", &x.BargeIn, &e.BargeIn, bargeInPolicies)
		x.flag(&x.ListenOnly, &e.ListenOnly)
		return e
	}, nil),
	kindContextSet: of("context.set", func(x *exchange, e ContextSet) ContextSet {
		x.name(&x.ID, &e.ID)
		x.data(&x.Data, &e.Data)
		return e
	}, nil),
	kindSessionExpiring: of[SessionExpiring]("session.expiring", nil, nil),
	kindSessionExpired:  of[SessionExpired]("session.expired", nil, nil),
	kindConnectionLost: of("connection.lost", func(x *exchange, e ConnectionLost) ConnectionLost {
		x.flag(&x.Retryable, &e.Retryable)
		return e
	}, nil),
	kindConnectionRestored: of[ConnectionRestored]("connection.restored", nil, nil),
	kindReconnectFailed: of("reconnect.failed", func(x *exchange, e ReconnectFailed) ReconnectFailed {
		x.flag(&x.Retryable, &e.Retryable)
		return e
	}, nil),
	kindFault: of("fault", func(x *exchange, e Fault) Fault {
		x.failure(&e.Code, &e.Message)
		x.flag(&x.Fatal, &e.Fatal)
		return e
	}, nil),
	kindDeadlinePassed: of[DeadlinePassed]("deadline", nil, nil),
}

// events maps the name of an event to its kind.
var events = func() map[string]kind {
	byName := make(map[string]kind, numKinds)
	for i := range descriptions {
		byName[descriptions[i].name] = kind(i)
	}
	return byName
}()

// describe returns the description of an event.
func describe(ev Event) *description { return &descriptions[ev.kind()] }

// EventTypes returns the names of all types of events, in a fixed order.
func EventTypes() []string {
	var types []string
	for i := range descriptions {
		types = append(types, descriptions[i].name)
	}
	return types
}
