package fakes

import (
	"context"
	"sync"
)

// Texts are the texts that are being spoken over a connection, by id. It is safe for
// concurrent use. The zero value has none.
type Texts struct {
	work sync.WaitGroup

	mu   sync.Mutex // guards all
	ends map[string]context.CancelFunc
}

// Speak calls speak in a goroutine of its own, with a context that ends with the text.
func (t *Texts) Speak(ctx context.Context, id string, speak func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(ctx)
	t.mu.Lock()
	if t.ends == nil {
		t.ends = make(map[string]context.CancelFunc)
	}
	t.ends[id] = cancel
	t.mu.Unlock()
	t.work.Go(func() {
		defer cancel()
		speak(ctx)
	})
}

// maxWaiting is the number of texts of a context that wait.
const maxWaiting = 256

// Open opens a context, whose texts, which are sent to the channel, are spoken one after the
// other. When all have been spoken after the channel was closed, over is called. It is not if
// the context is ended, or if speak returns an error.
func (t *Texts) Open(ctx context.Context, id string, speak func(ctx context.Context, text string) error, over func()) chan<- string {
	texts := make(chan string, maxWaiting)
	t.Speak(ctx, id, func(ctx context.Context) {
		for {
			select {
			case text, ok := <-texts:
				if !ok {
					over()
					return
				}
				if speak(ctx, text) != nil {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	})
	return texts
}

// End ends a text or a context. It does not wait.
func (t *Texts) End(id string) {
	t.mu.Lock()
	end := t.ends[id]
	delete(t.ends, id)
	t.mu.Unlock()
	if end != nil {
		end()
	}
}

// Stop ends all texts and waits for them.
func (t *Texts) Stop() {
	t.mu.Lock()
	for _, end := range t.ends {
		end()
	}
	t.mu.Unlock()
	t.work.Wait()
}
