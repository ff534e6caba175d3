package carrier_test

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/carrier"
	"github.com/hocketvoice/hocket/internal/carrier/fake"
	"github.com/hocketvoice/hocket/internal/nettest"
	"github.com/hocketvoice/hocket/internal/wire/mediastream"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// accepting returns a handler that passes the legs of streams on.
func accepting(t *testing.T, o carrier.Options, legs chan<- *carrier.Leg, errs chan<- error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		l, err := carrier.Accept(context.WithoutCancel(r.Context()), ws, o)
		if err != nil {
			errs <- err
			return
		}
		legs <- l
		select { // the handler returns when the leg is closed by the test
		case <-r.Context().Done():
		case <-t.Context().Done():
		}
	})
}

// options returns those of a leg that a call of the fake suits.
func options(o fake.Options) carrier.Options {
	if o.Dialect != "telnyx" {
		return carrier.Options{Dialect: mediastream.Twilio}
	}
	return carrier.Options{Dialect: mediastream.Telnyx, Send: map[string]mediastream.Format{
		"PCMU": {Encoding: mediastream.MuLaw, Rate: 8000}, "PCMA": {Encoding: mediastream.ALaw, Rate: 8000},
		"G722": {Encoding: mediastream.G722, Rate: 16000}, "L16": {Encoding: mediastream.LinearBE, Rate: 16000},
	}[o.Reply]}
}

// call returns a call through a network in memory, in virtual time.
func call(t *testing.T, o fake.Options) (*carrier.Leg, *fake.Call) {
	t.Helper()
	legs := make(chan *carrier.Leg, 1)
	net := nettest.Serve(t, accepting(t, options(o), legs, make(chan error, 1)))
	o.URL, o.Client, o.Stream, o.Call = "ws://carrier/", &http.Client{Transport: net.Transport()}, "MZ1", "CA1"
	c, err := fake.Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	l := <-legs
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if err := c.Close(); err != nil {
			t.Errorf("the carrier refuses: %v", err)
		}
	})
	return l, c
}

// TestLeg holds the leg to the rules of its port, with a carrier on a real connection.
func TestLeg(t *testing.T) {
	for _, o := range []fake.Options{{Dialect: "twilio"}, {Dialect: "telnyx", Encoding: "PCMA", Shuffle: true}} {
		t.Run(o.Dialect, func(t *testing.T) {
			porttest.TestLeg(t, func(t *testing.T) porttest.Line {
				legs := make(chan *carrier.Leg, 1)
				server := httptest.NewServer(accepting(t, options(o), legs, make(chan error, 1)))
				o.URL, o.Stream, o.Call = "ws"+strings.TrimPrefix(server.URL, "http"), "MZ1", "CA1"
				c, err := fake.Dial(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				l := carrier.NewLine(<-legs, carrier.LineOptions{StopEnds: true})
				t.Cleanup(func() {
					_ = l.Close()
					if err := c.Close(); err != nil {
						t.Errorf("the carrier refuses: %v", err)
					}
					server.CloseClientConnections()
					server.Close()
				})
				return porttest.Line{
					Leg: l, Say: c.Say, HangUp: c.HangUp,
					Heard: func() []int16 {
						for l.Played() < audio.Pos(l.Rate())*2/5 {
							if _, err := l.Read(t.Context()); err != nil {
								t.Fatal(err)
							}
						}
						return speech(c.Played())
					},
				}
			})
		})
	}
}

// speech returns what is between the first and the last sample that is not silent.
func speech(pcm []int16) []int16 {
	for len(pcm) > 0 && pcm[0] == 0 {
		pcm = pcm[1:]
	}
	for len(pcm) > 0 && pcm[len(pcm)-1] == 0 {
		pcm = pcm[:len(pcm)-1]
	}
	return pcm
}

// loud is a frame of speech.
func loud() audio.Frame {
	pcm := make([]int16, 160)
	for i := range pcm {
		pcm[i] = 8000
	}
	return audio.Frame{Rate: 8000, PCM: pcm}
}

// write writes n frames at the pace of the clock.
func write(t *testing.T, l *carrier.Leg, f audio.Frame, n int) {
	t.Helper()
	clock := time.NewTicker(audio.FrameDuration)
	defer clock.Stop()
	for range n {
		if err := l.Write(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		<-clock.C
	}
}

func heard(c *fake.Call) (n audio.Pos) {
	for _, s := range c.Played() {
		if s != 0 {
			n++
		}
	}
	return n
}

// TestFormats checks that tones arrive in both directions with their pitch and level, in each
// format, and where the carrier streams the person's sound in another than it takes the agent's.
func TestFormats(t *testing.T) {
	for _, tc := range []struct{ in, out string }{
		{"PCMU", "PCMU"}, {"PCMA", "PCMU"}, {"G722", "PCMU"}, {"PCMU", "G722"}, {"G722", "G722"}, {"L16", "L16"}, {"PCMU", "L16"}, {"L16", "PCMA"},
	} {
		t.Run(tc.in+" to "+tc.out, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, c := call(t, fake.Options{Dialect: "telnyx", Encoding: tc.in, Reply: tc.out})
				rates := map[string]int{"PCMU": 8000, "PCMA": 8000, "G722": 16000, "L16": 16000}
				if l.Rate() != rates[tc.out] {
					t.Fatalf("the rate is %d", l.Rate())
				}
				c.Say(tone(rates[tc.in], 500, 50))
				said := tone(l.Rate(), 700, 50)
				var heard []int16
				for i := range 80 {
					f := audio.Frame{Rate: l.Rate(), PCM: make([]int16, l.Rate()/50)}
					if i < 50 {
						f.PCM = said[i*len(f.PCM):][:len(f.PCM)]
					}
					if err := l.Write(t.Context(), f); err != nil {
						t.Fatal(err)
					}
					f, err := l.Read(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					heard = append(heard, f.PCM...)
				}
				isTone(t, "the person", heard, l.Rate(), 500)
				isTone(t, "the agent", c.Played(), l.Rate(), 700)
			})
		})
	}
}

