package app

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/carrier/fake"
	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/server/api"
	"github.com/hocketvoice/hocket/server/hub"
)

const (
	someone = "+15550100200"
	beepFor = 400 * time.Millisecond
)

// outbound is a server that places calls, and the numbers that it reaches.
type outbound struct {
	t      *testing.T
	s      *Server
	at     string
	log    *lockedBuffer
	twilio *fake.Twilio
	telnyx *fake.Telnyx
}

// newOutbound returns a server that places calls by a carrier.
func newOutbound(t *testing.T, carrier, dial string, parties func(string) fake.Party) *outbound {
	t.Helper()
	o := &outbound{t: t, log: &lockedBuffer{}}
	reach := &http.Client{}
	var handler http.Handler
	var section string
	secrets := map[string]string{}
	switch carrier {
	case "twilio":
		o.twilio = fake.NewTwilio(fake.TwilioOptions{Secret: "tw-secret", URL: "https://voice.test/voice/twilio", Client: reach, Parties: parties})
		handler = o.twilio
		secrets["TEST_TWILIO_SECRET"], secrets["TEST_TWILIO_ACCOUNT"] = "tw-secret", fake.TwilioAccount
		section = `twilio: {url: "https://voice.test/voice/twilio", secret_env: TEST_TWILIO_SECRET, account_env: TEST_TWILIO_ACCOUNT, api_url: "API"}`
	default:
		o.telnyx = fake.NewTelnyx(fake.TelnyxOptions{Key: "tx-secret", Webhook: "https://voice.test/voice/telnyx/voice", Client: reach, Parties: parties})
		handler = o.telnyx
		secrets["TEST_TELNYX_KEY"], secrets["TEST_TELNYX_PUBLIC"] = "tx-secret", o.telnyx.PublicKey()
		section = `telnyx: {url: "https://voice.test/voice/telnyx", key_env: TEST_TELNYX_KEY, public_key_env: TEST_TELNYX_PUBLIC, connection: app, api_url: "API"}`
	}
	rest := httptest.NewServer(handler)
	t.Cleanup(rest.Close)
	t.Cleanup(func() { // after the server has ended
		var err error
		if o.twilio != nil {
			err = o.twilio.Close()
		} else {
			err = o.telnyx.Close()
		}
		if err != nil {
			t.Error(err)
		}
		if text := o.log.String(); strings.Contains(text, someone[1:]) || strings.Contains(text, "-secret") {
			t.Errorf("the log has a number or a secret:\n%s", text)
		}
	})
	section = strings.Replace(section, "API", rest.URL, 1)
	o.s, o.at = phone(t, o.log, section+`, dial: {from: "+15557654321", allow: ["+1555*"], ring: 5s`+dial+"}", secrets)
	*reach = *reaching(o.at)
	return o
}

// stream returns the stream of the call that was placed last.
func (o *outbound) stream() *fake.Call {
	o.t.Helper()
	var s *fake.Call
	waittest.Until(o.t, "the stream", nil, func() bool {
		if o.twilio != nil {
			return len(o.twilio.Calls()) > 0
		}
		return len(o.telnyx.Placed()) > 0
	})
	var err error
	if o.twilio != nil {
		s, err = o.twilio.Calls()[0].Stream(waittest.Context(o.t))
	} else {
		s, err = o.telnyx.Placed()[0].Stream(waittest.Context(o.t))
	}
	if err != nil {
		o.t.Fatal(err)
	}
	return s
}

// request makes a request of the API and returns the status and the call or the error.
func (o *outbound) request(method, path, body string) (int, api.PhoneCall, string) {
	o.t.Helper()
	r, err := http.NewRequestWithContext(waittest.Context(o.t), method, o.at+"/voice"+path, bytes.NewReader([]byte(body)))
	if err != nil {
		o.t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		o.t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		o.t.Fatal(err)
	}
	var c api.PhoneCall
	if err := json.Unmarshal(b, &c); err != nil {
		o.t.Fatalf("%s: %v", b, err)
	}
	if strings.Contains(string(b), someone) {
		o.t.Errorf("the answer has the number: %s", b)
	}
	return answer.StatusCode, c, string(b)
}

// call places a call.
func (o *outbound) call() api.PhoneCall {
	o.t.Helper()
	status, c, text := o.request(http.MethodPost, "/v1/calls", `{"to": "+1 555 0100-200", "agent": "hello"}`)
	if status != http.StatusAccepted || c.ID == "" || c.Status != "dialing" {
		o.t.Fatalf("status %d: %s", status, text)
	}
	return c
}

// until waits until something is so of a call.
func (o *outbound) until(what, id string, is func(api.PhoneCall) bool) (c api.PhoneCall) {
	o.t.Helper()
	waittest.Until(o.t, what, nil, func() bool {
		_, c, _ = o.request(http.MethodGet, "/v1/calls/"+id, "")
		return is(c)
	})
	return c
}

func ended(c api.PhoneCall) bool { return c.Status == "ended" }

