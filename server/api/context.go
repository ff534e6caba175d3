package api

import (
	"errors"
	"net/http"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/session"
)

func (s *Server) showContext(w http.ResponseWriter, r *http.Request, p who) error {
	c, err := s.find(r, p)
	if err != nil {
		return err
	}
	return answerContext(w, c)
}

// withContext returns create with the context of the request, which a session gets before it
// begins. The error says why the context is refused.
func (o NewConversation) withContext(create func(*hub.Conversation) (*session.Session, error)) (func(*hub.Conversation) (*session.Session, error), error) {
	if o.Context == nil {
		return create, nil
	}
	if _, err := (conv.Context{}).With(string(o.Context)); err != nil {
		return nil, &session.ContextError{Err: err}
	}
	return func(c *hub.Conversation) (*session.Session, error) {
		s, err := create(c)
		if err != nil {
			return nil, err
		}
		err = s.Post(conv.ContextSet{Data: string(o.Context)})
		return s, err
	}, nil
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
