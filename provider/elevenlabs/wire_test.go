package elevenlabs

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/fakes"
	"github.com/hocketvoice/hocket/internal/hosted"
	"github.com/hocketvoice/hocket/internal/socket"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/provider/elevenlabs/fake"
)

// TestAddress checks what is asked for in the address, where no key is.
func TestAddress(t *testing.T) {
	const rest = "&output_format=pcm_24000&sync_alignment=true"
	for want, c := range map[string]struct {
		o Options
		u port.Utterance
	}{
		"wss://h/v1/text-to-speech/george/multi-stream-input?auto_mode=true&inactivity_timeout=180&language_code=de&model_id=eleven_flash_v2_5" + rest: {
			Options{Model: SynthesizerModel, Voice: "george", Rate: 24000}, port.Utterance{Language: "de-AT"},
		},
		"wss://h/v1/text-to-speech/a%2Fb/multi-stream-input?auto_mode=true&inactivity_timeout=180&model_id=eleven_multilingual_v2" + rest: {
			Options{Model: "eleven_multilingual_v2", Voice: "george", Rate: 24000}, port.Utterance{Language: "de", Voice: "a/b"},
		},
	} {
		if got := c.o.address("wss://h/v1/text-to-speech", c.u); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// TestContext checks the messages of a text.
func TestContext(t *testing.T) {
	s := &speaking{}
	var got []string
	for _, m := range s.Speak("7", port.Utterance{Text: "hello", Rate: 2}) {
		got = append(got, string(m.Data))
	}
	want := []string{
		`{"context_id":"7","text":" ","voice_settings":{"speed":1.2}}`,
		`{"context_id":"7","text":"hello ","flush":true}`,
		`{"context_id":"7","close_context":true}`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestTimesCountFromTheMessage checks that the times of characters, which count from the
// beginning of a message, become those of the text.
func TestTimesCountFromTheMessage(t *testing.T) {
	s := &speaking{rate: 1000, fail: porttest.NewFailure}
	sound := func(ms int) string { return base64.StdEncoding.EncodeToString(make([]byte, 2*ms)) }
	var got []string
	for _, message := range []string{
		`{"contextId":"1","audio":"` + sound(300) + `","isFinal":null,"alignment":{"chars":["H","i"," ","t","h"],"charStartTimesMs":[0,50,100,150,200],"charDurationsMs":[50,50,50,50,50]}}`,
		`{"contextId":"2","audio":"` + sound(900) + `","alignment":{"chars":["N","o"," "],"charStartTimesMs":[40,50,60],"charsDurationsMs":[1,1,1]}}`,
		`{"contextId":"1","audio":"` + sound(400) + `","alignment":null,"normalizedAlignment":{"chars":["e","r","e"," ","$"],"charStartTimesMs":[0,100,200,300,350]}}`,
		`{"contextId":"1","isFinal":true}`,
		`{"context_id":"2","is_final":true}`,
	} {
		all, err := s.Receive(socket.Text(message))
		if err != nil || len(all) != 1 {
			t.Fatalf("%+v, error %v", all, err)
		}
		for _, w := range all[0].Words {
			got = append(got, fmt.Sprint(all[0].ID, " ", w.Word, " ", w.Start))
		}
		if all[0].Done {
			got = append(got, all[0].ID+" done")
		}
	}
	want := "1 Hi 0s|2 No 40ms|1 there 150ms|1 $ 650ms|1 done|2 done"
	if strings.Join(got, "|") != want {
		t.Errorf("%q, want %q", got, want)
	}
	if len(s.bytes) != 0 {
		t.Errorf("%d contexts are remembered", len(s.bytes))
	}
}

func TestErrors(t *testing.T) {
	s := &speaking{fail: porttest.NewFailure}
	porttest.WantFailures(t, map[string]string{
		`{"message":"closed","error":"input_timeout_exceeded","code":1008}`:     errclass.NetworkTimeout,
		`{"message":"too many","error":"max_active_conversations","code":1008}`: errclass.RateLimit,
		`{"message":"slow down","error":"rate_limit_exceeded"}`:                 errclass.RateLimit,
		`{"message":"no","error":"invalid_api_key"}`:                            errclass.AuthFailure,
		`{"message":"no","error":"quota_exceeded"}`:                             errclass.AuthFailure,
		`{"message":"sorry","error":"internal_error"}`:                          errclass.ServerError,
		`{"message":"sorry"}`: errclass.ServerError,
		`{"message":"what?","error":"voice_id_does_not_exist"}`: errclass.Unknown,
		`{"contextId":"1","audio":"?"}`:                         errclass.ServerError,
		`[]`:                                                    errclass.ServerError,
	}, func(m socket.Message) error { _, err := s.Receive(m); return err })
	all, err := s.Receive(socket.Text(`{"contextId":"7","message":"no","error":"x"}`))
	if err != nil || len(all) != 1 || all[0].ID != "7" || all[0].Err == nil {
		t.Errorf("an error of a context: %+v, %v", all, err)
	}
}

func TestOptions(t *testing.T) {
	porttest.TestHostedOptions(t, map[string]Options{
		"":       {},
		"URL is": {URL: "https://api.elevenlabs.io"},
		"Rate is 48000: expected one of [8000 16000 22050 24000 44100]":            {Rate: 48000},
		`Voice is "a b": expected at most 50 characters without spaces`:            {Voice: "a b"},
		"the environment variable ELEVENLABS_API_KEY is not set: expected the key": {Getenv: func(string) string { return "" }},
	}, func(o *Options) *func(string) string { return &o.Getenv },
		func(o Options) (io.Closer, error) { return NewSynthesizer(o) })
}

// TestTheFakeRefuses checks that the fake does not take what ElevenLabs does not.
func TestTheFakeRefuses(t *testing.T) {
	open := func(id int) string { return fmt.Sprintf(`{"text":" ","context_id":"%d"}`, id) }
	header := http.Header{"Xi-Api-Key": {porttest.HostedKey}}
	porttest.TestFakeRefuses(t, "ws://elevenlabs.test/v1/text-to-speech/x/multi-stream-input", header, func() fakes.Service {
		return &fake.Synthesizer{Key: porttest.HostedKey}
	}, map[string]porttest.Rudeness{
		"six contexts":         {Want: "max_active_conversations", Messages: []string{open(1), open(2), open(3), open(4), open(5), open(6)}},
		"settings in a second": {Want: "invalid_message", Messages: []string{open(1), `{"text":"a ","context_id":"1","voice_settings":{"speed":1}}`}},
		"text without a first": {Want: "invalid_message", Messages: []string{`{"text":"hello ","context_id":"1"}`}},
		"an unknown field":     {Want: "invalid_message", Messages: []string{`{"text":" ","colour":"red"}`}},
		"nothing":              {Want: "input_timeout_exceeded", Wait: 20 * time.Second, Messages: nil},
		"nothing any more":     {Want: "input_timeout_exceeded", Wait: 21 * time.Second, Messages: []string{open(1), open(2)}},
	})
}

func FuzzReceive(f *testing.F) {
	porttest.FuzzHosted(f, []string{
		`{"contextId":"1","audio":"AAAA","alignment":{"chars":["a"," ","b"],"charStartTimesMs":[-1,1e300]}}`, `{"isFinal":true}`,
		`{"context_id":"1","error":"x"}`, `{"message":"\u0000"}`, `{"audio":"?"}`, `null`, `[`,
	}, func() []hosted.Hearing { return nil }, func() hosted.Speaking { return &speaking{rate: 24000, fail: porttest.NewFailure} })
}
