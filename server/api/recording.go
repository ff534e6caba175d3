package api

import (
	"errors"
	"net/http"
	"strconv"
	"time"
)

// recordingWait is how long a client may take to download a recording.
const recordingWait = 10 * time.Minute

// recording answers with the sound of a stored conversation so far. Those may have it who
// may have its trace: its owner, and who has its access token.
func (s *Server) recording(w http.ResponseWriter, r *http.Request, p who) error {
	if err := s.noStore(); err != nil {
		return err
	}
	id, err := conversationID(r)
	if err != nil {
		return err
	}
	d, ok, err := s.o.Stored.Load(r.Context(), id)
	if err != nil {
		return storeFailed(err)
	}
	if !ok || !p.sees(d.Owner, id) {
		return fail(http.StatusNotFound, "no_such_conversation", "stored conversation %q does not exist or was removed", id)
	}
	sound, err := s.o.Stored.Recording(r.Context(), id)
	if errors.Is(err, ErrNoRecording) {
		return fail(http.StatusNotFound, "no_recording", "%v", err)
	}
	if err != nil {
		return storeFailed(err)
	}
	h := w.Header()
	h.Set("Content-Type", "audio/wav")
	h.Set("Content-Length", strconv.FormatInt(sound.Size(), 10))
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Disposition", `attachment; filename="`+id+`.wav"`)
	h.Set("Hocket-Recording-Started", sound.Began().UTC().Format(time.RFC3339Nano))
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(recordingWait)) // a test's writer does not support it
	if _, err := sound.WriteTo(w); err != nil {
		// The header was sent: the client sees a truncated body, or has disconnected.
		s.o.Log.Warn("a recording was not sent completely", "conversation", id, "error", err)
		panic(http.ErrAbortHandler)
	}
	return nil
}
