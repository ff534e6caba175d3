package convtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/conv/view"
	"github.com/hocketvoice/hocket/internal/timers"
)

// renderStep writes the last step of c in the form of scenarios.
func renderStep(b *strings.Builder, c *conv.Conversation, at time.Duration, ev conv.Event, due []timers.Timer) {
	fmt.Fprintf(b, "%s %s", seconds(at), renderEvent(ev, due))
	out := c.Last()
	switch {
	case out.Late:
		b.WriteString(" (late)")
	case out.Deferred:
		b.WriteString(" (kept until the suspension ends)")
	}
	b.WriteByte('\n')
	for _, t := range out.Transitions {
		fmt.Fprintf(b, "  %v => %v on %s [%s]\n", t.From, t.To, t.Cause, renderViews(t.Views))
	}
	for _, t := range out.Turns {
		fmt.Fprintf(b, "  turn %d %s %s", t.Turn, t.Role, strings.TrimPrefix(string(t.Type), "turn-"))
		if t.Kind != "" {
			fmt.Fprintf(b, " %s", t.Kind)
		}
		if t.Duration > 0 {
			fmt.Fprintf(b, " after %s", seconds(t.Duration))
		}
		if t.Confidence > 0 {
			fmt.Fprintf(b, " confidence=%v", t.Confidence)
		}
		b.WriteByte('\n')
	}
	for _, e := range out.Effects {
		fmt.Fprintf(b, "  -> %s\n", RenderEffect(e))
	}
}

// renderEvent returns the event's type and fields, and for deadlines the timers.
func renderEvent(ev conv.Event, due []timers.Timer) string {
	if _, ok := ev.(conv.DeadlinePassed); ok {
		s := "deadline"
		for _, t := range due {
			s += " " + t.String()
		}
		return s
	}
	b, err := conv.MarshalEvent(ev)
	if err != nil {
		return conv.EventType(ev) + " " + err.Error()
	}
	return renderObject(b)
}

// RenderEffect returns an effect on one line: `speak turn=2 part=1 seq=1
// text="Hi."`.
func RenderEffect(e conv.Effect) string {
	if x, ok := e.(conv.Expect); ok {
		// The expected phrases are tested with the dialogue.
		x.Expect.Phrases = nil
		e = x
	}
	b, err := conv.MarshalEffect(e)
	if err != nil {
		return conv.EffectType(e) + " " + err.Error()
	}
	return renderObject(b)
}

// renderObject returns a JSON object's fields in their order, beginning with the
// type without its name.
func renderObject(object []byte) string {
	var b strings.Builder
	for _, f := range fieldsOf(object) {
		if f.name == "type" {
			fmt.Fprint(&b, asText(f.value))
			continue
		}
		var text string
		if json.Unmarshal(f.value, &text) == nil {
			fmt.Fprintf(&b, " %s=%s", f.name, quoteIfNeeded(text))
			continue
		}
		fmt.Fprintf(&b, " %s=%s", f.name, f.value)
	}
	return b.String()
}

type field struct {
	name  string
	value json.RawMessage
}

// fieldsOf returns the fields of an object in their order.
func fieldsOf(object []byte) []field {
	var fields []field
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil {
		return nil
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return fields
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return fields
		}
		fields = append(fields, field{fmt.Sprint(name), value})
	}
	return fields
}

// asText returns a parsed value as plain text.
func asText(v any) string {
	raw, ok := v.(json.RawMessage)
	if !ok {
		return fmt.Sprint(v)
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

func quoteIfNeeded(s string) string {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-:", r))
	}) {
		return strconv.Quote(s)
	}
	return s
}

// renderViews returns the states of the four views in the order of view.Names.
func renderViews(v view.Views) string {
	return fmt.Sprintf("%v %v %v %v", v.AgentVoice, v.Amplifier, v.EasyTurn, v.Interaction)
}

// renderState returns the last line of each command's output.
func renderState(c *conv.Conversation, start time.Time) string {
	st := c.State()
	s := fmt.Sprintf("= %v [%s]", st.Phase, renderViews(st.Views()))
	if which, at, ok := st.Timers.Next(); ok {
		s += fmt.Sprintf(" next: %v at %s", which, seconds(at.Sub(start)))
	}
	return s
}

// seconds formats a time with milliseconds, and more digits if needed.
func seconds(d time.Duration) string {
	if d%time.Millisecond != 0 {
		return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
	}
	return fmt.Sprintf("%d.%03ds", d/time.Second, d%time.Second/time.Millisecond)
}

// renderHistory formats what was said and heard.
func renderHistory(items []conv.Item) string {
	var b strings.Builder
	for _, it := range items {
		fmt.Fprintf(&b, "%d %s %q", it.Turn, it.Role, it.Text)
		if it.Interrupted {
			fmt.Fprintf(&b, " of %q", strings.TrimSpace(it.Full))
		}
		if it.CallID != "" {
			fmt.Fprintf(&b, " call %s %s(%s)", it.CallID, it.Name, it.Arguments)
		}
		if it.Failed {
			b.WriteString(" failed")
		}
		b.WriteByte('\n')
	}
	return b.String()
}
