package conv_test

import (
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/convtest"
)

// payloads are the events of a type that are tried: bare, of the present turn, of
// one that is over, and with every field that leads elsewhere.
func payloads(t *testing.T, kind string) []conv.Event {
	t.Helper()
	lines := map[string][]string{
		"speech.started":   {`turn=1`, `turn=99`, `utterance=5`, `source=push_to_talk`, `source=energy`},
		"speech.stopped":   {`turn=1`, `turn=99`, `utterance=5`},
		"stt.partial":      {`text=mhm`, `text="book a flight" turn=1`, `text=stop turn=99`, `text="to boston" utterance=5`},
		"stt.final":        {`text=mhm`, `text="book a flight" confidence=0.3`, `text=stop turn=99`, `text="to boston" endpoint`},
		"turn.ended":       {`cause=silence`, `cause=manual`, `cause=max_duration`, `cause=easyturn turn=99`},
		"user.text":        {`text="hello there"`},
		"user.stop":        {`reason=done`},
		"user.interrupt":   {`source=vad`, `source=button heard_ms=300`},
		"session.ready":    {`id=s2`},
		"session.renewal":  {`source=diagnostics`},
		"reply.requested":  {`turn=2`, `turn=99`, `turn=2 request=1`},
		"reply.delta":      {`text="Well. And"`, `text="Well. " turn=2 request=1`, `text=late turn=99`},
		"reply.done":       {`text="Well. And"`, `silent`, `turn=99`},
		"reply.failed":     {`code=RATE_LIMIT`, `code=SESSION_EXPIRED`, `code=AUTH_FAILURE`, `code=TOOL_ERROR`, `retryable`, `turn=99`},
		"tool.called":      {`id=n name=tool`, `id=n name=agent long`, `id=a name=again`, `name=anonymous`, `id=n turn=99`},
		"tool.done":        {`id=a output=1`, `id=c output=1`, `id=zzz`},
		"tool.failed":      {`id=a message=no`, `id=a fatal`, `id=zzz`},
		"task.progress":    {`id=c text=half`, `id=zzz`},
		"task.done":        {`id=c output=1`, `id=zzz`},
		"task.failed":      {`id=c code=X output=half`, `id=zzz`},
		"playout.started":  {`turn=2 part=1`, `turn=99`},
		"playout.progress": {`heard_ms=100 text=Where`, `turn=99`},
		"playout.finished": {`turn=2 part=1 heard_ms=900`, `turn=99`},
		"playout.failed":   {`code=GONE`, `turn=99`},
		"playout.flushed":  {`turn=2 heard_ms=100`, `turn=99`},
		"connection.lost":  {`retryable`},
		"reconnect.failed": {`retryable`},
		"fault":            {`code=AUTH_FAILURE`, `code=SESSION_EXPIRED`, `code=SERVER_ERROR`, `fatal`},
	}
	var events []conv.Event
	for _, fields := range append([]string{""}, lines[kind]...) {
		l, err := convtest.ParseLine(kind + " " + fields)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, l.Event)
	}
	return events
}

// TestEveryPhaseTakesEveryEvent steps each event in each phase, under each policy.
// Every step is held against convtest.Checker: no panic, no edge beyond the phase
// graph, no promise broken. Behind it nothing but time passes, and within six
// minutes the agent listens or the conversation is over (DESIGN rule 10).
func TestEveryPhaseTakesEveryEvent(t *testing.T) {
	pairs, steps := 0, 0
	for _, o := range []conv.Options{
		{Endpoint: "recognizer"},
		{Endpoint: "easyturn", SpeakNotices: true, ResumeAfterFalseInterruption: true},
		{Endpoint: "manual"},
	} {
		for _, p := range conv.Phases() {
			for _, kind := range conv.EventTypes() {
				pairs++
				for _, ev := range payloads(t, kind) {
					steps++
					tryPair(t, o, p, ev)
				}
			}
		}
	}
	t.Logf("%d pairs of phase and event under three policies, %d steps", pairs, steps)
}

func tryPair(t *testing.T, o conv.Options, p conv.Phase, ev conv.Event) {
	t.Helper()
	r, err := convtest.Reach(p, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Steps = nil
	if _, err := r.Do(convtest.Line{Event: ev}); err != nil {
		t.Errorf("%s: %v", o.Endpoint, err)
		return
	}
	if !listensOrEnds(r.Conv.Phase()) {
		if _, err := r.Do(convtest.Line{At: 6 * time.Minute, Event: conv.DeadlinePassed{}}); err != nil {
			t.Errorf("%s: %s in %v, and then nothing: %v", o.Endpoint, conv.EventType(ev), p, err)
			return
		}
	}
	good := false
	for _, s := range r.Steps {
		for _, tr := range s.Transitions {
			good = good || listensOrEnds(tr.To)
		}
	}
	if !good && !listensOrEnds(r.Conv.Phase()) {
		t.Errorf("%s: %s in %v, and then nothing: after six minutes it is %v", o.Endpoint, conv.EventType(ev), p, r.Conv.Phase())
	}
}

func listensOrEnds(p conv.Phase) bool { return p == conv.Idle || p.Listening() || p == conv.Speaking }
