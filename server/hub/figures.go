package hub

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/session"
)

// timingsKept bounds the number of turns whose timings are kept.
const timingsKept = 20

// Timing is the latency of an answer by stage, in milliseconds. A skipped stage has
// the value 0.
type Timing struct {
	Turn     int `json:"turn"`
	UserTurn int `json:"user_turn"`
	// From says what the user's last sound is, with a code of [journal.Quiet].
	From string `json:"from,omitempty"`
	// Endpoint is the time from the user's last sound to the end of the turn,
	// Transcript from there to the final words, Reply to the first text for the
	// voice, and Voice to its first sound. Total is their sum.
	EndpointMS   float64 `json:"endpoint_ms"`
	TranscriptMS float64 `json:"transcript_ms"`
	ReplyMS      float64 `json:"reply_ms"`
	VoiceMS      float64 `json:"voice_ms"`
	TotalMS      float64 `json:"total_ms"`

	// Began is the time when the user fell silent.
	Began time.Time `json:"-"`
}

// Stage is one stage of an answer.
type Stage struct {
	Name string
	MS   float64
}

// Stages returns the stages in order.
func (t Timing) Stages() []Stage {
	return []Stage{{"endpoint", t.EndpointMS}, {"transcript", t.TranscriptMS}, {"reply", t.ReplyMS}, {"voice", t.VoiceMS}}
}

// Metrics are the metrics of one conversation (seed 001, "Debug Visualization").
type Metrics struct {
	UserTurns          int     `json:"user_turns"`
	AgentTurns         int     `json:"agent_turns"`
	Interruptions      int     `json:"interruptions"`
	InterruptionRate   float64 `json:"interruption_rate"`      // of the agent's turns
	TimeToFirstAudioMS float64 `json:"time_to_first_audio_ms"` // mean
	ToolCalls          int     `json:"tool_calls"`
	ToolFailures       int     `json:"tool_failures"`
	// Errors is the number of failures of the model, voice, tools, session and
	// connection, including tools that timed out, whether or not the person was
	// told.
	Errors int `json:"errors"`
	Late   int `json:"late"` // events that arrived too late and were dropped
}

// figures counts the events of a conversation. Only the loop's goroutine uses it.
type figures struct {
	m       Metrics
	timings []Timing // the most recent ones
	answers int
	sum     float64 // of all totals

	quiet   journal.Quiet
	decided time.Time // when the end of the user's turn was decided
	open    Timing
	words   time.Time // when the user's words were final
	voiced  time.Time // when the first text of the reply was passed to the voice
}

// step counts a step. done is the timing that the step completes, or nil.
func (f *figures) step(s session.Step) (done *Timing) {
	if s.Output.Late {
		f.m.Late++
		return nil
	}
	f.event(s)
	for i := range s.Output.Transitions {
		if t := &s.Output.Transitions[i]; t.From == conv.ListeningCapturing && t.To == conv.Understanding {
			f.decided = s.Now
		}
	}
	for i := range s.Output.Turns {
		f.turn(&s.Output.Turns[i], s)
	}
	for _, e := range s.Output.Effects {
		switch e.(type) {
		case conv.Speak:
			if f.voiced.IsZero() {
				f.voiced = s.Now
			}
		case conv.RunTool, conv.StartTask:
			f.m.ToolCalls++
		default:
			// Not counted.
		}
	}
	if _, ok := s.Event.(conv.PlayoutStarted); ok {
		return f.sounds(s)
	}
	return nil
}

// event counts an event.
func (f *figures) event(s session.Step) {
	f.quiet.Step(s.Now, s.Event)
	switch s.Event.(type) {
	case conv.ToolFailed, conv.TaskFailed:
		f.m.ToolFailures++
		f.m.Errors++
	case conv.Fault, conv.ReplyFailed, conv.PlayoutFailed, conv.ReconnectFailed, conv.ConnectionLost, conv.SessionExpired:
		f.m.Errors++
	case conv.DeadlinePassed:
		for _, e := range s.Output.Effects {
			if _, late := e.(conv.CancelTool); late {
				f.m.ToolFailures++
				f.m.Errors++
			}
		}
	default:
		// The others are visible in their effects.
	}
}

func (f *figures) turn(t *conv.TurnEvent, s session.Step) {
	switch {
	case t.Role == conv.RoleUser && t.Type == conv.TurnCompleted:
		f.m.UserTurns++
		f.words, f.voiced = s.Now, time.Time{}
		f.open = Timing{UserTurn: t.Turn, Began: f.quiet.At, From: f.quiet.By}
		if f.quiet.By == journal.ByLine {
			f.decided, f.words = f.quiet.At, f.quiet.At // no transcript is waited for: the line may have waited for work
		}
	case t.Role == conv.RoleAgent && t.Type == conv.TurnStarted:
		if f.open.UserTurn != 0 && s.State.Reply.Turn == t.Turn && s.State.Reply.UserTurn == f.open.UserTurn {
			f.open.Turn = t.Turn
		}
	case t.Role == conv.RoleAgent:
		f.m.AgentTurns++
		if t.Type == conv.TurnInterrupted {
			f.m.Interruptions++
		}
		f.m.InterruptionRate = float64(f.m.Interruptions) / float64(f.m.AgentTurns)
	}
}

