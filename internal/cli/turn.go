package cli

import (
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/turn"
)

// turnCmd runs the turn controller with frames from the input.
type turnCmd struct {
	Config     string `placeholder:"FILE" help:"A config file."`
	Aggressive bool   `help:"Use the preset for quick answers."`
}

// Help returns the long help.
func (turnCmd) Help() string {
	return `Each line of the input is a frame: {"timestamp_ms": 1240, "frame_energy": 0.004, "vad_prob": 0.1, "silence_duration_ms": 480, "partial_text": "...", "asr_confidence": 0.9, "token_stability": 0.95, "answer": "complete", "finished": 0.8}. A feature that is absent or null is unknown. The controller is EasyTurn of seed 002 unless the config names another turn policy. The input may be a trace that was recorded with --trace-features; its other lines are ignored.

Keys of a frame; only the first is required:

  timestamp_ms           the end of the frame, never less than before
  frame_energy           root mean square of the samples, full scale = 1
  vad_prob               probability of speech
  silence_duration_ms    time since the last speech
  partial_text           the words of the turn so far
  asr_confidence, token_stability
                         0 to 1
  answer                 for the policy auto: complete or incomplete
  finished               for auto and semantic: the probability that the
                         speaker has finished

Keys of a decision:

  state                  HOLD: the user has the floor; SPEAK: the agent may
                         answer
  reason                 in the words of seed 002
  confidence             how much the inputs speak for the state
  timestamp_ms           of the frame`
}

const frameExample = `{"timestamp_ms": 1240, "frame_energy": 0.004, "vad_prob": 0.1}`

// frameFields are the features of a frame.
var frameFields = []string{
	"timestamp_ms", "frame_energy", "vad_prob", "silence_duration_ms", "partial_text", "asr_confidence", "token_stability",
	"answer", "finished",
}

// decisionLine is a line of the output.
type decisionLine struct {
	State      turn.State  `json:"state"`
	Reason     turn.Reason `json:"reason"`
	Confidence float64     `json:"confidence"`
	Timestamp  float64     `json:"timestamp_ms"`
}

// Run runs the command.
func (c *turnCmd) Run(s *streams) error {
	controller, err := c.controller()
	if err != nil {
		return err
	}
	var last time.Duration
	return eachLine(s.in, func(line []byte) error {
		fields, err := object(line, frameExample)
		if err != nil {
			return err
		}
		if traceLine(fields) {
			return nil
		}
		a, l, err := frame(fields)
		if err != nil {
			return err
		}
		if a.At < last {
			return badInputf("field timestamp_ms is %v: expected %v or more, the time of the frame before", journal.Millis(a.At), journal.Millis(last))
		}
		last = a.At
		if err := score(fields, controller); err != nil {
			return err
		}
		d := controller.Update(a, l)
		const places = 1e6
		return s.writeLine(decisionLine{d.State, d.Reason, math.Round(d.Confidence*places) / places, journal.Millis(d.At)})
	})
}

// controller returns the controller of the seed, or of the policy that the config
// names.
func (c *turnCmd) controller() (turn.Endpointer, error) {
	o, err := loadOptions(c.Config)
	if err != nil {
		return nil, err
	}
	if c.Aggressive {
		o.Turn.EasyTurn = settings.Aggressive(o.Turn.EasyTurn)
	}
	if o.Turn.Policy == "" || o.Turn.Policy == turn.PolicyEasyTurn {
		return turn.NewEasyTurn(o.Turn.EasyTurn)
	}
	return turn.New(o.Turn)
}

// traceLine reports whether a line belongs to a trace and is not a frame.
func traceLine(fields map[string]json.RawMessage) bool {
	has := func(name string) bool { _, ok := fields[name]; return ok }
	return (has("in") || has("format")) && !has("frame_energy") && !has("vad_prob")
}

// frame parses the features of a line.
func frame(fields map[string]json.RawMessage) (turn.Acoustic, turn.Linguistic, error) {
	var a turn.Acoustic
	var l turn.Linguistic
	if err := misspelled(fields); err != nil {
		return a, l, err
	}
	for _, f := range []struct {
		name   string
		needed bool
		to     *time.Duration
	}{{"timestamp_ms", true, &a.At}, {"silence_duration_ms", false, &a.Silence}} {
		ms, ok, err := number(fields, f.name, "milliseconds")
		switch {
		case err != nil:
			return a, l, err
		case !ok && f.needed:
			return a, l, badInputf("no field %s: expected milliseconds since the start of the stream", f.name)
		}
		if *f.to, err = journal.Offset(ms); err != nil {
			return a, l, badInputf("field %s is %v: expected milliseconds, 0 or more", f.name, ms)
		}
	}
	for _, f := range []struct {
		name string
		most float64
		to   *float64
	}{
		{"frame_energy", math.MaxFloat64, &a.Energy},
		{"vad_prob", 1, &a.VAD},
		{"asr_confidence", 1, &l.Confidence},
		{"token_stability", 1, &l.Stability},
	} {
		var err error
		if *f.to, err = feature(fields, f.name, f.most); err != nil {
			return a, l, err
		}
	}
	if raw, ok := fields["partial_text"]; ok {
		if json.Unmarshal(raw, &l.Text) != nil {
			return a, l, badInputf("field partial_text is %s: expected a text", shortened(raw))
		}
	}
	if raw, ok := fields["answer"]; ok {
		known := []turn.Completeness{turn.Undecided, turn.Complete, turn.Incomplete}
		if json.Unmarshal(raw, &l.Answer) != nil || !slices.Contains(known, l.Answer) {
			return a, l, badInputf("field answer is %s: expected complete, incomplete or an empty text", shortened(raw))
		}
	}
	return a, l, nil
}

// feature parses a number from 0 to most of a frame. It returns NaN if the frame has none.
func feature(fields map[string]json.RawMessage, name string, most float64) (float64, error) {
	expected := "a number from 0 to 1"
	if most > 1 {
		expected = "a number of 0 or more"
	}
	v, ok, err := number(fields, name, expected)
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return math.NaN(), nil
	case v < 0 || v > most:
		return 0, badInputf("field %s is %v: expected %s", name, v, expected)
	}
	return v, nil
}

// score passes the score of an end-of-turn model to a controller that uses it.
func score(fields map[string]json.RawMessage, controller turn.Endpointer) error {
	const expected = "a number from 0 to 1"
	v, ok, err := number(fields, "finished", expected)
	if err != nil || !ok {
		return err
	}
	if v < 0 || v > 1 {
		return badInputf("field finished is %v: expected %s", v, expected)
	}
	if c, ok := controller.(turn.Scored); ok {
		c.SetScore(v)
	}
	return nil
}

// decisionFields are found next to the features in a trace.
var decisionFields = []string{"state", "reason", "confidence"}

// misspelled returns an error for a field whose name resembles that of a feature. Other
// fields are ignored.
func misspelled(fields map[string]json.RawMessage) error {
	for _, name := range sortedNames(fields) {
		if slices.Contains(frameFields, name) || slices.Contains(decisionFields, name) {
			continue
		}
		if near := config.Nearest(name, frameFields); near != "" {
			return badInputf("unknown field %q; did you mean %s?", name, near)
		}
	}
	return nil
}
