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

// Stored reads and deletes stored conversations. It is safe for concurrent use.
type Stored interface {
	// List returns conversations, the last saved first.
	List(ctx context.Context, q StoredQuery) ([]StoredInfo, error)
	// Load returns one conversation. ok is false if there is none. A conversation
	// that cannot be read (its key is missing) has an Error and no lines.
	Load(ctx context.Context, id string) (d StoredDetails, ok bool, err error)
	// Trace writes a conversation's trace as JSON lines. If there is none, it
	// writes nothing and returns [ErrNoTrace].
	Trace(ctx context.Context, id string, w io.Writer) error
	// Recording returns the sound of a conversation. If there is none, it returns
	// [ErrNoRecording].
	Recording(ctx context.Context, id string) (Recording, error)
	// Delete deletes all data of a conversation. It returns nil if the conversation
	// does not exist, and a [*port.HeldError] if another process holds it.
	Delete(ctx context.Context, id string) error
	// Tasks and DeleteTasks are those of [port.TaskArchive].
	Tasks(ctx context.Context, caller string) ([]port.TaskRecord, error)
	DeleteTasks(ctx context.Context, caller string, spare func(conversation string) bool) (deleted int, err error)
}

// ErrNoTrace reports that no trace of a conversation is stored.
var ErrNoTrace = errors.New("no trace of this conversation is stored")

// Recording is the sound of a conversation as a WAV file.
type Recording interface {
	io.WriterTo
	// Size is that of the file in bytes.
	Size() int64
	// Began is the time of the first sample.
	Began() time.Time
}

// ErrNoRecording reports that no recording of a conversation is stored.
var ErrNoRecording = errors.New("no recording of this conversation is stored")

// StoredQuery selects conversations.
type StoredQuery struct {
	Owner  string    // of the conversations
	All    bool      // of all owners
	Before time.Time // saved before this time; zero for no limit
	Limit  int
	// Caller, if not empty, is the full name of a caller. The query then selects all
	// conversations of the caller, regardless of Limit, and those that cannot be read,
	// since they may be the caller's.
	Caller string
}

// Selects reports whether a query selects a conversation by owner and caller.
func (q StoredQuery) Selects(d StoredInfo) bool {
	switch {
	case q.Caller == "":
		return q.All || d.Owner == q.Owner
	case d.Error != "":
		return true
	default:
		return d.Caller != "" && d.CallerNow() == q.Caller && d.Owner == q.Owner
	}
}

// StoredInfo is a stored conversation's entry in the list.
type StoredInfo struct {
	ID        string    `json:"id"`
	Agent     string    `json:"agent,omitempty"`
	Transport string    `json:"transport,omitempty"`
	Phase     string    `json:"phase,omitempty"`
	Ended     bool      `json:"ended"` // otherwise it can be continued
	Turns     int       `json:"turns"`
	Started   time.Time `json:"started,omitzero"`
	Saved     time.Time `json:"saved"`
	Trace     bool      `json:"trace"`     // its trace is stored too
	Recording bool      `json:"recording"` // its sound is stored too
	Live      bool      `json:"live"`      // this server holds it now
	// Error is the reason why it cannot be read.
	Error string `json:"error,omitempty"`

	Owner  string `json:"-"`
	Caller string `json:"-"` // the full name
}

// CallerNow returns Caller in the form that it has in new conversations.
func (d *StoredInfo) CallerNow() string { return callerNow(d.Owner, d.Caller) }

// StoredLine is an utterance or a tool's result.
type StoredLine struct {
	Turn int    `json:"turn"`
	Role string `json:"role"`           // "user", "agent", "tool"
	Name string `json:"name,omitempty"` // of the tool
	Text string `json:"text"`
	// Interrupted reports that the text is the part that was heard.
	Interrupted bool `json:"interrupted,omitempty"`
	Failed      bool `json:"failed,omitempty"`
}

// StoredDetails is a stored conversation.
type StoredDetails struct {
	StoredInfo
	Lines []StoredLine `json:"lines"`
}

// StoredList is the response of GET /v1/stored.
type StoredList struct {
	Conversations []StoredInfo `json:"conversations"`
	// Next, if not empty, is the value of ?before= for the following page.
	Next string `json:"next,omitempty"`
}

// Limits of a list.
const (
	storedLimit = 50
	storedMost  = 200
)

// noStore returns the error of a server without a store.
func (s *Server) noStore() error {
	if s.o.Stored != nil {
		return nil
	}
	return fail(http.StatusNotFound, "no_store", "this server has no store: set store.path in the config")
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
	q.Limit++ // one more shows whether there is another page
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
		if p.all || list[i].Owner == p.owner { // in case the store has returned others
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
			return q, fail(http.StatusBadRequest, "bad_request", "before is %q: expected a time in the form of next", before)
		}
	}
	return q, nil
}

// stored returns the conversation of a request if the sender may see it.
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
		return d, fail(http.StatusNotFound, "no_such_conversation", "stored conversation %q does not exist or was removed", id)
	}
	d.Live = s.live(d.ID)
	if d.Lines == nil {
		d.Lines = []StoredLine{}
	}
	return d, nil
}

// live reports whether a conversation runs here.
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
		// The header was sent: the client sees a truncated body.
		s.o.Log.Error("a stored trace was not sent completely", "conversation", d.ID, "error", err)
		panic(http.ErrAbortHandler)
	}
	return nil
}

// traceAnswer is a response whose header is sent with the first bytes.
type traceAnswer struct {
	w     http.ResponseWriter
	id    string
	began bool
}

// Write sends a part of the trace.
func (t *traceAnswer) Write(b []byte) (int, error) {
	if !t.began {
		t.began = true
		traceHeader(t.w, t.id)
	}
	return t.w.Write(b)
}

// traceHeader sets the header of a trace.
func traceHeader(w http.ResponseWriter, id string) {
	h := w.Header()
	h.Set("Content-Type", "application/jsonl")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Disposition", `attachment; filename="`+id+`.jsonl"`)
}

// deleteStored deletes a conversation that no process holds.
func (s *Server) deleteStored(w http.ResponseWriter, r *http.Request, p who) error {
	d, err := s.stored(r, p)
	if err != nil {
		return err
	}
	if d.Live {
		return fail(http.StatusConflict, "conversation_active", "the conversation is running: end it first")
	}
	err = s.o.Stored.Delete(r.Context(), d.ID)
	if held, ok := errors.AsType[*port.HeldError](err); ok {
		return fail(http.StatusConflict, "conversation_active", "%v: end it first", held)
	}
	if err != nil {
		return storeFailed(err)
	}
	s.o.Hub.Forget(d.ID)
	s.tokens.forgetOne(d.ID)
	s.o.Log.Info("stored conversation deleted", "conversation", d.ID, "owner", p.owner)
	writeJSON(w, http.StatusOK, Empty{})
	return nil
}

// storeFailed returns the error for a failed store. The cause is only logged.
func storeFailed(err error) error {
	return errors.Join(fail(http.StatusServiceUnavailable, "store_unavailable", "the store does not answer; the server's log says why"), err)
}
