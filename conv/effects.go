package conv

import (
	"encoding/json"
	"fmt"
	"time"
)

// This file contains the table of the effects. A new effect needs a type in effect.go, a row
// here and a handler in the driver.

// work describes a type of effect.
type work struct {
	name string // in traces and on the command line
	// write returns the fields of an effect as a JSON object; read does the reverse.
	write func(e Effect) ([]byte, error)
	read  func(b []byte) (Effect, error)
	// hide returns the effect with the secrets hidden. It is nil if the effect has no text
	// that may contain one.
	hide func(k *mask, e Effect) Effect
	// kept says that the effect starts work that must not be forgotten, or ends the storage
	// of its result. The state must be stored before the driver carries it out
	// ([Output.Keep]).
	kept bool
}

// effectOf returns the description of the effects of type E. hide may be nil.
func effectOf[E Effect](name string, hide func(k *mask, e E) E) work {
	w := work{
		name:  name,
		write: func(e Effect) ([]byte, error) { return json.Marshal(e) },
		read: func(b []byte) (Effect, error) {
			var e E
			err := json.Unmarshal(b, &e)
			return e, err
		},
	}
	if hide != nil {
		w.hide = func(k *mask, e Effect) Effect {
			return hide(k, e.(E)) //nolint:errcheck // another type is a mistake in the table
		}
	}
	return w
}

// keptEffect is effectOf for an effect before which the state must be stored.
func keptEffect[E Effect](name string, hide func(k *mask, e E) E) work {
	w := effectOf(name, hide)
	w.kept = true
	return w
}

// hidden returns a function that hides the secrets in one field of an effect.
func hidden[E Effect](field func(e *E) *string) func(k *mask, e E) E {
	return func(k *mask, e E) E {
		text := field(&e)
		*text = k.Text(*text)
		return e
	}
}

// flushForm is the wire form of [FlushPlayout].
type flushForm struct {
	Turn    int     `json:"turn"`
	Part    int     `json:"part,omitempty"`
	HeardMS float64 `json:"heard_ms"`
}

func flushPlayout() work {
	w := effectOf[FlushPlayout]("flush_playout", nil)
	w.write = func(e Effect) ([]byte, error) {
		f := e.(FlushPlayout) //nolint:errcheck // another type is a mistake in the table
		return json.Marshal(flushForm{f.Turn, f.Part, milliseconds(f.Heard)})
	}
	w.read = func(b []byte) (Effect, error) {
		var f flushForm
		err := json.Unmarshal(b, &f)
		return FlushPlayout{f.Turn, f.Part, time.Duration(f.HeardMS * float64(time.Millisecond))}, err
	}
	return w
}

// works describes the effects, by their kind.
var works = [numEffects]work{
	effectOpenSession:        effectOf[OpenSession]("open_session", nil),
	effectPrimeAudio:         effectOf[PrimeAudio]("prime_audio", nil),
	effectListen:             effectOf[Listen]("listen", nil),
	effectExpect:             effectOf[Expect]("expect", nil),
	effectNoteAnswer:         effectOf[NoteAnswer]("note_answer", nil),
	effectFinalizeTranscript: effectOf[FinalizeTranscript]("finalize_transcript", nil),
	effectRequestReply: effectOf("request_reply", func(k *mask, e RequestReply) RequestReply {
		e.Text, e.Context = k.Text(e.Text), nil
		return e
	}),
	effectSummarize:       effectOf[Summarize]("summarize", nil),
	effectSpeak:           effectOf("speak", hidden(func(e *Speak) *string { return &e.Text })),
	effectEndSpeech:       effectOf[EndSpeech]("end_speech", nil),
	effectCancelTurn:      effectOf[CancelTurn]("cancel_turn", nil),
	effectFlushPlayout:    flushPlayout(),
	effectDuckPlayout:     effectOf[DuckPlayout]("duck_playout", nil),
	effectPausePlayout:    effectOf[PausePlayout]("pause_playout", nil),
	effectResumePlayout:   effectOf[ResumePlayout]("resume_playout", nil),
	effectRunTool:         keptEffect("run_tool", hidden(func(e *RunTool) *string { return &e.Arguments })),
	effectStartTask:       keptEffect("start_task", hidden(func(e *StartTask) *string { return &e.Arguments })),
	effectFollowTask:      keptEffect[FollowTask]("follow_task", nil),
	effectSettleTask:      keptEffect[SettleTask]("settle_task", nil),
	effectCancelTool:      effectOf[CancelTool]("cancel_tool", nil),
	effectCue:             effectOf("cue", hidden(func(e *Cue) *string { return &e.Text })),
	effectPauseAudio:      effectOf[PauseAudio]("pause_audio", nil),
	effectResumeAudio:     effectOf[ResumeAudio]("resume_audio", nil),
	effectSaveContext:     effectOf("save_context", hidden(func(e *SaveContext) *string { return &e.Reason })),
	effectRestoreContext:  effectOf[RestoreContext]("restore_context", nil),
	effectCloseConnection: effectOf[CloseConnection]("close_connection", nil),
	effectReconnect:       effectOf[Reconnect]("reconnect", nil),
	effectRelease:         effectOf("release", hidden(func(e *Release) *string { return &e.Reason })),
	effectNotify:          effectOf[Notify]("notify", nil),
	effectReject:          effectOf[Reject]("reject", nil),
}

// effectNames maps the name of an effect to its kind.
var effectNames = func() map[string]effectKind {
	byName := make(map[string]effectKind, numEffects)
	for i := range works {
		byName[works[i].name] = effectKind(i)
	}
	return byName
}()

// EffectType returns the name of the effect in traces and on the command line, such as
// "request_reply".
func EffectType(e Effect) string { return works[e.effect()].name }

// MarshalEffect returns an effect as a JSON object whose first field is its type, as
// [EffectType] returns it.
func MarshalEffect(e Effect) ([]byte, error) {
	w := works[e.effect()]
	body, err := w.write(e)
	if err != nil {
		return nil, fmt.Errorf("effect %s: %w", w.name, err)
	}
	b := append([]byte(`{"type":"`), w.name...)
	b = append(b, '"')
	if len(body) > len("{}") {
		b = append(b, ',')
	}
	return append(b, body[1:]...), nil
}

// UnmarshalEffect reads an effect from the JSON of [MarshalEffect]. An unknown type is an
// error; unknown fields are ignored.
func UnmarshalEffect(b []byte) (Effect, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, fmt.Errorf("effect: %w", err)
	}
	k, ok := effectNames[head.Type]
	if !ok {
		return nil, fmt.Errorf("effect: unknown type %q", head.Type)
	}
	e, err := works[k].read(b)
	if err != nil {
		return nil, fmt.Errorf("effect %s: %w", head.Type, err)
	}
	return e, nil
}

// milliseconds returns a duration in the unit of the wire.
func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
