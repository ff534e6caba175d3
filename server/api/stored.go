package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/hocketvoice/hocket/port"
)

// Stored reads and deletes the conversations that are kept. It is safe for
// concurrent use.
type Stored interface {
	// List returns conversations, those that were saved last first.
	List(ctx context.Context, q StoredQuery) ([]StoredInfo, error)
	// Load reads one; ok is false where there is none. One that cannot be read (its
	// key is missing) has an Error, and no lines.
	Load(ctx context.Context, id string) (d StoredDetails, ok bool, err error)
	// Trace writes the trace of one that is there, as JSON lines. It fails with
	// [ErrNoTrace], and writes nothing, where none is kept.
	Trace(ctx context.Context, id string, w io.Writer) error
	// Delete removes all that is kept of one. Deleting what is not there is no error;
	// what another process holds is refused with a [*port.HeldError].
	Delete(ctx context.Context, id string) error
}

// ErrNoTrace is returned for a conversation of which no trace is kept.
var ErrNoTrace = errors.New("no trace of this conversation is kept")

// StoredQuery says which conversations are wanted.
type StoredQuery struct {
	Owner  string    // whose
	All    bool      // everybody's
	Before time.Time // saved before this time; zero: from the last one on
	Limit  int
}

// StoredInfo is what the list shows of a conversation that is kept.
type StoredInfo struct {
	ID        string    `json:"id"`
	Agent     string    `json:"agent,omitempty"`
	Transport string    `json:"transport,omitempty"`
	Phase     string    `json:"phase,omitempty"`
	Ended     bool      `json:"ended"` // else it can go on
	Turns     int       `json:"turns"`
	Started   time.Time `json:"started,omitzero"`
	Saved     time.Time `json:"saved"`
	Trace     bool      `json:"trace"` // its trace is kept too
	Live      bool      `json:"live"`  // this server holds it now
	// Error says why it cannot be read.
	Error string `json:"error,omitempty"`

	Owner string `json:"-"`
}

// StoredLine is what was said, or what a tool has answered.
type StoredLine struct {
	Turn int    `json:"turn"`
	Role string `json:"role"`           // "user", "agent", "tool"
	Name string `json:"name,omitempty"` // of the tool
	Text string `json:"text"`
	// Interrupted: the text is the part that was heard.
	Interrupted bool `json:"interrupted,omitempty"`
	Failed      bool `json:"failed,omitempty"`
}

// StoredDetails is a conversation that is kept.
type StoredDetails struct {
	StoredInfo
	Lines []StoredLine `json:"lines"`
}

// StoredList is the answer of GET /v1/stored.
type StoredList struct {
	Conversations []StoredInfo `json:"conversations"`
	// Next, if set, is the value of ?before= for those behind.
	Next string `json:"next,omitempty"`
}

// The bounds of a list.
const (
	storedLimit = 50
	storedMost  = 200
)

// noStore says that nothing is kept.
func (s *Server) noStore() error {
	if s.o.Stored != nil {
		return nil
	}
	return fail(http.StatusNotFound, "no_store", "this server keeps no conversations: store.path in the config names a store")
}

func (s *Server) listStored(w http.ResponseWriter, r *http.Request, p who) error {
	if err := s.noStore(); err != nil {
		return err
	}
	q, err := storedQuery(r, p)
	if err != nil {
		return err
	}
	limit := q.Limit
	q.Limit++ // one more tells whether there are more
	list, err := s.o.Stored.List(r.Context(), q)
	if err != nil {
		return storeFailed(err)
	}
	answer := StoredList{Conversations: make([]StoredInfo, 0, limit)}
	for i := range list {
		if i == limit {
			answer.Next = list[i-1].Saved.UTC().Format(time.RFC3339Nano)
			break
		}
		if p.all || list[i].Owner == p.owner { // whatever the store has answered
			list[i].Live = s.live(list[i].ID)
			answer.Conversations = append(answer.Conversations, list[i])
		}
	}
	writeJSON(w, http.StatusOK, answer)
	return nil
}

