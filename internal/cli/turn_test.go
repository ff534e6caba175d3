package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/turn"
)

// frames returns the frames of a user's turn: speech, then silence with stable words.
func frames(text string) string {
	var b strings.Builder
	for ms := 0; ms <= 1600; ms += 40 {
		speaking := ms <= 600
		energy, vad, silence := 0.1, 0.95, 0
		if !speaking {
			energy, vad, silence = 0.001, 0.05, ms-600
		}
		fmt.Fprintf(&b, `{"timestamp_ms": %d, "frame_energy": %v, "vad_prob": %v, "silence_duration_ms": %d, "partial_text": %q, "asr_confidence": 0.9, "token_stability": 0.95}`+"\n", ms, energy, vad, silence, text)
	}
	return b.String()
}

// spoke returns when the controller gave the floor to the agent, and the reason.
func spoke(t *testing.T, stdin string, args ...string) (at float64, reason string) {
	t.Helper()
	for line := range strings.Lines(output(t, stdin, append([]string{"turn"}, args...)...)) {
		var d struct {
			State, Reason string
			TimestampMS   float64 `json:"timestamp_ms"`
		}
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		if d.State == "SPEAK" {
			return d.TimestampMS, d.Reason
		}
	}
	return -1, ""
}

// TestTurnNumbers checks that the seed's numbers apply unless the preset or a config
// changes them.
func TestTurnNumbers(t *testing.T) {
	const long, short = "i want to book a flight to boston", "to boston"
	config := func(text string) []string { return []string{"--config", write(t, "c.yaml", text)} }
	for _, tc := range []struct {
		name, text string
		args       []string
		at         float64
		reason     string
	}{
		{"the seed's", long, nil, 1200, "transition_to_SPEAK_eot"},                      // 400 of silence, 200 of hysteresis
		{"a short text", short, nil, 1320, "transition_to_SPEAK_eot"},                   // 500 and 200, up to the next frame
		{"no text", "", nil, -1, ""},                                                    // MIN_TEXT_LENGTH
		{"the preset", long, []string{"--aggressive"}, 1080, "transition_to_SPEAK_eot"}, // 300 and 150
		{"the preset in a config", long, config("turn: {easyturn: {aggressive: true}}"), 1080, "transition_to_SPEAK_eot"},
		{"a config", long, config("turn: {easyturn: {min_silence: 200, hysteresis: off}}"), 840, "transition_to_SPEAK_eot"},
		{"a threshold", long, config("turn: {thresholds: {vad_speaking: 0.04, vad_silence: off}}"), -1, ""},
		{"another policy", long, config("turn: silence"), 1120, "transition_to_SPEAK_silence"},
		{"no rule of calls", "hi", nil, -1, ""},
		{"a rule that is asked for", "hi", config("turn: {easyturn: {short_answer_after: 600ms}}"), 1400, "transition_to_SPEAK_short_answer"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if at, reason := spoke(t, frames(tc.text), tc.args...); at != tc.at || reason != tc.reason {
				t.Errorf("SPEAK at %v by %q, expected %v by %q", at, reason, tc.at, tc.reason)
			}
		})
	}
}

// TestTurnIsTheController compares the command's output with the controller's decisions
// on random frames, some with unknown features.
func TestTurnIsTheController(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	controller, err := turn.NewEasyTurn(turn.EasyTurnOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var in strings.Builder
	var want []string
	for i := range 3000 {
		maybe := func(v float64) (float64, string) {
			if r.IntN(10) == 0 {
				return math.NaN(), "null"
			}
			b, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			return v, string(b)
		}
		quiet := float64(i / 50 % 2)
		energy, energyText := maybe(r.Float64() * 0.004 * (1 + 20*quiet))
		vad, vadText := maybe(r.Float64() * (0.2 + 0.8*quiet))
		confidence, confidenceText := maybe(0.5 + r.Float64()/2)
		stability, stabilityText := maybe(0.75 + r.Float64()/4)
		at, silence := float64(i)*33.25, float64(i%50)*33.25*(1-quiet)
		text := strings.Repeat("word ", i/400)
		fmt.Fprintf(&in, `{"timestamp_ms": %v, "frame_energy": %s, "vad_prob": %s, "silence_duration_ms": %v, "partial_text": %q, "asr_confidence": %s, "token_stability": %s}`+"\n",
			at, energyText, vadText, silence, text, confidenceText, stabilityText)
		d := controller.Update(
			turn.Acoustic{At: time.Duration(at * 1e6), Energy: energy, VAD: vad, Silence: time.Duration(silence * 1e6)},
			turn.Linguistic{Text: text, Confidence: confidence, Stability: stability},
		)
		want = append(want, fmt.Sprintf("%s %s %.6f", d.State, d.Reason, d.Confidence))
	}
	spoken := false
	for i, line := range strings.Split(strings.TrimSpace(output(t, in.String(), "turn")), "\n") {
		var d decisionLine
		var reason struct{ Reason string }
		if err := json.Unmarshal([]byte(line), &struct {
			*decisionLine
			Reason *string `json:"reason"`
		}{&d, &reason.Reason}); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%s %s %.6f", d.State, reason.Reason, d.Confidence); got != want[i] {
			t.Fatalf("frame %d: %s, expected %s", i, got, want[i])
		}
		spoken = spoken || d.State == turn.Speak
	}
	if !spoken {
		t.Error("the frames never reach SPEAK: they test nothing")
	}
}