// TestDialPerson calls a person by each carrier: the conversation begins behind their hello, and the
// call is over with it.
func TestDialPerson(t *testing.T) {
	for _, carrier := range []string{"twilio", "telnyx"} {
		t.Run(carrier, func(t *testing.T) {
			o := newOutbound(t, carrier, "", nil)
			id := o.call().ID
			s := o.stream()
			s.Say(hello())
			c := o.until("the conversation", id, func(c api.PhoneCall) bool { return c.Conversation != "" })
			if c.AnsweredBy != "human" || c.Status != "answered" {
				t.Errorf("the call is %+v", c)
			}
			waittest.Until(t, "the greeting", s.Over(), func() bool { return audio.Peak(s.Played()) > 0.05 })
			conversation, ok := o.s.hub.Find(c.Conversation)
			if !ok || conversation.Caller() != api.CallerOf(conversation.Owner(), someone) {
				t.Errorf("the conversation has not the number as its caller")
			}
			if err := conversation.Command(hub.Command{Type: "endConversation"}); err != nil {
				t.Fatal(err)
			}
			if c := o.until("the end", id, ended); c.Outcome != "completed" {
				t.Errorf("the call is %+v", c)
			}
			<-s.Over()
		})
	}
}

// hello is what a person says: noise of a moment, which is no tone.
func hello() []int16 {
	pcm := make([]int16, 2400)
	state := uint32(1)
	for i := range pcm {
		state = state*1664525 + 1013904223
		pcm[i] = int16(state>>16) / 8
	}
	return pcm
}

// TestDialMachine calls machines, by what the carrier says and by their beep: they are hung up on, or
// get the message.
func TestDialMachine(t *testing.T) {
	t.Run("hang up", func(t *testing.T) {
		o := newOutbound(t, "twilio", "", func(string) fake.Party {
			return fake.Party{Detected: "machine_start", DetectedAfter: 200 * time.Millisecond}
		})
		c := o.until("the end", o.call().ID, ended)
		if c.Outcome != "machine" || c.AnsweredBy != "machine" || c.Conversation != "" {
			t.Errorf("the call is %+v", c)
		}
	})
	t.Run("message", func(t *testing.T) {
		o := newOutbound(t, "telnyx", ", machine: message, message: Goodbye.", nil)
		id := o.call().ID
		s := o.stream()
		beep := make([]int16, audio.PosOf(beepFor, 8000))
		for i := range beep {
			beep[i] = int16(8000 * math.Sin(2*math.Pi*1000*float64(i)/8000))
		}
		s.Say(append(hello(), beep...))
		c := o.until("the end", id, ended)
		if c.Outcome != "message" || c.AnsweredBy != "recording" {
			t.Errorf("the call is %+v", c)
		}
		var spoken time.Duration
		for pcm := s.Played(); len(pcm) >= 160; pcm = pcm[160:] {
			if audio.Peak(pcm[:160]) > 0.02 {
				spoken += audio.FrameDuration
			}
		}
		if want := 60 * time.Millisecond * time.Duration(len("Goodbye.")); (spoken - want).Abs() > 60*time.Millisecond {
			t.Errorf("the machine has recorded %v, expected %v", spoken, want)
		}
	})
}

// TestDialFails checks that the reason is told why nobody was reached, and what is refused before
// anybody is called.
func TestDialFails(t *testing.T) {
	for _, carrier := range []string{"twilio", "telnyx"} {
		t.Run(carrier, func(t *testing.T) {
			how := "busy"
			o := newOutbound(t, carrier, ", per_number: 2, per_day: 3", func(string) fake.Party { return fake.Party{How: how} })
			if c := o.until("the end", o.call().ID, ended); c.Outcome != "busy" || c.Reason != "the line is busy" {
				t.Errorf("the call is %+v", c)
			}
			how = "unreachable"
			if c := o.until("the end", o.call().ID, ended); c.Outcome != "unreachable" {
				t.Errorf("the call is %+v", c)
			}
			for _, tc := range []struct {
				body, want string
				status     int
			}{
				{`{"to": "` + someone + `"}`, "the number was called as often as a day allows", http.StatusTooManyRequests},
				{`{"to": "+4930123456"}`, "not on the list", http.StatusForbidden},
				{`{"to": "911"}`, "emergency", http.StatusForbidden},
				{`{"to": "+15550100201", "agent": "nobody"}`, "no agent has the name", http.StatusForbidden},
				{`{"to": "hello"}`, "not a number", http.StatusForbidden},
				{`{}`, "field to is missing", http.StatusBadRequest},
			} {
				if status, _, text := o.request(http.MethodPost, "/v1/calls", tc.body); status != tc.status || !strings.Contains(text, tc.want) {
					t.Errorf("%s: %d %s, expected %d %s", tc.body, status, text, tc.status, tc.want)
				}
			}
			if status, _, _ := o.request(http.MethodGet, "/v1/calls/none", ""); status != http.StatusNotFound {
				t.Errorf("an unknown call: %d", status)
			}
		})
	}
}
