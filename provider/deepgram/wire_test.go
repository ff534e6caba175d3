package deepgram

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/fakes"
	"github.com/hocketvoice/hocket/internal/hosted"
	"github.com/hocketvoice/hocket/internal/nettest"
	"github.com/hocketvoice/hocket/internal/socket"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/provider/deepgram/fake"
)

// TestParameters checks what is asked for in the address, where no key is.
func TestParameters(t *testing.T) {
	cfg := port.RecognizerConfig{Rate: 16000, Language: "de-AT"}
	e := port.Expectation{Phrases: []string{"Boston", "(a|b)", "New York"}}
	for want, got := range map[string]url.Values{
		"channels=1&encoding=linear16&endpointing=500&interim_results=true&keyterm=Boston&keyterm=New+York&language=de&model=nova-3-general&punctuate=true&sample_rate=16000": Options{
			Model: "nova-3-general", Endpointing: 500 * time.Millisecond,
		}.novaParameters(cfg, e),
		"channels=1&encoding=linear16&endpointing=300&interim_results=true&language=de&model=nova-2&punctuate=true&sample_rate=16000": Options{
			Model: "nova-2", Endpointing: 300 * time.Millisecond,
		}.novaParameters(cfg, e),
		"encoding=linear16&keyterm=Boston&keyterm=New+York&model=flux-general-en&sample_rate=16000": Options{Model: "flux-general-en"}.fluxParameters(cfg, e),
		"eager_eot_threshold=0.4&encoding=linear16&eot_threshold=0.8&language_hint=de&model=flux-general-multi&sample_rate=16000": Options{
			Model: "flux-general-multi", Threshold: 0.8, EagerThreshold: 0.4,
		}.fluxParameters(cfg, port.Expectation{}),
	} {
		if got.Encode() != want {
			t.Errorf("%s\nwant %s", got.Encode(), want)
		}
	}
}

// TestVocabularyIsLimited checks that more tokens than Deepgram takes are not sent.
func TestVocabularyIsLimited(t *testing.T) {
	var e port.Expectation
	for i := range 200 {
		e.Phrases = append(e.Phrases, fmt.Sprintf("llanfairpwllgwyngyll %d", i))
	}
	terms := keyterms(e)
	if n := len(strings.Join(terms, "")); len(terms) == 0 || n > 2*maxTokens {
		t.Errorf("%d terms of %d bytes", len(terms), n)
	}
	h := &nova{model: "nova-3"}
	if _, ok := h.Expect(e); ok {
		t.Error("Nova: another vocabulary needs another connection")
	}
	h = &nova{model: "nova-2"}
	if _, ok := h.Expect(e); !ok {
		t.Error("Nova-2 has no vocabulary")
	}
	messages, ok := (&flux{}).Expect(port.Expectation{})
	if want := `{"type":"Configure","keyterms":[]}`; !ok || string(messages[0].Data) != want {
		t.Errorf("Flux: %s, want %s", messages[0].Data, want)
	}
}

// TestNovaMessages decodes the examples of the documents.
func TestNovaMessages(t *testing.T) {
	for message, want := range map[string]string{
		`{"type":"Results","channel_index":[0,1],"duration":1.98,"start":5.99,"is_final":true,"speech_final":true,"channel":{"alternatives":[{"transcript":"Tell me more.",
			"confidence":0.99,"words":[{"word":"tell","start":6.07,"end":6.27,"confidence":0.99,"punctuated_word":"Tell"},{"word":"me","start":6.31,"end":6.5,"confidence":0.9},
			{"word":"more","start":6.6,"end":6.8,"confidence":0.9,"punctuated_word":"more."}]}]},"metadata":{},"from_finalize":false}`: " Tell me more.! 7.97s 0",
		`{"type":"Results","duration":1,"start":0,"is_final":false,"channel":{"alternatives":[{"transcript":"a","words":[{"word":"a"}],"languages":["es","en"]}]}}`: "+ aes",
		`{"type":"Results","duration":1,"start":2,"is_final":true,"from_finalize":true,"channel":{"alternatives":[{"transcript":"","words":[]}]}}`:                  ". 3s 0",
		`{"type":"Results","duration":1,"start":2,"is_final":true,"channel":{"alternatives":[]}}`:                                                                   " 3s 0",
		`{"type":"SpeechStarted","channel":[0,1],"timestamp":9.54}`:                                                                                                 "",
		`{"type":"UtteranceEnd","channel":[0,1],"last_word_end":2.395}`:                                                                                             "",
		`{"type":"Metadata","request_id":"x","duration":1.5,"channels":1}`:                                                                                          "",
		`{"type":"ConfigureSuccess","request_id":"x"}`:                                                                                                              "",
	} {
		porttest.WantHeard(t, &nova{fail: porttest.NewFailure}, message, want)
	}
}

