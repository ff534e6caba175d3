package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/journal"
)

// timeline shows a conversation in readable form: who said what and when, what of it
// was heard, how long the answers took, the tools, and what the machine did. It is
// built step by step.
type timeline struct {
	entries []*entry
	agent   map[int]*entry // the agent's turns
	user    map[int]*times // the user's turns
	calls   map[string]float64
	fails   journal.Failures
	quiet   journal.Quiet
	answers []float64
	turns   struct{ user, agent, cut int }
	last    float64
}

// times contains when the parts of a user's turn were over, in milliseconds.
type times struct {
	silent, ended, asked, voiced float64
	by                           string // what silent is
}

// since are the names of what an answer's time counts from.
var since = map[string]string{
	journal.ByWord: "the last word", journal.BySpeech: "the last speech", journal.ByStop: "speech.stopped", journal.ByLine: "the line",
}

// entry is a line with its notes.
type entry struct {
	at    float64
	who   string
	text  string
	notes []string
}

// timelines contains a timeline for each process in which a conversation has run.
type timelines struct {
	parts []*timeline
	last  *conv.Conversation // of the last part
}

// note adds a step. It can be passed to [journal.Replay].
func (t *timelines) note(l journal.Line, ev conv.Event, c *conv.Conversation) {
	if c != t.last {
		t.parts, t.last = append(t.parts, &timeline{}), c
	}
	t.parts[len(t.parts)-1].note(l, ev, c)
}

// String returns the timelines one after the other.
func (t *timelines) String() string {
	texts := make([]string, len(t.parts))
	for i, part := range t.parts {
		texts[i] = part.String()
	}
	return strings.Join(texts, "\nit goes on in another process\n\n")
}

// note adds a step.
func (t *timeline) note(l journal.Line, ev conv.Event, c *conv.Conversation) {
	if t.agent == nil {
		t.agent, t.user, t.calls = make(map[int]*entry), make(map[int]*times), make(map[string]float64)
	}
	t.last = l.At
	if l.Late {
		t.add(l.At, "", conv.EventType(ev)+" is late and dropped")
		return
	}
	t.quiet.Step(c.State().Now, ev)
	switch e := ev.(type) {
	case conv.PlayoutFlushed:
		t.heard(e.Turn, c) // now exact
	case conv.ToolFailed, conv.TaskFailed, conv.ToolDone, conv.TaskDone:
		t.result(l.At, c)
	default:
		// Other events appear through their results.
	}
	for _, f := range t.fails.Step(c.State().Now, ev, c.Last(), c.State()) {
		t.failed(l.At, f)
	}
	t.transitions(l)
	for _, turn := range l.Turns {
		t.turn(l.At, turn, c)
	}
	for _, e := range c.Last().Effects {
		t.effect(l.At, e, c)
	}
	if e, ok := ev.(conv.PlayoutStarted); ok {
		t.voice(l.At, cmp.Or(e.Turn, c.State().Reply.Turn), c)
	}
}

// failed adds the failure of a provider or a tool.
func (t *timeline) failed(at float64, f journal.Failure) {
	text := strings.TrimSpace(f.Kind+" "+f.Name) + ": " + f.Class
	e := t.add(at, "failed", text)
	e.notes = append(e.notes, fmt.Sprintf("attempt %d, after %s", f.Attempt, seconds(float64(f.Latency.Microseconds())/1000)))
	if f.Retried {
		e.notes = append(e.notes, "another attempt follows")
	}
}

func (t *timeline) add(at float64, who, text string) *entry {
	e := &entry{at: at, who: who, text: text}
	t.entries = append(t.entries, e)
	return e
}

// transitions adds a line with the transitions of a step.
func (t *timeline) transitions(l journal.Line) {
	if len(l.Transitions) == 0 {
		return
	}
	way := []string{l.Transitions[0].From}
	for _, tr := range l.Transitions {
		way = append(way, tr.To)
	}
	cause := l.Transitions[0].Cause
	if cause != l.Event {
		cause = l.Event + ", " + cause
	}
	t.add(l.At, "", strings.Join(way, " -> ")+" ("+cause+")")
}

