package soniox

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/hosted"
	"github.com/hocketvoice/hocket/internal/socket"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
	"github.com/hocketvoice/hocket/porttest"
)

// TestFirstMessage checks that the vocabulary and the language are sent, and no key.
func TestFirstMessage(t *testing.T) {
	h := &hearing{
		o: Options{Model: "stt-rt-v5", MaxEndpointDelay: time.Second}, cfg: port.RecognizerConfig{Rate: 16000, Language: "de-AT"},
		expect: port.Expectation{Phrases: []string{"Boston", "(a|b)"}},
	}
	want := `{"model":"stt-rt-v5","audio_format":"pcm_s16le","sample_rate":16000,"num_channels":1,"language_hints":["de"],` +
		`"enable_endpoint_detection":true,"max_endpoint_delay_ms":1000,"enable_language_identification":true,"context":{"terms":["Boston"]}}`
	if got := string(h.Open()[0].Data); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if _, ok := h.Expect(port.Expectation{}); ok {
		t.Error("another vocabulary needs another connection")
	}
}

// TestResponses decodes the examples of the documents.
func TestResponses(t *testing.T) {
	h := &hearing{fail: porttest.NewFailure}
	for _, c := range []struct{ message, want string }{
		{`{"tokens":[{"text":"Hel","start_ms":600,"end_ms":760,"confidence":0.97,"is_final":true,"speaker":"1","language":"en","translation_status":"none"},
			{"text":"lo","start_ms":760,"end_ms":800,"confidence":0.5}],"final_audio_proc_ms":1560,"total_audio_proc_ms":1680}`, "Hel+loen"},
		{`{"tokens":[{"text":" a","is_final":true},{"text":"<end>","is_final":true}]}`, " a!"},
		{`{"tokens":[{"text":" a","is_final":true},{"text":"<fin>","is_final":true},{"text":" b"}]}`, " a.|+ b"},
		{`{"tokens":[{"text":" ein","translation_status":"translation","is_final":true}],"finished":true}`, ""},
		{`{}`, ""},
	} {
		porttest.WantHeard(t, h, c.message, c.want)
	}
}

func TestErrors(t *testing.T) {
	h, s := &hearing{fail: porttest.NewFailure}, &speaking{fail: porttest.NewFailure}
	classes := map[string]string{
		`{"error_code":401,"error_message":"Incorrect API key."}`:                       errclass.AuthFailure,
		`{"error_code":402,"error_message":"no balance"}`:                               errclass.AuthFailure,
		`{"error_code":"429","error_message":"slow down"}`:                              errclass.RateLimit,
		`{"error_code":408,"error_message":"timeout"}`:                                  errclass.NetworkTimeout,
		`{"error_code":503,"error_message":"Cannot continue request (code 3).","x":[]}`: errclass.ServerError,
		`{"error_code":400,"error_message":"Invalid model specified."}`:                 errclass.Unknown,
		`{"error_message":"no code"}`:                                                   errclass.ServerError,
		`[]`:                                                                            errclass.ServerError,
	}
	porttest.WantFailures(t, classes, func(m socket.Message) error { _, err := h.Receive(m); return err })
	porttest.WantFailures(t, classes, func(m socket.Message) error { _, err := s.Receive(m); return err })
	all, err := s.Receive(socket.Text(`{"stream_id":"7","error_code":400,"error_message":"no voice"}`))
	if err != nil || len(all) != 1 || all[0].ID != "7" || all[0].Err == nil {
		t.Errorf("an error of a stream: %+v, %v", all, err)
	}
}

func TestOptions(t *testing.T) {
	porttest.TestHostedOptions(t, map[string]Options{
		"":       {},
		"URL is": {URL: "https://stt-rt.soniox.com"},
		"MaxEndpointDelay is 4s: expected 500ms to 3s":                         {MaxEndpointDelay: 4 * time.Second},
		"Rate is 11025: expected one of [8000 16000 24000 44100 48000]":        {Rate: 11025},
		`Model is "a b": expected at most 50 characters without spaces`:        {Model: "a b"},
		"the environment variable SONIOX_API_KEY is not set: expected the key": {Getenv: func(string) string { return "" }},
	}, func(o *Options) *func(string) string { return &o.Getenv },
		func(o Options) (io.Closer, error) { return NewRecognizer(o) },
		func(o Options) (io.Closer, error) { return NewSynthesizer(o) })
}

func FuzzReceive(f *testing.F) {
	porttest.FuzzHosted(f, []string{
		`{"tokens":[{"text":"Hel","start_ms":600,"end_ms":1e99,"confidence":-3,"is_final":true}]}`, `{"tokens":[{"text":"<fin>"}]}`,
		`{"error_code":"x","error_message":"\u0000"}`, `{"stream_id":"1","audio":"AAA=","timestamps":{"characters":["a"," "],"character_start_times_seconds":[-1,1e300]}}`,
		`{"stream_id":"1","audio":"?"}`, `{"terminated":true}`, `null`, `[`,
	}, func() []hosted.Hearing { return []hosted.Hearing{&hearing{fail: porttest.NewFailure}} },
		func() hosted.Speaking { return &speaking{fail: porttest.NewFailure} })
}

// TestTextsAreWhole checks that a long text is sent in parts that the service takes.
func TestTextsAreWhole(t *testing.T) {
	s := &speaking{o: Options{Model: "m", Voice: "v", Rate: 24000}}
	text, got := strings.Repeat("wörter ", 2000), ""
	messages := s.Speak("1", port.Utterance{Text: text, Rate: 3})
	for i, m := range messages {
		var v struct {
			Text  string  `json:"text"`
			End   bool    `json:"text_end"`
			Speed float64 `json:"speed"`
		}
		if err := json.Unmarshal(m.Data, &v); err != nil {
			t.Fatal(err)
		}
		if len([]rune(v.Text)) > maxText || v.End != (i == len(messages)-1) || i == 0 && v.Speed != 1.3 {
			t.Errorf("message %d has %d characters, end %v, speed %v", i, len([]rune(v.Text)), v.End, v.Speed)
		}
		got += v.Text
	}
	if got != text {
		t.Error("the text has changed")
	}
}