// TestNovaIsNotAskedForWhatItHasSaid checks that no request is made that Deepgram does not
// answer: the words of all sound are final.
func TestNovaIsNotAskedForWhatItHasSaid(t *testing.T) {
	h := &nova{rate: 16000, fail: porttest.NewFailure}
	h.Audio(make([]int16, 16000))
	if len(h.Finalize()) == 0 {
		t.Error("the sound has no final words")
	}
	if _, err := h.Receive(socket.Text(`{"type":"Results","start":0,"duration":0.95,"is_final":true}`)); err != nil {
		t.Fatal(err)
	}
	if len(h.Finalize()) != 0 {
		t.Error("all but 50 ms has final words")
	}
	h.Audio(make([]int16, 1600))
	if len(h.Finalize()) == 0 {
		t.Error("150 ms have no final words")
	}
}

// TestFluxMessages decodes the examples of the documents.
func TestFluxMessages(t *testing.T) {
	info := func(rest string) string {
		return `{"type":"TurnInfo","request_id":"x","sequence_id":4,"turn_index":0,"audio_window_start":0,"audio_window_end":1.3,` + rest + `}`
	}
	words := `"transcript":"Hello there","words":[{"word":"Hello","confidence":0.96},{"word":"there","confidence":0.8,"start":0.5,"end":0.75}]`
	for message, want := range map[string]string{
		`{"type":"Connected","request_id":"x","sequence_id":0}`:                                                           "",
		info(`"event":"Update","transcript":"","words":[],"end_of_turn_confidence":0.1`):                                  " 0s 0.1",
		info(`"event":"StartOfTurn",` + words + `,"end_of_turn_confidence":0.2`):                                          "+ Hello+ there 0s 0.2",
		info(`"event":"EagerEndOfTurn",` + words + `,"end_of_turn_confidence":0.5`):                                       "+ Hello+ there 0s 0.5",
		info(`"event":"TurnResumed",` + words + `,"end_of_turn_confidence":0.3`):                                          "+ Hello+ there 0s 0.3",
		info(`"event":"EndOfTurn",` + words + `,"end_of_turn_confidence":0.9,"trigger":"model","languages":["en","es"]`):  " Hello there!en 0s 0.9",
		info(`"event":"EndOfTurn",` + words + `,"end_of_turn_confidence":0.6,"trigger":"timeout"`):                        " Hello there! 0s 0.6",
		info(`"event":"EndOfTurn",` + words + `,"end_of_turn_confidence":0.35,"trigger":"manual"`):                        " Hello there. 0s 0.35",
		`{"type":"Warning","request_id":"x","sequence_id":9,"code":"FORCE_END_TURN_NO_ACTIVE_TURN","description":"none"}`: ".",
		`{"type":"Warning","code":"SOMETHING_NEW"}`:                                                                       "",
		`{"type":"ConfigureFailure","code":"x","description":"y"}`:                                                        "",
	} {
		porttest.WantHeard(t, &flux{fail: porttest.NewFailure}, message, want)
	}
	all, err := (&flux{fail: porttest.NewFailure}).Receive(socket.Text(info(`"event":"Update",` + words)))
	if err != nil || len(all) != 1 || all[0].Volatile[0].End != 650*time.Millisecond || all[0].Volatile[1].Start != 500*time.Millisecond {
		t.Errorf("%+v, error %v: a word without times shares that of the turn", all, err)
	}
}

