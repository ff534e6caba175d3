package api

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/hocketvoice/hocket/server/hub"
)

// operator places the calls of tests.
type operator struct{}

func (operator) Dial(_ string, n NewPhoneCall) (PhoneCall, error) {
	switch n.To {
	case "112":
		return PhoneCall{}, fmt.Errorf("%w: a number of emergency services", ErrDialRefused)
	case "+15550101":
		return PhoneCall{}, fmt.Errorf("%w: as many as a day allows", ErrDialLimit)
	}
	return PhoneCall{ID: "one", To: "+15•••00", Status: "dialing"}, nil
}

func (operator) Find(_, id string) (PhoneCall, bool) {
	return PhoneCall{ID: id, To: "+15•••00", Status: "ended", AnsweredBy: "human", Conversation: "conv_1", Outcome: "completed"}, id == "one"
}

// TestPhoneCallsRefused checks the answers where no call is placed.
func TestPhoneCallsRefused(t *testing.T) {
	with := newHouse(t, hub.Options{}, func(o *Options) { o.Dialer = operator{} })
	without := newHouse(t, hub.Options{}, nil)
	for _, tc := range []struct {
		h      *house
		path   string
		body   string
		status int
	}{
		{with, "/v1/calls", `{"to":"112"}`, http.StatusForbidden},
		{with, "/v1/calls", `{"to":"+15550101"}`, http.StatusTooManyRequests},
		{with, "/v1/calls", `{}`, http.StatusBadRequest},
		{with, "/v1/calls", `{"to":"+15550100","ring":1}`, http.StatusBadRequest},
		{with, "/v1/calls", `{"to":"+15550100"}`, http.StatusAccepted},
		{without, "/v1/calls", `{"to":"+15550100"}`, http.StatusNotFound},
	} {
		if status, _ := tc.h.do(http.MethodPost, tc.path, tc.body); status != tc.status {
			t.Errorf("%s: %d, expected %d", tc.body, status, tc.status)
		}
	}
}
