package porttest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/internal/fakes"
	"github.com/hocketvoice/hocket/internal/hosted"
	"github.com/hocketvoice/hocket/internal/nettest"
	"github.com/hocketvoice/hocket/internal/socket"
	"github.com/hocketvoice/hocket/port"
)

// HostedEnv returns the environment in which every variable is the key of services under test.
func HostedEnv(string) string { return HostedKey }

// TestHostedOptions checks that options are refused with an error that contains their key, by
// each of the functions that open something with them, and accepted if the key is empty. Where
// the environment, whose place in them env returns, is nil, it is that of [HostedEnv].
func TestHostedOptions[O any](t *testing.T, cases map[string]O, env func(*O) *func(string) string, open ...func(O) (io.Closer, error)) {
	for want, o := range cases {
		if e := env(&o); *e == nil {
			*e = HostedEnv
		}
		for i, open := range open {
			c, err := open(o)
			switch {
			case err == nil && want != "":
				t.Errorf("%+v is accepted by function %d, want %q", o, i, want)
			case err != nil && (want == "" || !strings.Contains(err.Error(), want)):
				t.Errorf("%+v: %v, want %q", o, err, want)
			}
			if err == nil {
				_ = c.Close() // nothing was done with it
			}
		}
	}
}

// NewFailure returns a failure, as the protocols of hosted adapters want it.
func NewFailure(class, text string) *port.Failure { return &port.Failure{Code: class, Message: text} }

// WantFailures checks that messages are failures of classes.
func WantFailures(t *testing.T, classes map[string]string, receive func(socket.Message) error) {
	t.Helper()
	for message, class := range classes {
		err := receive(socket.Text(message))
		if f, ok := errors.AsType[*port.Failure](err); !ok || f.Code != class {
			t.Errorf("%s: %v, want %s", message, err, class)
		}
	}
}

// WantHeard checks what a message of a service says, in short: its fixed words, each of the others
// after a +, ! for an endpoint, . for the answer to a Finalize, the language, and after a space the
// length of the sound that was processed and the end-of-turn score. Messages that say several
// things have a | in between.
func WantHeard(t *testing.T, h hosted.Hearing, message, want string) {
	t.Helper()
	all, err := h.Receive(socket.Text(message))
	parts := make([]string, len(all))
	for i, x := range all {
		s := ""
		for _, f := range x.Fixed {
			s += f.Text
		}
		for _, v := range x.Volatile {
			s += "+" + v.Text
		}
		s += map[bool]string{true: "!"}[x.Endpoint] + map[bool]string{true: "."}[x.Finalized] + x.Language
		if x.Through != 0 || x.EndOfTurn != 0 {
			s += fmt.Sprint(" ", x.Through, " ", x.EndOfTurn)
		}
		parts[i] = s
	}
	if got := strings.Join(parts, "|"); got != want || err != nil {
		t.Errorf("%s: %q, want %q, error %v", message, got, want, err)
	}
}

// FuzzHosted checks that no message of a service panics, that errors are failures, and that no
// time is negative. Each message is received twice.
func FuzzHosted(f *testing.F, seeds []string, hear func() []hosted.Hearing, speak func() hosted.Speaking) {
	for _, seed := range seeds {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, binary bool) {
		m := socket.Message{Binary: binary, Data: data}
		for _, h := range hear() {
			for range 2 {
				all, err := h.Receive(m)
				wantFailureOrNone(t, err)
				for _, x := range all {
					for _, token := range append(x.Fixed, x.Volatile...) {
						if token.Start < 0 || token.End < 0 {
							t.Errorf("%+v", token)
						}
					}
					if x.Through < 0 {
						t.Errorf("through %v", x.Through)
					}
				}
			}
		}
		s := speak()
		s.Speak("1", port.Utterance{Text: "a"})
		for range 2 {
			all, err := s.Receive(m)
			wantFailureOrNone(t, err)
			for _, x := range all {
				for _, w := range x.Words {
					if w.Start < 0 {
						t.Errorf("%+v", w)
					}
				}
			}
		}
	})
}

func wantFailureOrNone(t *testing.T, err error) {
	t.Helper()
	if _, ok := errors.AsType[*port.Failure](err); err != nil && !ok {
		t.Errorf("error %v, want a failure", err)
	}
}

// Rudeness is what a client does that the service does not take.
type Rudeness struct {
	Messages []string
	Wait     time.Duration // before the last message
	Want     string        // what the fake says of it, in a message and in its record
}

// TestFakeRefuses checks that a fake refuses what clients must not do, once.
func TestFakeRefuses(t *testing.T, url string, header http.Header, open func() fakes.Service, cases map[string]Rudeness) {
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := open()
				d := socket.New(socket.Options{Transport: nettest.Serve(t, f).Transport()})
				defer d.Close()
				conn, err := d.Dial(t.Context(), url, header)
				if err != nil {
					t.Fatal(err)
				}
				told := make(chan string, 100)
				go func() {
					defer close(told)
					for {
						m, err := conn.Read(t.Context())
						if err != nil {
							told <- err.Error()
							return
						}
						told <- string(m.Data)
					}
				}()
				for i, m := range c.Messages {
					if i == len(c.Messages)-1 {
						time.Sleep(c.Wait) //nolint:forbidigo // in a bubble
					}
					_ = conn.Write(t.Context(), socket.Text(m)) // the fake may have closed the connection
				}
				if len(c.Messages) == 0 {
					time.Sleep(c.Wait) //nolint:forbidigo // in a bubble
				}
				synctest.Wait()
				_ = conn.CloseNow()
				found := false
				for m := range told {
					found = found || strings.Contains(m, c.Want)
				}
				if broken := f.Behind().Broken(); !found || len(broken) != 1 || !strings.Contains(broken[0], c.Want) {
					t.Errorf("broken rules %q, told %v, want %q once", broken, found, c.Want)
				}
			})
		})
	}
}