// TestSpokenMessages follows texts over one connection.
func TestSpokenMessages(t *testing.T) {
	s := &speaking{fail: porttest.NewFailure}
	speak := func(id, text string) func() string {
		return func() string {
			out := ""
			for _, m := range s.Speak(id, port.Utterance{Text: text}) {
				out += string(m.Data)
			}
			return out
		}
	}
	sound := socket.Message{Binary: true, Data: []byte{1, 2}}
	receive := func(m socket.Message) func() string {
		return func() string {
			all, err := s.Receive(m)
			if err != nil {
				return err.Error()
			}
			out := ""
			for _, x := range all {
				out += fmt.Sprintf("%s %d %v %v", x.ID, len(x.PCM), x.Done, x.Err != nil)
			}
			return out
		}
	}
	for i, step := range []struct {
		do   func() string
		want string
	}{
		{receive(socket.Text(`{"type":"Metadata","request_id":"x","model_name":"aura-2-thalia-en"}`)), ""},
		{speak("1", "hello"), `{"type":"Speak","text":"hello"}{"type":"Flush"}`},
		{receive(sound), "1 2 false false"},
		{receive(socket.Text(`{"type":"Warning","code":"x","description":"of no consequence"}`)), ""},
		{receive(socket.Text(`{"type":"Flushed","sequence_id":0}`)), "1 0 true false"},
		{receive(sound), ""},
		{speak("2", "bye"), `{"type":"Speak","text":"bye"}{"type":"Flush"}`},
		{receive(sound), "2 2 false false"},
		{func() string { m, ok := s.Cancel("2"); return fmt.Sprint(string(m[0].Data), " ", ok) }, `{"type":"Clear"} true`},
		{receive(sound), "2 2 false false"},
		{receive(socket.Text(`{"type":"Cleared","sequence_id":1}`)), "2 0 true false"},
		{speak("3", "now"), `{"type":"Speak","text":"now"}{"type":"Flush"}`},
		{receive(socket.Text(`{"type":"Flushed","sequence_id":1}`)), ""}, // that of 2, late
		{receive(sound), "3 2 false false"},
		{receive(socket.Text(`{"type":"Flushed","sequence_id":2}`)), "3 0 true false"},
		{speak("4", "x"), `{"type":"Speak","text":"x"}{"type":"Flush"}`},
		{receive(socket.Text(`{"type":"Warning","code":"EXCESSIVE_FLUSH","description":"no"}`)), "4 0 true true"},
	} {
		if got := step.do(); got != step.want {
			t.Errorf("step %d: %q, want %q", i, got, step.want)
		}
	}
}

// TestTextsAreWhole checks that a long text is sent in parts that the service takes.
func TestTextsAreWhole(t *testing.T) {
	s := &speaking{fail: porttest.NewFailure}
	messages := s.Speak("1", port.Utterance{Text: strings.Repeat("wörter ", 500)})
	if len(messages) != 4 || len([]rune(string(messages[0].Data))) > maxText+50 {
		t.Errorf("%d messages, the first with %d characters", len(messages), len([]rune(string(messages[0].Data))))
	}
	for i, want := range []int{0, 1} {
		all, err := s.Receive(socket.Text(`{"type":"Flushed","sequence_id":0}`))
		if err != nil || len(all) != want {
			t.Errorf("part %d: %+v, error %v", i, all, err)
		}
	}
}

func TestErrors(t *testing.T) {
	n, f, s := &nova{fail: porttest.NewFailure}, &flux{fail: porttest.NewFailure}, &speaking{fail: porttest.NewFailure}
	for _, receive := range []func(socket.Message) error{
		func(m socket.Message) error { _, err := n.Receive(m); return err },
		func(m socket.Message) error { _, err := f.Receive(m); return err },
		func(m socket.Message) error { _, err := s.Receive(m); return err },
	} {
		porttest.WantFailures(t, map[string]string{
			`{"type":"Error","variant":"SchemaError","description":"bad","message":"x"}`:            errclass.Unknown,
			`{"type":"Error","sequence_id":3,"code":"INTERNAL_SERVER_ERROR","description":"sorry"}`: errclass.ServerError,
			`{"type":"Error","code":"NET-0001","description":"no sound"}`:                           errclass.NetworkTimeout,
			`{"type":"Error","description":"no code"}`:                                              errclass.ServerError,
			`{"type":"Error","code":"UNPARSABLE_CLIENT_MESSAGE","description":"what?"}`:             errclass.Unknown,
			`[]`: errclass.ServerError,
		}, receive)
	}
}

