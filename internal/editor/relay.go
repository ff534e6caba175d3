package editor

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/hocketvoice/hocket/server/hub"
)

// relay passes the messages of the conversations on to the editor's streams. It is safe for
// concurrent use.
type relay struct {
	hub  *hub.Hub
	peer *peer
	// begin is called with each conversation that begins.
	begin func(*hub.Conversation)

	workers sync.WaitGroup // one for each stream

	mu      sync.Mutex // guards the fields below
	last    *hub.Conversation
	changed chan struct{} // closed when last changes
	streams map[int]context.CancelFunc
	next    int
	closed  bool // there are no more streams
}

// maxStreams bounds the streams of an editor: one for each panel, and its own.
const maxStreams = 8

func newRelay(h *hub.Hub, p *peer, begin func(*hub.Conversation)) *relay {
	return &relay{hub: h, peer: p, begin: begin, changed: make(chan struct{}), streams: make(map[int]context.CancelFunc)}
}

// run tells the editor of conversations that begin and end, until ctx or the hub ends.
func (r *relay) run(ctx context.Context, list *hub.Stream) {
	defer r.workers.Wait()
	defer r.close()
	defer list.Close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for {
		m, err := list.Next(ctx)
		if err != nil {
			return
		}
		var info hub.Info
		if m.Type != hub.TypeStarted && m.Type != hub.TypeEnded || json.Unmarshal(m.Payload, &info) != nil {
			continue
		}
		event := "ended"
		if m.Type == hub.TypeStarted {
			event = "started"
			if c, ok := r.hub.Find(info.ID); ok {
				r.begin(c)
				r.set(c)
			}
		}
		_ = r.peer.notify(ctx, methodConversation, Changed{event, info, int(r.peer.requests.Load())}) // the connection may be over
	}
}

// set makes a conversation the one that streams follow.
func (r *relay) set(c *hub.Conversation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == c {
		return
	}
	r.last = c
	close(r.changed)
	r.changed = make(chan struct{})
}

// now returns the conversation that runs, or nil.
func (r *relay) now() *hub.Conversation {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil || r.last.Over() {
		return nil
	}
	return r.last
}

// follow opens a stream: the messages of the last conversation from its beginning, and of all
// that follow. It goes on after ctx.
func (r *relay) follow(ctx context.Context, f Follow) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || len(r.streams) >= maxStreams {
		return 0, errors.New("too many streams: unfollow one first")
	}
	r.next++
	id := r.next
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	r.streams[id] = stop
	r.workers.Go(func() {
		defer stop()
		r.stream(ctx, id, f.Steps)
	})
	return id, nil
}

// close closes all streams.
func (r *relay) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, stop := range r.streams {
		stop()
	}
}

// unfollow closes a stream.
func (r *relay) unfollow(id int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if stop, ok := r.streams[id]; ok {
		stop()
		delete(r.streams, id)
	}
}

func (r *relay) stream(ctx context.Context, id int, steps bool) {
	var done *hub.Conversation
	for {
		c, err := r.after(ctx, done)
		if err != nil {
			return
		}
		if done = c; r.tell(ctx, id, steps, c) != nil {
			return
		}
	}
}

// after waits for a conversation other than done.
func (r *relay) after(ctx context.Context, done *hub.Conversation) (*hub.Conversation, error) {
	for {
		r.mu.Lock()
		last, changed := r.last, r.changed
		r.mu.Unlock()
		if last != done {
			return last, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// tell sends the messages of a conversation to its end.
func (r *relay) tell(ctx context.Context, id int, steps bool, c *hub.Conversation) error {
	s, err := c.Stream(hub.StreamOptions{From: 1, Steps: steps})
	if err != nil {
		return nil // it has ended and was forgotten
	}
	defer s.Close()
	for {
		m, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := r.peer.notify(ctx, methodMessage, Told{id, c.ID(), m}); err != nil {
			return err
		}
	}
}