// sounds completes the timing of the answer whose playout begins.
func (f *figures) sounds(s session.Step) *Timing {
	t := f.open
	if t.Turn == 0 || t.Turn != s.State.Playout.Turn {
		return nil
	}
	f.open = Timing{}
	between := func(a, b time.Time) float64 {
		if a.IsZero() || b.Before(a) {
			return 0
		}
		return journal.Millis(b.Sub(a))
	}
	if f.decided.Before(t.Began) {
		f.decided = t.Began // a typed line
	}
	t.EndpointMS, t.TranscriptMS = between(t.Began, f.decided), between(f.decided, f.words)
	t.ReplyMS, t.VoiceMS = between(f.words, f.voiced), between(f.voiced, s.Now)
	t.TotalMS = between(t.Began, s.Now)
	f.answers++
	f.sum += t.TotalMS
	f.m.TimeToFirstAudioMS = f.sum / float64(f.answers)
	if len(f.timings) == timingsKept {
		f.timings = slices.Delete(f.timings, 0, 1)
	}
	f.timings = append(f.timings, t)
	return &t
}

// captions tracks what the agent says, as captions. Only the loop's goroutine uses
// it.
type captions struct {
	last  Caption
	texts map[int]string // by turn: all text passed to the voice
	cut   int            // a turn that was cut off and whose exact position is not yet known
}

// step returns the captions that changed with a step.
func (c *captions) step(s session.Step) (list []Caption) {
	if s.Output.Late {
		return nil
	}
	if c.texts == nil {
		c.texts = make(map[int]string)
	}
	if c.cut != 0 {
		list = c.measured(list, s)
	}
	for _, e := range s.Output.Effects {
		if e, ok := e.(conv.Speak); ok {
			c.texts[e.Turn] = joined(c.texts[e.Turn], e.Text)
			list = c.add(list, Caption{Turn: e.Turn, Text: c.texts[e.Turn], Heard: c.heard(s.State, e.Turn)})
		}
	}
	switch s.Event.(type) {
	case conv.PlayoutProgress, conv.PlayoutFinished:
		if n := s.State.Playout.Turn; c.texts[n] != "" && len(s.Output.Turns) == 0 {
			list = c.add(list, Caption{Turn: n, Text: c.texts[n], Heard: c.heard(s.State, n)})
		}
	default:
		// Nothing more was heard.
	}
	for i := range s.Output.Turns {
		switch t := &s.Output.Turns[i]; {
		case t.Role != conv.RoleAgent || t.Type == conv.TurnStarted || c.texts[t.Turn] == "":
		case t.Type == conv.TurnCompleted:
			list = c.final(list, t.Turn, s.State, false)
		default:
			c.cut = t.Turn
		}
	}
	return list
}

func (c *captions) heard(st *conv.State, turn int) string {
	if st.Playout.Turn != turn {
		return ""
	}
	return plain(st.Playout.Text)
}

// final appends the last caption of a turn: what was heard according to the
// history.
func (c *captions) final(list []Caption, turn int, st *conv.State, cut bool) []Caption {
	text := c.texts[turn]
	last := Caption{Turn: turn, Text: text, Heard: text, Final: true}
	if cut {
		last.Heard = said(st, turn, conv.RoleAgent)
		last.Unheard = strings.TrimSpace(strings.TrimPrefix(text, last.Heard))
	} else {
		delete(c.texts, turn)
	}
	return c.add(list, last)
}

// measured updates the caption of the turn that was cut off: an estimate with the
// next step, and the exact position when it is known.
func (c *captions) measured(list []Caption, s session.Step) []Caption {
	turn := c.cut
	list = c.final(list, turn, s.State, true)
	if _, ok := s.Event.(conv.PlayoutFlushed); ok || len(s.Output.Turns) > 0 {
		delete(c.texts, turn)
		c.cut = 0
	}
	return list
}

func (c *captions) add(list []Caption, one Caption) []Caption {
	if one == c.last {
		return list
	}
	c.last = one
	return append(list, one)
}

// said returns a turn's text according to the history.
func said(st *conv.State, turn int, r conv.Role) string {
	text := ""
	for i := range st.History {
		if it := &st.History[i]; it.Turn == turn && it.Role == r {
			text = joined(text, it.Text)
		}
	}
	return text
}

func joined(a, b string) string { return plain(a + " " + b) }

// plain returns a text with single spaces.
func plain(s string) string { return strings.Join(strings.Fields(s), " ") }

// transcripts tracks what the user says. Only the loop's goroutine uses it.
type transcripts struct{ last Transcript }

func (t *transcripts) step(s session.Step) (list []Transcript) {
	if s.Output.Late {
		return nil
	}
	for i := range s.Output.Turns {
		if e := &s.Output.Turns[i]; e.Role == conv.RoleUser && e.Type == conv.TurnCompleted {
			list = t.add(list, Transcript{Turn: e.Turn, Text: said(s.State, e.Turn, conv.RoleUser), Final: true})
		}
	}
	if u := &s.State.User; u.Turn != 0 {
		if words := u.Words(); words != "" {
			list = t.add(list, Transcript{Turn: u.Turn, Text: words})
		}
	}
	return list
}

func (t *transcripts) add(list []Transcript, one Transcript) []Transcript {
	one.Role = cmp.Or(one.Role, string(conv.RoleUser))
	if one == t.last || one.Text == "" {
		return list
	}
	t.last = one
	return append(list, one)
}
