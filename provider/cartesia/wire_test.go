package cartesia

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/fakes"
	"github.com/hocketvoice/hocket/internal/hosted"
	"github.com/hocketvoice/hocket/internal/socket"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/provider/cartesia/fake"
)

// TestRequests checks the messages of a text and of its cancellation.
func TestRequests(t *testing.T) {
	s := &speaking{o: Options{Model: "sonic-3.5", Voice: "ada", Rate: 24000}}
	messages := s.Speak("7", port.Utterance{Text: "hallo", Language: "de-AT", Rate: 2})
	want := `{"model_id":"sonic-3.5","transcript":"hallo","voice":{"mode":"id","id":"ada"},"language":"de","context_id":"7",` +
		`"output_format":{"container":"raw","encoding":"pcm_s16le","sample_rate":24000},"add_timestamps":true,"use_normalized_timestamps":false,` +
		`"continue":false,"max_buffer_delay_ms":0,"generation_config":{"speed":1.5}}`
	if len(messages) != 1 || string(messages[0].Data) != want {
		t.Errorf("%s\nwant %s", messages[0].Data, want)
	}
	if messages, ok := s.Cancel("7"); !ok || string(messages[0].Data) != `{"context_id":"7","cancel":true}` {
		t.Errorf("%s", messages[0].Data)
	}
}

// TestMessages decodes the examples of the documents.
func TestMessages(t *testing.T) {
	s := &speaking{fail: porttest.NewFailure}
	for message, want := range map[string]string{
		`{"type":"chunk","data":"aSDinaTvuI8gbWludGxpZnk=","done":false,"status_code":206,"step_time":123,"context_id":"a"}`:                                    "a 17 [] false",
		`{"type":"timestamps","done":false,"status_code":206,"context_id":"a","word_timestamps":{"words":["Hello","there"],"start":[0.0,0.5],"end":[0.4,0.9]}}`: "a 0 [{Hello 0s} {there 500ms}] false",
		`{"type":"timestamps","context_id":"a","word_timestamps":{"words":["Hello","there"],"start":[0.25]}}`:                                                   "a 0 [{Hello 250ms}] false",
		`{"type":"done","done":true,"status_code":200,"context_id":"a"}`:                                                                                        "a 0 [] true",
		`{"type":"flush_done","done":false,"flush_done":true,"flush_id":1,"status_code":206,"context_id":"a"}`:                                                  "",
		`{"type":"phoneme_timestamps","context_id":"a"}`:                                                                                                        "",
		`{"type":"error","done":true,"status_code":429,"error_code":"concurrency_limited","title":"Too many","message":"Wait.","context_id":"a"}`:               "a 0 [] true RATE_LIMIT",
	} {
		all, err := s.Receive(socket.Text(message))
		got := ""
		for _, x := range all {
			got += fmt.Sprint(x.ID, " ", len(x.PCM), " ", x.Words, " ", x.Done)
			if f, ok := errors.AsType[*port.Failure](x.Err); ok {
				got += " " + f.Code
			}
		}
		if got != want || err != nil {
			t.Errorf("%s: %q, want %q, error %v", message, got, want, err)
		}
	}
}

func TestErrors(t *testing.T) {
	s := &speaking{fail: porttest.NewFailure}
	porttest.WantFailures(t, map[string]string{
		`{"type":"error","status_code":401,"title":"Unauthorized","message":"no key"}`:      errclass.AuthFailure,
		`{"type":"error","status_code":402,"error_code":"quota_exceeded","message":"none"}`: errclass.AuthFailure,
		`{"type":"error","status_code":500,"error_code":null,"message":"sorry"}`:            errclass.ServerError,
		`{"type":"error","status_code":400,"message":"what?"}`:                              errclass.Unknown,
		`{"type":"error","message":"no status"}`:                                            errclass.ServerError,
		`{"type":"chunk","data":"?"}`:                                                       errclass.ServerError,
		`[]`:                                                                                errclass.ServerError,
	}, func(m socket.Message) error { _, err := s.Receive(m); return err })
}

func TestOptions(t *testing.T) {
	porttest.TestHostedOptions(t, map[string]Options{
		"":       {},
		"URL is": {URL: "https://api.cartesia.ai"},
		"Rate is 11025: expected one of [8000 16000 22050 24000 44100 48000]":    {Rate: 11025},
		`Model is "a b": expected at most 50 characters without spaces`:          {Model: "a b"},
		"the environment variable CARTESIA_API_KEY is not set: expected the key": {Getenv: func(string) string { return "" }},
	}, func(o *Options) *func(string) string { return &o.Getenv },
		func(o Options) (io.Closer, error) { return NewSynthesizer(o) })
}

// TestTheFakeRefuses checks that the fake does not take what Cartesia does not.
func TestTheFakeRefuses(t *testing.T) {
	request := func(context, rest string) string {
		return `{"context_id":"` + context + `","model_id":"sonic-3.5","voice":{"mode":"id","id":"x"},"output_format":{"container":"raw","encoding":"pcm_s16le","sample_rate":8000}` + rest + `}`
	}
	header := http.Header{"Authorization": {"Bearer " + porttest.HostedKey}, "Cartesia-Version": {version}}
	porttest.TestFakeRefuses(t, "ws://cartesia.test/tts/websocket", header, func() fakes.Service {
		return &fake.Synthesizer{Key: porttest.HostedKey, Mouth: fakes.Mouth{Engine: &porttest.Synthesizer{}}}
	}, map[string]porttest.Rudeness{
		"a changed field":     {Want: "must stay the same", Messages: []string{request("1", `,"transcript":"a","continue":true`), request("1", `,"transcript":"b","language":"de"`)}},
		"a complete context":  {Want: "complete", Messages: []string{request("1", `,"transcript":"a"`), request("1", `,"transcript":"b"`)}},
		"an expired context":  {Want: "expired", Wait: 2 * time.Second, Messages: []string{request("1", `,"transcript":"a","continue":true,"max_buffer_delay_ms":0`), request("1", `,"transcript":"b","continue":true,"max_buffer_delay_ms":0`)}},
		"a cancelled context": {Want: "complete", Messages: []string{request("1", `,"transcript":"a","continue":true`), `{"context_id":"1","cancel":true}`, request("1", `,"transcript":"b"`)}},
		"a buffer":            {Want: "max_buffer_delay_ms", Messages: []string{request("1", `,"transcript":"a","max_buffer_delay_ms":5001`)}},
		"a speed":             {Want: "generation_config", Messages: []string{request("1", `,"transcript":"a","generation_config":{"speed":1.6}`)}},
		"no voice":            {Want: "required", Messages: []string{`{"context_id":"1","model_id":"m","transcript":"a"}`}},
		"an unknown field":    {Want: "parsed", Messages: []string{request("1", `,"transcript":"a","colour":"red"`)}},
	})
}

func FuzzReceive(f *testing.F) {
	porttest.FuzzHosted(f, []string{
		`{"type":"chunk","data":"AAAA","context_id":"1"}`, `{"type":"timestamps","word_timestamps":{"words":["a","b"],"start":[-1,1e300]}}`,
		`{"type":"done"}`, `{"type":"error","status_code":-3}`, `null`, `[`,
	}, func() []hosted.Hearing { return nil }, func() hosted.Speaking { return &speaking{fail: porttest.NewFailure} })
}