// tone returns frames of a tone.
func tone(rate int, pitch float64, frames int) []int16 {
	pcm := make([]int16, rate/50*frames)
	for i := range pcm {
		pcm[i] = int16(8000 * math.Sin(2*math.Pi*pitch*float64(i)/float64(rate)))
	}
	return pcm
}

// isTone checks that sound contains a second of a tone.
func isTone(t *testing.T, who string, pcm []int16, rate, pitch int) {
	t.Helper()
	first := slices.IndexFunc(pcm, func(v int16) bool { return v > 4000 })
	if first < 0 || len(pcm) < first+rate*9/10 {
		t.Errorf("%s is silent", who)
		return
	}
	pcm = pcm[first:][:rate*9/10]
	crossings := 0
	for i := 1; i < len(pcm); i++ {
		if pcm[i-1] < 0 && pcm[i] >= 0 {
			crossings++
		}
	}
	if want := pitch * 9 / 10; crossings < want-5 || crossings > want+5 {
		t.Errorf("%s: %d waves in 0.9 s, expected %d", who, crossings, want)
	}
	if level, want := audio.RMS(pcm), 8000/32768./math.Sqrt2; math.Abs(level-want) > 0.1*want {
		t.Errorf("%s: the level is %.3f, expected %.3f", who, level, want)
	}
}

// TestHeardIsPlayed interrupts an agent at every moment of a second: what counts as heard is
// never more than what the carrier has played, and at most 200 ms less.
func TestHeardIsPlayed(t *testing.T) {
	for frames := 1; frames <= 50; frames++ {
		synctest.Test(t, func(t *testing.T) {
			l, c := call(t, fake.Options{Dialect: []string{"twilio", "telnyx"}[frames%2]})
			write(t, l, loud(), frames)
			counted, played := l.Played(), heard(c)
			if err := l.Clear(t.Context()); err != nil {
				t.Fatal(err)
			}
			if counted > played || played-counted > 8000/5 {
				t.Errorf("after %d frames %d samples count as heard, %d were played", frames, counted, played)
			}
			// The marks that the clear returns report nothing, not even in the next utterance.
			base := l.Played()
			if base != audio.Pos(160*frames) {
				t.Errorf("after Clear Played is %d, expected %d", base, 160*frames)
			}
			write(t, l, loud(), 2)
			if got := l.Played(); got != base {
				t.Errorf("before the first mark of the next utterance Played is %d, expected %d", got, base)
			}
		})
	}
}

// TestSilenceIsNotSent checks that the carrier's buffer drains between utterances, even where
// the agent's clock is faster than the carrier's, and that silence counts as played.
func TestSilenceIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, c := call(t, fake.Options{Dialect: "twilio"})
		quiet := audio.Frame{Rate: 8000, PCM: make([]int16, 160)}
		for range 3 {
			for range 60 { // 1.2 s of speech in 1.08 s
				if err := l.Write(t.Context(), loud()); err != nil {
					t.Fatal(err)
				}
				time.Sleep(audio.FrameDuration * 9 / 10)
			}
			if c.Queued() < 100*time.Millisecond {
				t.Errorf("%v wait to be played: the carrier's clock is not slower", c.Queued())
			}
			write(t, l, quiet, 50)
			if got := c.Queued(); got != 0 {
				t.Errorf("%v wait to be played after a second of silence", got)
			}
			if got, want := l.Played(), audio.Pos(0); got <= want {
				t.Errorf("Played is %d", got)
			}
		}
		if got, want := l.Played(), audio.Pos(3*110*160); got != want {
			t.Errorf("Played is %d at the end, expected %d, all that was written", got, want)
		}
	})
}

// TestKeys checks that keys arrive in order, and that the end of the call ends ReadKey.
func TestKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, c := call(t, fake.Options{Dialect: "telnyx"})
		c.Press("1*#9")
		var got []byte
		for range 4 {
			k, err := l.ReadKey(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, k)
		}
		if string(got) != "1*#9" {
			t.Errorf("read the keys %q", got)
		}
		c.HangUp()
		if _, err := l.ReadKey(t.Context()); !errors.Is(err, io.EOF) {
			t.Errorf("ReadKey after the end: %v", err)
		}
	})
}