// turn adds the beginning or the end of a turn.
func (t *timeline) turn(at float64, turn journal.Turn, c *conv.Conversation) {
	switch {
	case turn.Type == conv.TurnStarted && turn.Role == conv.RoleAgent:
		t.agent[turn.Turn] = &entry{who: "agent"}
		if asked := t.user[c.State().Reply.UserTurn]; asked != nil && c.State().Reply.Turn == turn.Turn {
			asked.asked = at
		}
	case turn.Type == conv.TurnStarted:
	case turn.Role == conv.RoleUser && turn.Type == conv.TurnCompleted:
		t.turns.user++
		ago := c.State().Now.Sub(t.quiet.At)
		if t.quiet.At.IsZero() {
			ago = 0
		}
		t.user[turn.Turn] = &times{silent: at - journal.Millis(ago), ended: at, by: t.quiet.By}
		e := t.add(at, "caller", said(turn.Turn, conv.RoleUser, c))
		if turn.Confidence > 0 && turn.Confidence < 1 {
			e.notes = append(e.notes, fmt.Sprintf("confidence %.2f", turn.Confidence))
		}
	case turn.Role == conv.RoleUser:
		t.add(at, "", fmt.Sprintf("turn %d of the caller held no words", turn.Turn))
	default:
		t.ended(at, turn, c)
	}
}

// ended adds the end of an agent's turn.
func (t *timeline) ended(at float64, turn journal.Turn, c *conv.Conversation) {
	e := t.agent[turn.Turn]
	if e == nil || e.at == 0 && e.text == "" && said(turn.Turn, conv.RoleAgent, c) == "" && turn.Type != conv.TurnFailed {
		return // it was never heard and had nothing to say
	}
	t.turns.agent++
	switch turn.Type {
	case conv.TurnInterrupted:
		t.turns.cut++
		note := "taken back before it sounded"
		if e.at > 0 {
			note = "cut off after " + seconds(at-e.at)
		}
		e.notes = append(e.notes, note)
	case conv.TurnFailed:
		e.notes = append(e.notes, "failed")
	case conv.TurnStarted, conv.TurnCompleted, conv.TurnAbandoned:
	}
	if turn.Kind != conv.ReplyAnswer {
		e.notes = append(e.notes, strings.ReplaceAll(string(turn.Kind), "_", "-"))
	}
	if e.at == 0 {
		e.at = at
		t.entries = append(t.entries, e)
	}
	t.heard(turn.Turn, c)
}

// heard sets the heard and the unheard part of an agent's turn.
func (t *timeline) heard(number int, c *conv.Conversation) {
	e := t.agent[number]
	if e == nil {
		return
	}
	e.text = said(number, conv.RoleAgent, c)
	e.notes = slices.DeleteFunc(e.notes, func(n string) bool { return strings.HasPrefix(n, "not heard: ") })
	full := ""
	for _, it := range c.History() {
		if it.Turn == number && it.Role == conv.RoleAgent {
			full = strings.TrimSpace(full + " " + strings.Join(strings.Fields(it.Full), " "))
		}
	}
	if rest := strings.TrimSpace(strings.TrimPrefix(full, e.text)); rest != "" && rest != full || e.text == "" && full != "" {
		e.notes = append(e.notes, "not heard: "+quote(rest))
	}
}

// said returns the text of a turn in the history.
func said(number int, role conv.Role, c *conv.Conversation) string {
	var texts []string
	for _, it := range c.History() {
		if it.Turn == number && it.Role == role && it.Text != "" {
			texts = append(texts, it.Text)
		}
	}
	return strings.Join(texts, " ")
}

