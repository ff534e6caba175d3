package telnyx

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzEvent checks that what is taken for a webhook has an id and a type, and short names.
func FuzzEvent(f *testing.F) {
	for _, text := range []string{
		`{"data":{"record_type":"event","event_type":"call.initiated","id":"1","payload":{"call_control_id":"v3:1","direction":"incoming","from":"+1","to":"+2","client_state":null}},"meta":{"attempt":1}}`,
		`{"data":{"event_type":"call.hangup","id":"2","payload":{"hangup_cause":"normal_clearing","hangup_source":"caller"}}}`,
		`{"data":{"event_type":"streaming.failed","id":"3","payload":{"failure_reason":"connection_failed"}}}`,
		`{"data":{"id":1}}`, `{"data":[]}`, `{"DATA":{"ID":"x","Event_Type":"y"}}`, `{`, ``, `null`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		e, err := decodeEvent(body)
		if err != nil {
			if len(err.Error()) > 1000+len(body) || strings.Contains(err.Error(), "\n") && !strings.Contains(string(body), "\n") {
				t.Errorf("the error is %q", err)
			}
			return
		}
		if e.id == "" || e.kind == "" || max(len(e.id), len(e.kind), len(e.call.Call), len(e.call.From), len(e.reason)) > maxName {
			t.Errorf("%q is %+v", body, e)
		}
		if !json.Valid(body) {
			t.Errorf("%q is no JSON", body)
		}
	})
}

// FuzzCode checks that the code of an answer is a short number.
func FuzzCode(f *testing.F) {
	for _, text := range []string{`{"errors":[{"code":"90018","title":"Call has already ended"}]}`, `{"errors":[{"code":90018}]}`, `{"errors":[]}`, `{"errors":{}}`, `<html>`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		code := codeOf(answer)
		if len(code) > 10 || strings.Trim(code, "0123456789") != "" || !utf8.ValidString(code) {
			t.Errorf("%q has the code %q", answer, code)
		}
	})
}
