package realtime

import (
	"net/http"
	"slices"

	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// This file lists the models that a client can name, in OpenAI's format.

// modelObject is one model.
type modelObject struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"` // when the server was created, in seconds since 1970
	OwnedBy string `json:"owned_by"`
}

func (s *Server) model(id string) modelObject {
	return modelObject{ID: id, Object: "model", Created: s.since.Unix(), OwnedBy: "hocket"}
}

// models returns the names of [Options].Models.
func (s *Server) models() []string {
	if s.o.Models == nil {
		return nil
	}
	return s.o.Models()
}

// serveModels handles GET /v1/models.
func (s *Server) serveModels(w http.ResponseWriter, r *http.Request) {
	if _, ok := s.allow(w, r); !ok {
		return
	}
	data := []modelObject{}
	for _, id := range s.models() {
		data = append(data, s.model(id))
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": data})
}

// serveModel handles GET /v1/models/{id}.
func (s *Server) serveModel(w http.ResponseWriter, r *http.Request) {
	if _, ok := s.allow(w, r); !ok {
		return
	}
	id := r.PathValue("id")
	if slices.Contains(s.models(), id) {
		writeJSON(w, http.StatusOK, s.model(id))
		return
	}
	httpError(w, http.StatusNotFound, wire.Invalid(wire.CodeModelNotFound, "model", "The model '%.100s' does not exist.", id))
}