// voice adds the start of an agent's speech, and how long the user has waited for it.
func (t *timeline) voice(at float64, number int, c *conv.Conversation) {
	e := t.agent[number]
	if e == nil || e.at != 0 {
		return
	}
	e.at = at
	t.entries = append(t.entries, e)
	asked := t.user[c.State().Reply.UserTurn]
	if asked == nil || c.State().Reply.Turn != number {
		return
	}
	took := at - asked.silent
	t.answers = append(t.answers, took)
	text := "after " + seconds(took)
	if from := since[asked.by]; from != "" {
		text += " from " + from
	}
	if asked.voiced > 0 {
		text += fmt.Sprintf(" (end of turn %.3f, words %.3f, voice %.3f)",
			(asked.ended-asked.silent)/1000, (asked.voiced-asked.ended)/1000, (at-asked.voiced)/1000)
	}
	e.notes = append(e.notes, text)
}

// effect adds the effects that are of interest to a reader.
func (t *timeline) effect(at float64, e conv.Effect, c *conv.Conversation) {
	switch e := e.(type) {
	case conv.Speak:
		if asked := t.user[c.State().Reply.UserTurn]; asked != nil && asked.voiced == 0 {
			asked.voiced = at
		}
	case conv.RunTool:
		t.calls[e.ID] = at
		t.add(at, "tool", e.Name+" "+e.Arguments)
	case conv.StartTask:
		t.calls[e.ID] = at
		t.add(at, "agent at work", e.Name+" "+e.Arguments)
	case conv.CancelTool:
		t.add(at, "tool", "called off: "+e.ID)
	case conv.Cue:
		t.add(at, "cue", e.Text)
	case conv.Notify:
		t.add(at, string(e.Level), e.Code)
	case conv.Reject:
		t.add(at, "refused", e.Code)
	default:
		// Other effects appear through their results.
	}
}

// result adds a tool's result, which the step has added to the history.
func (t *timeline) result(at float64, c *conv.Conversation) {
	for _, it := range slices.Backward(c.History()) {
		began, open := t.calls[it.CallID]
		if it.Role != conv.RoleTool || !open {
			continue
		}
		delete(t.calls, it.CallID)
		e := t.add(at, "tool", it.Name+" -> "+shortened([]byte(it.Text)))
		e.notes = append(e.notes, "after "+seconds(at-began))
		if it.Failed {
			e.notes = append(e.notes, "failed")
		}
	}
}

// String returns the conversation in chronological order, and a summary.
func (t *timeline) String() string {
	slices.SortStableFunc(t.entries, func(a, b *entry) int { return cmp.Compare(a.at, b.at) })
	const who = len("agent at work")
	var b strings.Builder
	for _, e := range t.entries {
		text := e.text
		if e.who == "caller" || e.who == "agent" {
			text = quote(text)
		}
		fmt.Fprintf(&b, "%9.3f  %s  %s\n", e.at/1000, pad(e.who, who), strings.TrimSpace(text))
		for _, n := range e.notes {
			fmt.Fprintf(&b, "%9s  %s      %s\n", "", pad("", who), n)
		}
	}
	fmt.Fprintf(&b, "\n%s: %s of the caller, %s of the agent", seconds(t.last), count(t.turns.user, "turn"), count(t.turns.agent, "turn"))
	if t.turns.cut > 0 {
		fmt.Fprintf(&b, ", %d cut off", t.turns.cut)
	}
	if n := len(t.answers); n > 0 {
		slices.Sort(t.answers)
		median := (t.answers[(n-1)/2] + t.answers[n/2]) / 2
		fmt.Fprintf(&b, "; answers after %s (median), %s (longest)", seconds(median), seconds(t.answers[n-1]))
	}
	b.WriteString("\n")
	return b.String()
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// quote quotes a text without escaping letters.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil || strings.ContainsAny(s, "<>&\"\\") {
		return `"` + s + `"`
	}
	return string(b)
}