// TestCarrierVanishes checks that a carrier that sends nothing any more, without closing the
// connection, ends the call after half a minute.
func TestCarrierVanishes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, legs := silentCarrier(t)
		l := <-legs
		defer l.Close()
		defer client.CloseNow() //nolint:errcheck // it is closed by the leg
		begun := time.Now()
		if _, err := l.Read(t.Context()); !errors.Is(err, io.EOF) {
			t.Errorf("Read returned %v, expected io.EOF", err)
		}
		if took := time.Since(begun); took != 30*time.Second {
			t.Errorf("the call ended after %v", took)
		}
	})
}

// silentCarrier begins a stream and sends nothing more.
func silentCarrier(t *testing.T) (*websocket.Conn, <-chan *carrier.Leg) {
	t.Helper()
	legs := make(chan *carrier.Leg, 1)
	client := open(t, mediastream.Twilio, legs, nil)
	say(t, client, `{"event":"start","streamSid":"MZ1","start":{"streamSid":"MZ1","callSid":"CA1"}}`)
	return client, legs
}

func open(t *testing.T, d *mediastream.Dialect, legs chan<- *carrier.Leg, errs chan<- error) *websocket.Conn {
	t.Helper()
	net := nettest.Serve(t, accepting(t, carrier.Options{Dialect: d}, legs, errs))
	client, _, err := websocket.Dial(t.Context(), "ws://carrier/", &websocket.DialOptions{HTTPClient: &http.Client{Transport: net.Transport()}}) //nolint:bodyclose // the connection is the body
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func say(t *testing.T, client *websocket.Conn, text string) {
	t.Helper()
	if err := client.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// TestStrangersAtTheDoor checks that what does not begin as a stream does is refused, with the
// reason, and that somebody who says nothing is sent away after ten seconds.
func TestStrangersAtTheDoor(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"no JSON":               {"GET / HTTP/1.1", "expected a JSON object"},
		"sound before a stream": {`{"event":"media","media":{"payload":"/w=="}}`, "expected the frame start"},
		"no name":               {`{"event":"start","start":{}}`, "expected the name of the stream"},
		"a format":              {`{"event":"start","streamSid":"MZ1","start":{"mediaFormat":{"encoding":"opus"}}}`, `the sound is "opus"`},
		"a rate":                {`{"event":"start","streamSid":"MZ1","start":{"mediaFormat":{"encoding":"audio/x-mulaw","sampleRate":44100}}}`, "mulaw/44100"},
		"a start that is none":  {`{"event":"start","streamSid":"MZ1"}`, "start: expected an object"},
		"nothing":               {"", "has not begun"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				errs := make(chan error, 1)
				client := open(t, mediastream.Twilio, nil, errs)
				defer client.CloseNow() //nolint:errcheck // it is closed by the server
				begun := time.Now()
				if tc.text != "" {
					say(t, client, tc.text)
				}
				go func() { _, _, _ = client.Read(t.Context()) }() // answers the server's close
				if err := <-errs; err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("got %v, expected %q", err, tc.want)
				}
				if took := time.Since(begun); tc.text == "" && took > 10*time.Second {
					t.Errorf("the stranger was sent away after %v", took)
				}
			})
		})
	}
}

// TestRefusedStream checks that a stream that nobody expects is refused.
func TestRefusedStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := errors.New("not ours")
		errs := make(chan error, 1)
		net := nettest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ws, err := websocket.Accept(w, r, nil)
			if err != nil {
				t.Error(err)
				return
			}
			_, err = carrier.Accept(r.Context(), ws, carrier.Options{Dialect: mediastream.Telnyx, Admit: func(s mediastream.Start) error {
				if s.Call != "CA1" || s.Parameters["token"] != "t" || s.From != "+15550100" {
					t.Errorf("asked to admit %+v", s)
				}
				return refused
			}})
			errs <- err
		}))
		c, err := fake.Dial(t.Context(), fake.Options{
			Dialect: "telnyx", URL: "ws://carrier/", Client: &http.Client{Transport: net.Transport()}, Stream: "s", Call: "CA1",
			From: "+15550100", Parameters: map[string]string{"token": "t"},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := <-errs; !errors.Is(err, refused) {
			t.Errorf("got %v", err)
		}
		_ = c.Close()
	})
}

// TestBrokenFrame checks that a frame that is not what the carrier documents ends the stream.
func TestBrokenFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, legs := silentCarrier(t)
		l := <-legs
		defer l.Close()
		go func() { _, _, _ = client.Read(t.Context()) }()
		say(t, client, `{"event":"media","streamSid":"MZ1","media":{"payload":"%%%"}}`)
		if _, err := l.Read(t.Context()); !errors.Is(err, io.EOF) || !strings.Contains(err.Error(), "expected base64") {
			t.Errorf("Read returned %v", err)
		}
		if err := l.Write(t.Context(), loud()); err != nil {
			t.Errorf("Write after the end: %v", err)
		}
		if err := l.Clear(t.Context()); err != nil {
			t.Errorf("Clear after the end: %v", err)
		}
		var _ port.Leg = l
	})
}