// TestTurnReadsTraces checks that other lines of a trace are skipped, and so are other
// fields next to the features.
func TestTurnReadsTraces(t *testing.T) {
	trace := strings.Split(string(recorded(t, "testdata/call.events")), "\n")
	frame := `{"timestamp_ms":20,"frame_energy":null,"vad_prob":0.9,"silence_duration_ms":0,"partial_text":"","asr_confidence":null,"token_stability":null,"state":"HOLD","reason":"stable_HOLD"}`
	in := trace[0] + "\n" + trace[1] + "\n" + frame + "\n" + trace[2] + "\n" + strings.Replace(frame, ":20", ":40", 1)
	want := `{"state":"HOLD","reason":"stable_HOLD","confidence":0.9,"timestamp_ms":20}
{"state":"HOLD","reason":"stable_HOLD","confidence":0.9,"timestamp_ms":40}
`
	if got := output(t, in, "turn"); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestTurnBadLines(t *testing.T) {
	for _, tc := range []struct{ line, want string }{
		{`xx`, `not valid JSON: invalid character 'x' looking for beginning of value: expected an object such as {"timestamp_ms": 1240, "frame_energy": 0.004, "vad_prob": 0.1}`},
		{`[]`, `expected a JSON object such as {"timestamp_ms": 1240, "frame_energy": 0.004, "vad_prob": 0.1}`},
		{`{"vad_prob": 0.5}`, `no field timestamp_ms: expected milliseconds since the start of the stream`},
		{`{"timestamp_ms": "a"}`, `field timestamp_ms is "a": expected milliseconds`},
		{`{"timestamp_ms": -1}`, `field timestamp_ms is -1: expected milliseconds, 0 or more`},
		{`{"timestamp_ms": 5}`, `field timestamp_ms is 5: expected 10 or more, the time of the frame before`},
		{`{"timestamp_ms": 20, "vad_prob": 1.5}`, `field vad_prob is 1.5: expected a number from 0 to 1`},
		{`{"timestamp_ms": 20, "frame_energy": -1}`, `field frame_energy is -1: expected a number of 0 or more`},
		{`{"timestamp_ms": 20, "asr_confidence": true}`, `field asr_confidence is true: expected a number from 0 to 1`},
		{`{"timestamp_ms": 20, "silence_duration_ms": -3}`, `field silence_duration_ms is -3: expected milliseconds, 0 or more`},
		{`{"timestamp_ms": 20, "partial_text": 5}`, `field partial_text is 5: expected a text`},
		{`{"timestamp_ms": 20, "vad_porb": 0.5}`, `unknown field "vad_porb"; did you mean vad_prob?`},
	} {
		stdout, stderr, status := run(t, `{"timestamp_ms": 10}`+"\n"+tc.line, "turn")
		if want := "hocket turn: line 2: " + tc.want + "\n"; status != statusInput || stderr != want {
			t.Errorf("%s: status %d\ngot  %swant %s", tc.line, status, stderr, want)
		}
		if strings.Count(stdout, "\n") != 1 {
			t.Errorf("%s: the output before the mistake is %q", tc.line, stdout)
		}
	}
}

func TestTurnBadConfig(t *testing.T) {
	path := write(t, "c.yaml", "turn: {easyturn: {short_answer_after: 100ms}}")
	_, stderr, status := run(t, "", "turn", "--config", path)
	want := path + ":1:19: turn.easyturn.short_answer_after: is 100ms: expected at least min_silence_short, 500ms\n"
	if status != statusInput || stderr != want {
		t.Errorf("status %d\ngot  %swant %s", status, stderr, want)
	}
}

// FuzzTurn checks that any input yields decisions and an exit status.
func FuzzTurn(f *testing.F) {
	f.Add([]byte(frames("to boston")))
	f.Add([]byte(`{"timestamp_ms": 1e-3, "frame_energy": 1e308, "partial_text": "\u0000"}`))
	f.Add([]byte(`{"format": 1}` + "\n" + `{"in": 1}`))
	f.Fuzz(func(t *testing.T, input []byte) {
		var out, err bytes.Buffer
		status := Run([]string{"turn"}, bytes.NewReader(input), &out, &err)
		if status != statusOK && (status != statusInput || strings.Count(strings.TrimSpace(err.String()), "\n") > 0) {
			t.Errorf("status %d: %s", status, err.String())
		}
		for line := range strings.Lines(out.String()) {
			if !json.Valid([]byte(line)) {
				t.Errorf("no JSON: %s", line)
			}
		}
	})
}
