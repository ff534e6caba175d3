package api

import (
	"bytes"
	"errors"
	"net/http"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/turn"
)

// AlternativeList is the response of GET /v1/stored/{id}/alternatives.
type AlternativeList struct {
	Alternatives []journal.Alternative `json:"alternatives"`
}

// alternatives answers with the steps of a stored conversation at which another barge-in
// policy would have decided otherwise.
func (s *Server) alternatives(w http.ResponseWriter, r *http.Request, p who) error {
	d, err := s.stored(r, p)
	if err != nil {
		return err
	}
	policy := turn.BargeInPolicy(r.URL.Query().Get("barge_in"))
	if err := (turn.BargeInOptions{Policy: policy}).Validate(); policy == "" || err != nil {
		return fail(http.StatusBadRequest, "bad_request", "barge_in is %q: expected hybrid, energy, words or none", policy)
	}
	var trace bytes.Buffer
	if err := s.o.Stored.Trace(r.Context(), d.ID, &trace); errors.Is(err, ErrNoTrace) {
		return fail(http.StatusNotFound, "no_trace", "%v", ErrNoTrace)
	} else if err != nil {
		return storeFailed(err)
	}
	list, err := journal.Alternatives(&trace, func(o *conv.Options) {
		for _, profile := range []*turn.BargeInOptions{&o.BargeIn.Greeting, &o.BargeIn.Reply, &o.BargeIn.ReadBack} {
			*profile = turn.BargeInOptions{Policy: policy}
		}
	})
	if err != nil {
		s.o.Log.Warn("a stored trace cannot be replayed", "conversation", d.ID)
		return fail(http.StatusConflict, "not_replayed", "the trace cannot be replayed by this program")
	}
	writeJSON(w, http.StatusOK, AlternativeList{list})
	return nil
}