func TestOptions(t *testing.T) {
	porttest.TestHostedOptions(t, map[string]Options{
		"":                                       {},
		"URL is":                                 {URL: "https://api.deepgram.com"},
		"Endpointing is 6s: expected 10ms to 5s": {Endpointing: 6 * time.Second},
		"Threshold is 0.4: expected 0.5 to 1":    {Threshold: 0.4},
		"EagerThreshold is 0.2: expected 0.3 to 0.9":                             {EagerThreshold: 0.2},
		"EagerThreshold is 0.8: expected at most Threshold, 0.7":                 {EagerThreshold: 0.8},
		"Rate is 44100: expected one of [8000 16000 24000 32000 48000]":          {Rate: 44100},
		`Model is "a b": expected at most 50 characters without spaces`:          {Model: "a b"},
		"the environment variable DEEPGRAM_API_KEY is not set: expected the key": {Getenv: func(string) string { return "" }},
	}, func(o *Options) *func(string) string { return &o.Getenv },
		func(o Options) (io.Closer, error) { return NewRecognizer(o) },
		func(o Options) (io.Closer, error) { return NewSynthesizer(o) })
}

// talk is an utterance to a recognizer of a fake, in virtual time.
type talk struct {
	t     *testing.T
	sleep func(time.Duration)
	r     *hosted.Recognizer
	s     port.RecognizerStream
	pos   audio.Pos
	told  []port.Transcript
}

// begin begins an utterance, in a bubble, whose sleep is given.
func begin(t *testing.T, f http.Handler, o Options, sleep func(time.Duration)) *talk {
	o.URL, o.KeyEnv, o.Getenv, o.Transport = "ws://deepgram.test/", "KEY", porttest.HostedEnv, nettest.Serve(t, f).Transport()
	r, err := NewRecognizer(o)
	if err != nil {
		t.Fatal(err)
	}
	k := &talk{t: t, sleep: sleep, r: r}
	if k.s, err = r.Open(t.Context(), port.RecognizerConfig{Rate: 16000}, func(x port.Transcript) { k.told = append(k.told, x) }); err != nil {
		t.Fatal(err)
	}
	if err := k.s.Begin(); err != nil {
		t.Fatal(err)
	}
	return k
}

// write writes a tone, or silence, at its pace, and returns the last result.
func (k *talk) write(tone bool, d time.Duration) port.Transcript {
	pcm := make([]int16, 320)
	if tone {
		pcm = porttest.Tone(16000, 20*time.Millisecond)
	}
	for ; d > 0; d -= 20 * time.Millisecond {
		if err := k.s.Write(audio.Frame{Pos: k.pos, Rate: 16000, PCM: pcm}); err != nil {
			k.t.Fatal(err)
		}
		k.pos += audio.Pos(len(pcm))
		k.sleep(20 * time.Millisecond)
		synctest.Wait()
	}
	if len(k.told) == 0 {
		k.t.Fatal("nothing was heard")
	}
	return k.told[len(k.told)-1]
}

// end ends the talk, in which no rule must have been broken, nor by its end.
func (k *talk) end(s *fakes.Server) {
	if err := errors.Join(k.s.Close(), k.r.Close()); err != nil {
		k.t.Error(err)
	}
	synctest.Wait()
	if broken := s.Broken(); len(broken) > 0 || s.Connections() != 1 || s.Ended() != 1 {
		k.t.Errorf("broken rules: %q, %d connections, %d of them ended in order", broken, s.Connections(), s.Ended())
	}
}

