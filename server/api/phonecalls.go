package api

import (
	"errors"
	"net/http"
)

// The reasons for which a [Dialer] places no call.
var (
	ErrDialRefused = errors.New("the call is refused")
	ErrDialLimit   = errors.New("the limit of calls is reached")
)

// Dialer places telephone calls. It is safe for concurrent use.
type Dialer interface {
	// Dial begins to place a call for an owner. The error wraps [ErrDialRefused] or
	// [ErrDialLimit], or is one of package hub.
	Dial(owner string, n NewPhoneCall) (PhoneCall, error)
	// Find returns a call of an owner.
	Find(owner, id string) (c PhoneCall, ok bool)
}

// NewPhoneCall describes a telephone call to be placed.
type NewPhoneCall struct {
	To    string `json:"to"`              // a number such as +15550100
	Agent string `json:"agent,omitempty"` // the first one if empty
}

// PhoneCall is a telephone call that was placed.
type PhoneCall struct {
	ID string `json:"id"`
	// To is the number, of which the most digits are hidden.
	To string `json:"to"`
	// Status is "dialing", "ringing", "answered" or "ended".
	Status string `json:"status"`
	// AnsweredBy is "human", "machine" or "recording" (a machine that records), when it is known.
	AnsweredBy string `json:"answered_by,omitempty"`
	// Conversation is the id of the conversation, when it has begun.
	Conversation string `json:"conversation,omitempty"`
	// Outcome is set at the end: "completed" (a conversation), "message" (left with a machine),
	// "machine", "hung_up", "busy", "no_answer", "rejected", "unreachable", "cancelled" or
	// "failed". Reason says more.
	Outcome string `json:"outcome,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

func (s *Server) dial(w http.ResponseWriter, r *http.Request, p who) error {
	var n NewPhoneCall
	if err := s.read(w, r, &n); err != nil {
		return err
	}
	if s.o.Dialer == nil {
		return fail(http.StatusNotFound, "no_dialer", "this server places no calls: the config has no server.dial")
	}
	if n.To == "" {
		return fail(http.StatusBadRequest, "bad_request", "field to is missing: expected a number such as +15550100")
	}
	c, err := s.o.Dialer.Dial(p.owner, n)
	switch {
	case errors.Is(err, ErrDialRefused):
		return fail(http.StatusForbidden, "call_refused", "%v", err)
	case errors.Is(err, ErrDialLimit):
		return fail(http.StatusTooManyRequests, "too_many_calls", "%v", err)
	case err != nil:
		return err
	}
	writeJSON(w, http.StatusAccepted, c)
	return nil
}

func (s *Server) showPhoneCall(w http.ResponseWriter, r *http.Request, p who) error {
	if s.o.Dialer != nil {
		if c, ok := s.o.Dialer.Find(p.owner, r.PathValue("id")); ok {
			writeJSON(w, http.StatusOK, c)
			return nil
		}
	}
	return fail(http.StatusNotFound, "not_found", "there is no call with this id")
}

// phoneRoutes returns the routes of telephone calls.
func (s *Server) phoneRoutes() []route {
	return []route{
		{"POST /v1/calls", s.dial, false, kind{
			summary: "Place a telephone call.", takes: typeOf[NewPhoneCall](), status: http.StatusAccepted, gives: typeOf[PhoneCall](),
			fails: []int{http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusTooManyRequests, http.StatusServiceUnavailable},
		}},
		{"GET /v1/calls/{id}", s.showPhoneCall, false, kind{
			summary: "A telephone call that was placed.", status: http.StatusOK, gives: typeOf[PhoneCall](), fails: []int{http.StatusNotFound},
		}},
	}
}