func storedQuery(r *http.Request, p who) (q StoredQuery, err error) {
	q = StoredQuery{Owner: p.owner, All: p.all, Limit: storedLimit}
	v := r.URL.Query()
	if limit := v.Get("limit"); limit != "" {
		if q.Limit, err = strconv.Atoi(limit); err != nil || q.Limit < 1 || q.Limit > storedMost {
			return q, fail(http.StatusBadRequest, "bad_request", "limit is %q: expected a number from 1 to %d", limit, storedMost)
		}
	}
	if before := v.Get("before"); before != "" {
		if q.Before, err = time.Parse(time.RFC3339Nano, before); err != nil {
			return q, fail(http.StatusBadRequest, "bad_request", "before is %q: expected a time, as next has it", before)
		}
	}
	return q, nil
}

// stored is the conversation that a request names, if it is theirs.
func (s *Server) stored(r *http.Request, p who) (d StoredDetails, err error) {
	if err := s.noStore(); err != nil {
		return d, err
	}
	id, err := conversationID(r)
	if err != nil {
		return d, err
	}
	d, ok, err := s.o.Stored.Load(r.Context(), id)
	if err != nil {
		return d, storeFailed(err)
	}
	if !ok || !p.all && d.Owner != p.owner {
		return d, fail(http.StatusNotFound, "no_such_conversation", "no conversation %q is kept, or no longer", id)
	}
	d.Live = s.live(d.ID)
	if d.Lines == nil {
		d.Lines = []StoredLine{}
	}
	return d, nil
}

// live reports whether a conversation is held here.
func (s *Server) live(id string) bool {
	c, ok := s.o.Hub.Find(id)
	return ok && !c.Over()
}

func (s *Server) showStored(w http.ResponseWriter, r *http.Request, p who) error {
	d, err := s.stored(r, p)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, d)
	return nil
}

func (s *Server) traceStored(w http.ResponseWriter, r *http.Request, p who) error {
	d, err := s.stored(r, p)
	if err != nil {
		return err
	}
	out := &traceAnswer{w: w, id: d.ID}
	switch err := s.o.Stored.Trace(r.Context(), d.ID, out); {
	case errors.Is(err, ErrNoTrace):
		return fail(http.StatusNotFound, "no_trace", "%v", ErrNoTrace)
	case err != nil && !out.began:
		return storeFailed(err)
	case err != nil:
		// Too late for an answer: the client sees that the body breaks off.
		s.o.Log.Error("a stored trace was not sent whole", "conversation", d.ID, "error", err)
		panic(http.ErrAbortHandler)
	}
	return nil
}

// traceAnswer is an answer whose header goes out with the first bytes.
type traceAnswer struct {
	w     http.ResponseWriter
	id    string
	began bool
}

// Write sends a piece.
func (t *traceAnswer) Write(b []byte) (int, error) {
	if !t.began {
		t.began = true
		traceHeader(t.w, t.id)
	}
	return t.w.Write(b)
}

// traceHeader announces a trace.
func traceHeader(w http.ResponseWriter, id string) {
	h := w.Header()
	h.Set("Content-Type", "application/jsonl")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Disposition", `attachment; filename="`+id+`.jsonl"`)
}

// deleteStored deletes a conversation, which must not be held by anybody.
func (s *Server) deleteStored(w http.ResponseWriter, r *http.Request, p who) error {
	d, err := s.stored(r, p)
	if err != nil {
		return err
	}
	if d.Live {
		return fail(http.StatusConflict, "conversation_active", "the conversation goes on: end it first")
	}
	err = s.o.Stored.Delete(r.Context(), d.ID)
	if held, ok := errors.AsType[*port.HeldError](err); ok {
		return fail(http.StatusConflict, "conversation_active", "%v: end it first", held)
	}
	if err != nil {
		return storeFailed(err)
	}
	s.o.Log.Info("stored conversation deleted", "conversation", d.ID, "owner", p.owner)
	writeJSON(w, http.StatusOK, Empty{})
	return nil
}

// storeFailed is the answer when the store does not answer. Why is in the log.
func storeFailed(err error) error {
	return errors.Join(fail(http.StatusServiceUnavailable, "store_unavailable", "the store does not answer; the server's log says why"), err)
}
