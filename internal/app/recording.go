package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/internal/recording"
	"github.com/hocketvoice/hocket/server/api"
	"github.com/hocketvoice/hocket/session"
	"github.com/hocketvoice/hocket/store/sealed"
)

// records reports whether the conversations of a transport are recorded. A client of the
// Realtime protocol decides what is said first, so that the notice cannot be said there:
// its conversations are recorded only if the config says that it announces this itself.
func (a *served) records(transport string) bool {
	r := a.opts.Recording
	switch transport {
	case "text":
		return false
	case realtimeTransport:
		return a.store != nil && a.keepsWords() && r.Announced
	default:
		return a.store != nil && a.keepsWords() && r.On()
	}
}

// keepsWords reports whether what was said may be kept after the end.
func (a *served) keepsWords() bool {
	p := a.opts.Conversation.Privacy
	return p == "" || p == conv.PrivacyKeep
}

// record sets the options with which a session is recorded, if its transport is.
func (a *served) record(o *session.Options, transport string) {
	if a.records(transport) {
		o.Recording = session.Recording{Journal: a.store.sound, Limit: time.Duration(a.opts.Recording.Limit)}
	}
}

// checkRecording sets the notice of the recording. It returns an error if conversations
// cannot be recorded, or if the notice cannot be said.
func (a *served) checkRecording() error {
	r := a.opts.Recording
	switch {
	case !r.On():
		return nil
	case a.store == nil:
		return errors.New("recording: the server has no store: expected store.path")
	case !a.keepsWords() || r.Notice == "":
		return nil
	}
	greeting := a.opts.Conversation.Greeting
	if flows := a.agent.Agent; flows != nil && greeting == "" {
		if start := flows.Settings().Start; start != "" {
			return fmt.Errorf("agent %s: recording.notice cannot be said before the flow %q, with which the agent begins: expected the words in the flow, and recording.announced: true", a.name, start)
		}
		var lines []string
		for _, l := range flows.Start(&dialog.State{}, time.Now()).Say {
			lines = append(lines, l.Text)
		}
		greeting = strings.Join(lines, " ")
	}
	a.notice = strings.TrimSpace(r.Notice + " " + greeting)
	return nil
}

// Recording implements [api.Stored].
func (s *archive) Recording(ctx context.Context, id string) (api.Recording, error) {
	sound, err := recording.Open(func(each func([]byte) error) error { return s.pieces(ctx, id, each) })
	if errors.Is(err, recording.ErrNone) {
		return nil, api.ErrNoRecording
	}
	if err != nil {
		return nil, err
	}
	return sound, nil
}

// pieces calls each with the pieces of a recording.
func (s *Store) pieces(ctx context.Context, id string, each func([]byte) error) error {
	return s.sound.Read(ctx, id, func(_ int, piece []byte) error {
		if sealed.Sealed(piece) {
			return errEncrypted
		}
		return each(piece)
	})
}

// recorded reports whether the store has a recording of a conversation.
func (s *Store) recorded(ctx context.Context, id string) (bool, error) {
	err := s.sound.Read(ctx, id, func(int, []byte) error { return errEnough })
	if errors.Is(err, errEnough) {
		return true, nil
	}
	return false, err
}
