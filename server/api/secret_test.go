package api

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/server/hub"
)

const safeAgent = `
slots:
  pin: {type: digits, length: 9, secret: true, prompt: "What is your PIN?"}
actions:
  open: {inputs: [pin], outputs: [found], mock: {found: gold}}
flows:
  safe:
    description: open the safe
    trigger: {intents: ["open the safe"]}
    steps:
      - {step: a, type: collect, slot: pin}
      - {step: b, type: action, call: open}
      - {step: c, type: say, message: "There is {found} in it."}
`

// TestSecretIsNotServed checks that a typed secret, wrong at first and then
// correct, is in no message, trace, response or log, and that the trace replays.
func TestSecretIsNotServed(t *testing.T) {
	h := newHouse(t, hub.Options{}, func(o *Options) {
		o.Keys = mustKeys(t, "office "+keyOne+"\n")
		o.Call = func(string, string) (hub.Call, error) { return textCallOf(t, safeAgent, conv.PrivacyKeep), nil }
	})
	h.key = keyOne
	made := h.begin("flights")
	path := "/v1/conversations/" + made.ID
	events := h.listen(path + "/events?steps=1&from=1")
	h.say(made.ID, "open the safe")
	h.say(made.ID, "47 1")
	h.say(made.ID, "it is 47 11 08 15 3")
	var all bytes.Buffer
	for !strings.Contains(all.String(), `There is gold in it."`) {
		m, err := events.next()
		if err != nil {
			t.Fatal(err)
		}
		all.Write(m.Payload)
	}
	if !strings.Contains(all.String(), "•••") {
		t.Error("nothing was hidden")
	}
	_, whole := h.do("GET", path+"/trace", "")
	if err := (&journal.Player{}).Play(bytes.NewReader(whole)); err != nil {
		t.Errorf("the trace does not replay: %v", err)
	}
	_, details := h.do("GET", path, "")
	h.key = made.AccessToken
	status, client := h.do("GET", path+"/trace", "")
	if status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	_, whole, _ = bytes.Cut(whole, []byte("\n")) // the first line has the agent
	for what, text := range map[string]string{
		"the stream": all.String(), "the trace": string(whole), "a client's trace": string(client), "the details": string(details), "the log": h.log.String(),
	} {
		for _, form := range []string{"471108153", "47 11 08", "47 1"} { // no time of day has these
			if i := strings.Index(text, form); i >= 0 {
				t.Errorf("%s has %q: %s", what, form, text[max(0, i-200):min(len(text), i+100)])
			}
		}
	}
}