// TestFluxTellsTheEndOfATurn listens to a turn: its score rises in the silence, and the service
// ends it. A voice that goes on takes an early end back.
func TestFluxTellsTheEndOfATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake.Flux{Key: porttest.HostedKey, Engine: &porttest.Recognizer{Texts: []string{"from new york to boston"}}}
		k := begin(t, f, Options{Model: "flux-general-en", EagerThreshold: 0.5}, time.Sleep)
		k.write(true, 600*time.Millisecond)
		early := k.write(false, 500*time.Millisecond)
		if early.Final || early.EndOfTurn < 0.5 || early.Text == "" {
			t.Errorf("in the silence: %+v", early)
		}
		resumed := k.write(true, 600*time.Millisecond)
		if resumed.Final || resumed.EndOfTurn >= 0.5 || len(resumed.Text) <= len(early.Text) {
			t.Errorf("after the silence: %+v", resumed)
		}
		k.write(false, 900*time.Millisecond)
		var end port.Transcript
		for _, x := range k.told {
			if x.Final {
				end = x
			}
		}
		if !end.Endpoint || end.Text != "from new york to boston" || end.EndOfTurn != 0.9 {
			t.Errorf("the end: %+v", end)
		}
		k.end(&f.Server)
	})
}

// TestNovaIsNotWaitedFor ends an utterance just after Nova has judged that it has ended: all
// words are final, Nova would not answer, and the result is there at once.
func TestNovaIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake.Nova{Key: porttest.HostedKey, Engine: &porttest.Recognizer{Texts: []string{"from new york"}}}
		k := begin(t, f, Options{}, time.Sleep)
		k.write(true, time.Second)
		if end := k.write(false, 320*time.Millisecond); !end.Endpoint || end.Text != "from new york" {
			t.Errorf("%+v, want an endpoint", end)
		}
		known := len(k.told)
		if err := k.s.Finalize(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if rest := k.told[known:]; len(rest) != 1 || !rest[0].Final || rest[0].Text != "" {
			t.Errorf("%+v, want an empty final result at once", rest)
		}
		time.Sleep(time.Minute)
		k.end(&f.Server)
	})
}

// TestManySentencesKeepTheLimit speaks more sentences in a minute than a connection takes, and
// for longer than it lasts.
func TestManySentencesKeepTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake.Synthesizer{Key: porttest.HostedKey, Mouth: fakes.Mouth{Engine: &porttest.Synthesizer{}, Speed: 1}}
		network := nettest.Serve(t, f)
		v, err := NewSynthesizer(options("", "ws://deepgram.test/v1/speak", network.Transport()))
		if err != nil {
			t.Fatal(err)
		}
		say := func() {
			if err := v.Speak(t.Context(), port.Utterance{Text: "yes"}, func(port.Speech) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		for range 45 {
			say()
		}
		if n := f.Connections(); n > 3 {
			t.Errorf("%d connections for 45 texts", n)
		}
		for range 35 {
			time.Sleep(2 * time.Minute)
			say()
		}
		if err := v.Close(); err != nil {
			t.Error(err)
		}
		if broken := f.Broken(); len(broken) > 0 {
			t.Errorf("broken rules: %q", broken)
		}
	})
}

