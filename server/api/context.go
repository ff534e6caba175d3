package api

import (
	"errors"
	"net/http"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/hub"
)

func (s *Server) showContext(w http.ResponseWriter, r *http.Request, p who) error {
	c, err := s.find(r, p)
	if err != nil {
		return err
	}
	return answerContext(w, c)
}

// setContext answers after the changes are saved.
func (s *Server) setContext(w http.ResponseWriter, r *http.Request, p who) error {
	c, err := s.find(r, p)
	if err != nil {
		return err
	}
	changes, err := s.body(w, r)
	if err != nil {
		return err
	}
	if err := c.SetContext(r.Context(), changes); err != nil {
		if errors.Is(err, port.ErrFenced) {
			return errAway
		}
		return err
	}
	return answerContext(w, c)
}

func answerContext(w http.ResponseWriter, c *hub.Conversation) error {
	view, err := c.Context()
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, view)
	return nil
}
