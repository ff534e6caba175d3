package cli

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/server/api"
)

// TestDial checks what `hocket dial` prints of a call, and its exit status.
func TestDial(t *testing.T) {
	ended := func(outcome, reason string) api.PhoneCall {
		return api.PhoneCall{ID: "one", Status: "ended", Outcome: outcome, Reason: reason}
	}
	for _, tc := range []struct {
		calls  []api.PhoneCall // the answers of the server, one after the other
		out    string
		status int
	}{
		{
			[]api.PhoneCall{{ID: "one", Status: "dialing"}, {ID: "one", Status: "answered", AnsweredBy: "human", Conversation: "conv_1"}, ended("completed", "")},
			"dialing\nanswered, conversation conv_1\nover: the conversation has ended\n", statusOK,
		},
		{[]api.PhoneCall{{ID: "one", Status: "ringing"}, ended("busy", "the line is busy")}, "ringing\nover: the line is busy\n", statusFinding},
		{[]api.PhoneCall{{ID: "one", Status: "answered", AnsweredBy: "recording"}, ended("message", "")}, "answered by a machine\nover: a message was left\n", statusOK},
		{[]api.PhoneCall{ended("machine", "")}, "over: a machine has answered\n", statusFinding},
	} {
		n := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var asked api.NewPhoneCall
			wants := "GET /v1/calls/one"
			if n == 0 {
				wants = "POST /v1/calls"
				if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked != (api.NewPhoneCall{To: "+15550100", Agent: "hello"}) {
					t.Errorf("asked for %+v, error %v", asked, err)
				}
			}
			if got := r.Method + " " + r.URL.Path; got != wants || r.Header.Get("Authorization") != "Bearer sesame" {
				t.Errorf("the request is %s, expected %s", got, wants)
			}
			_ = json.NewEncoder(w).Encode(tc.calls[n])
			n++
		}))
		t.Setenv("HOCKET_API_KEY", "sesame")
		var out, err bytes.Buffer
		status := Run([]string{"dial", "+15550100", "--agent", "hello", "--server", server.URL + "/"}, strings.NewReader(""), &out, &err)
		if out.String() != tc.out || status != tc.status {
			t.Errorf("status %d, output %q, error %q, expected %d, %q", status, out.String(), err.String(), tc.status, tc.out)
		}
		server.Close()
	}
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"error":{"code":"call_refused","message":"the call is refused: not on the list"}}`))
	}))
	defer refusing.Close()
	for server, want := range map[string]string{refusing.URL: "no call: the call is refused: not on the list", "http://127.0.0.1:1": "the server is not reached", ":": "--server is"} {
		var out, err bytes.Buffer
		if status := Run([]string{"dial", "+15550100", "--server", server}, strings.NewReader(""), &out, &err); status == statusOK || out.Len() > 0 || !strings.Contains(err.String(), want) {
			t.Errorf("%s: status %d, output %q, error %q, expected %q", server, status, out.String(), err.String(), want)
		}
	}
}