// TestTheFakesRefuse checks that the fakes do not take what Deepgram does not.
func TestTheFakesRefuse(t *testing.T) {
	header := http.Header{"Authorization": {"Token " + porttest.HostedKey}}
	const raw = "encoding=linear16&sample_rate=16000&model="
	t.Run("nova", func(t *testing.T) {
		porttest.TestFakeRefuses(t, "ws://deepgram.test/v1/listen?"+raw+"nova-3", header, func() fakes.Service {
			return &fake.Nova{Key: porttest.HostedKey, Engine: &porttest.Recognizer{}}
		}, map[string]porttest.Rudeness{
			"nothing":              {Want: "NET-0001", Wait: 10 * time.Second},
			"no sign of life":      {Want: "NET-0001", Wait: 11 * time.Second, Messages: []string{`{"type":"Finalize"}`, `{"type":"KeepAlive"}`}},
			"a message of another": {Want: "DATA-0000", Messages: []string{`{"type":"ForceEndTurn"}`}},
			"no message":           {Want: "DATA-0000", Messages: []string{`hello`}},
		})
	})
	t.Run("flux", func(t *testing.T) {
		porttest.TestFakeRefuses(t, "ws://deepgram.test/v2/listen?"+raw+"flux-general-en", header, func() fakes.Service {
			return &fake.Flux{Key: porttest.HostedKey, Engine: &porttest.Recognizer{}}
		}, map[string]porttest.Rudeness{
			"nothing":              {Want: "NET-0001", Wait: 20 * time.Second},
			"a message of another": {Want: "UNPARSABLE_CLIENT_MESSAGE", Messages: []string{`{"type":"KeepAlive"}`}},
			"an unknown field":     {Want: "UNPARSABLE_CLIENT_MESSAGE", Messages: []string{`{"type":"Configure","thresholds":{"colour":1}}`}},
		})
	})
	t.Run("aura", func(t *testing.T) {
		flushes := make([]string, 21)
		for i := range flushes {
			flushes[i] = `{"type":"Flush"}`
		}
		porttest.TestFakeRefuses(t, "ws://deepgram.test/v1/speak?encoding=linear16", header, func() fakes.Service {
			return &fake.Synthesizer{Key: porttest.HostedKey, Mouth: fakes.Mouth{Engine: &porttest.Synthesizer{}}}
		}, map[string]porttest.Rudeness{
			"an hour":              {Want: "NET-0003", Wait: time.Hour},
			"a long text":          {Want: "BIG-0001", Messages: []string{`{"type":"Speak","text":"` + strings.Repeat("a", 2001) + `"}`}},
			"a message of another": {Want: "DATA-0000", Messages: []string{`{"type":"KeepAlive"}`}},
			"many flushes":         {Want: "EXCESSIVE_FLUSH", Messages: flushes},
		})
	})
}

// TestTheFakeRefusesParameters checks that the fake does not take parameters that Deepgram does
// not.
func TestTheFakeRefusesParameters(t *testing.T) {
	const good = "model=nova-3&encoding=linear16&sample_rate=16000"
	for query, status := range map[string]int{
		good + "&colour=red":                                         http.StatusBadRequest,
		good + "&utterance_end_ms=1000":                              http.StatusBadRequest,
		good + "&endpointing=soon":                                   http.StatusBadRequest,
		"model=nova-2&keyterm=a&encoding=linear16&sample_rate=16000": http.StatusBadRequest,
		"model=nova-3&encoding=linear16":                             http.StatusBadRequest,
		"encoding=linear16&sample_rate=16000":                        http.StatusBadRequest,
	} {
		synctest.Test(t, func(t *testing.T) {
			f := &fake.Nova{Key: porttest.HostedKey, Engine: &porttest.Recognizer{}}
			d := socket.New(socket.Options{Transport: nettest.Serve(t, f).Transport()})
			defer d.Close()
			_, err := d.Dial(t.Context(), "ws://deepgram.test/v1/listen?"+query, http.Header{"Authorization": {"Token " + porttest.HostedKey}})
			if err == nil || !strings.Contains(err.Error(), fmt.Sprint(status)) || len(f.Broken()) != 1 {
				t.Errorf("%s: error %v, broken %q", query, err, f.Broken())
			}
		})
	}
}

func FuzzReceive(f *testing.F) {
	porttest.FuzzHosted(f, []string{
		`{"type":"Results","start":1e300,"duration":-1,"is_final":true,"channel":{"alternatives":[{"words":[{"word":"a","start":-3,"end":1e99}]}]}}`,
		`{"type":"TurnInfo","event":"EndOfTurn","audio_window_start":9,"audio_window_end":-4,"words":[{"word":"a"},{"word":""}],"end_of_turn_confidence":1e400}`,
		`{"type":"Flushed"}`, `{"type":"Cleared"}`, `{"type":"Warning"}`, `{"type":"Error"}`, `null`, `[`, "\x01",
	}, func() []hosted.Hearing {
		return []hosted.Hearing{&nova{rate: 16000, fail: porttest.NewFailure}, &flux{fail: porttest.NewFailure}}
	}, func() hosted.Speaking { return &speaking{fail: porttest.NewFailure} })
}
