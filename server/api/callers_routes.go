package api

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// callers gives access to the data of callers of this server.
func (s *Server) callers() Callers {
	return Callers{Stored: s.o.Stored, Hub: s.o.Hub, Held: func(ctx context.Context, id string) bool {
		if s.o.Home == nil {
			return false
		}
		_, held, err := s.o.Home.Holder(ctx, id)
		return held || err != nil
	}}
}

// callerAsked returns the caller of a request. It removes the time limit of the response,
// since the store may need longer.
func callerAsked(w http.ResponseWriter, r *http.Request) (string, error) {
	callers := r.URL.Query()["caller"]
	if len(callers) > 1 {
		return "", fail(http.StatusBadRequest, "bad_request", "parameter caller is given %d times: expected one caller", len(callers))
	}
	caller := strings.Join(callers, "")
	if caller == "" {
		return "", fail(http.StatusBadRequest, "bad_request", "parameter caller is missing: expected the name of a caller")
	}
	if err := checkCaller("parameter", caller); err != nil {
		return "", err
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // a test's writer does not support it
	return caller, nil
}

func (s *Server) showCaller(w http.ResponseWriter, r *http.Request, p who) error {
	caller, err := callerAsked(w, r)
	if err != nil {
		return err
	}
	data, err := s.callers().List(r.Context(), p.owner, caller)
	if err != nil {
		return storeFailed(err)
	}
	s.inTime(w)
	writeJSON(w, http.StatusOK, data)
	return nil
}

func (s *Server) exportCaller(w http.ResponseWriter, r *http.Request, p who) error {
	caller, err := callerAsked(w, r)
	if err != nil {
		return err
	}
	out := &callerAnswer{w: w, s: s}
	if err := s.callers().Export(r.Context(), p.owner, caller, out); err != nil && !out.began {
		return storeFailed(err)
	} else if err != nil {
		// The header was sent: the client sees a truncated body.
		s.o.Log.Error("the data of a caller was not sent completely", "owner", p.owner, "error", err)
		panic(http.ErrAbortHandler)
	}
	s.o.Log.Info("data of a caller exported", "owner", p.owner)
	return nil
}

// inTime sets the time limit of the next write to a client.
func (s *Server) inTime(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.o.WriteWait)) // a test's writer does not support it
}

// callerAnswer is a response whose header is sent with the first line.
type callerAnswer struct {
	w     http.ResponseWriter
	s     *Server
	began bool
}

// Write sends a line.
func (a *callerAnswer) Write(b []byte) (int, error) {
	if !a.began {
		a.began = true
		h := a.w.Header()
		h.Set("Content-Type", "application/jsonl")
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Disposition", `attachment; filename="caller.jsonl"`)
	}
	a.s.inTime(a.w)
	return a.w.Write(b)
}

func (s *Server) deleteCaller(w http.ResponseWriter, r *http.Request, p who) error {
	caller, err := callerAsked(w, r)
	if err != nil {
		return err
	}
	gone, err := s.callers().Delete(r.Context(), p.owner, caller)
	for _, id := range gone.Conversations {
		s.tokens.forgetOne(id)
	}
	s.o.Log.Info("data of a caller deleted", "owner", p.owner, "conversations", len(gone.Conversations), "tasks", gone.Tasks, "left", len(gone.Left))
	if err != nil {
		return storeFailed(err)
	}
	s.inTime(w)
	writeJSON(w, http.StatusOK, gone)
	return nil
}
