package telnyx

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Incoming describes a call that comes in.
type Incoming struct {
	Call       string // Telnyx's name of the call
	Session    string // Telnyx's name of the session that the call is a part of
	Connection string // Telnyx's name of the number's application
	From, To   string // numbers in the form of E.164, or what Telnyx says in their place
}

// Hangup says why a call is over, in Telnyx's words.
type Hangup struct {
	Cause  string // such as normal_clearing, user_busy, timeout
	Source string // caller, callee or unknown
}

// event is a webhook.
type event struct {
	id   string
	kind string // such as call.initiated
	call Incoming
	// inbound reports that somebody calls us.
	inbound bool
	hangup  Hangup // of call.hangup
	reason  string // of streaming.failed
	result  string // of the detection of machines
	state   string // client_state
}

// maxName limits the names in a webhook.
const maxName = 256

// decodeEvent decodes the body of a webhook. It ignores members that it does not know.
func decodeEvent(body []byte) (event, error) {
	var m struct {
		Data struct {
			ID      string `json:"id"`
			Type    string `json:"event_type"`
			Payload struct {
				Call       string `json:"call_control_id"`
				Session    string `json:"call_session_id"`
				Connection string `json:"connection_id"`
				From       string `json:"from"`
				To         string `json:"to"`
				Direction  string `json:"direction"`
				Cause      string `json:"hangup_cause"`
				Source     string `json:"hangup_source"`
				Reason     string `json:"failure_reason"`
				Result     string `json:"result"`
				State      string `json:"client_state"`
			} `json:"payload"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &m); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return event{}, fmt.Errorf("%s is a %s: expected a %s", wrong.Field, wrong.Value, wrong.Type)
		}
		return event{}, errors.New("expected JSON")
	}
	p := m.Data.Payload
	if m.Data.ID == "" || m.Data.Type == "" {
		return event{}, errors.New("expected data with an id and an event_type")
	}
	for _, name := range []string{m.Data.ID, m.Data.Type, p.Call, p.Session, p.Connection, p.From, p.To, p.Cause, p.Source, p.Reason, p.Result} {
		if len(name) > maxName {
			return event{}, fmt.Errorf("a name has %d bytes: expected at most %d", len(name), maxName)
		}
	}
	return event{
		id: m.Data.ID, kind: m.Data.Type, inbound: p.Direction == "incoming",
		call:   Incoming{Call: p.Call, Session: p.Session, Connection: p.Connection, From: p.From, To: p.To},
		hangup: Hangup{Cause: p.Cause, Source: p.Source}, reason: p.Reason, result: p.Result, state: p.State,
	}, nil
}
