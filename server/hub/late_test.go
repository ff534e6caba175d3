package hub_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/leg/text"
	"github.com/hocketvoice/hocket/server/hub"
)

// While sound is late no call begins, conversations by text do, and current callers are told.
func TestLateSoundRefusesCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pace := hub.NewPace(0, nil)
		h := mustHub(t, hub.Options{Pace: pace})
		defer drained(h)
		voice := func() hub.Call {
			c := call(text.New(text.Options{}), "")
			c.Transport = "webrtc"
			return c
		}
		running := mustStart(t, h, voice())
		s, err := running.Stream(hub.StreamOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		told := func(code string) {
			t.Helper()
			if err := running.Command(hub.Command{Type: "send_text", Text: "hello"}); err != nil { // a step
				t.Fatal(err)
			}
			for {
				m, err := s.Next(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if m.Type == hub.TypeNotification && strings.Contains(string(m.Payload), code) {
					return
				}
			}
		}
		for range 100 {
			pace.Sent(time.Second)
		}
		time.Sleep(time.Second)
		if _, err := h.Start(voice()); !errors.Is(err, hub.ErrLate) || !h.Late() {
			t.Errorf("another call: %v", err)
		}
		mustStart(t, h, call(text.New(text.Options{}), ""))
		told("sound.late")
		time.Sleep(11 * time.Second)
		mustStart(t, h, voice())
		told("sound.steady")
	})
}
