package session

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
)

// This file lets clients, tools and programs set and read the context of a conversation (seed
// 001, 4.8).

// ContextError is the error for changes of a context that were refused. Err says what is wrong
// with them. Nothing was changed.
type ContextError struct{ Err error }

// Error implements error. It returns the text of Err.
func (e *ContextError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *ContextError) Unwrap() error { return e.Err }

// Context returns the context of the conversation, with secrets hidden, and the work in
// progress. The error is [ErrEnded] after the end of the loop.
func (m *Machine) Context() (conv.ContextView, error) {
	var v conv.ContextView
	err := m.inspect(func(*conv.Conversation) { v = m.veil.Shown().State().ContextView() })
	return v, err
}

// SetContext changes the context of the conversation and returns when the changes are made.
// [conv.Context.With] describes their form. It returns a [*ContextError] if the changes are
// refused, [ErrEnded] after the end of the conversation, and the error of ctx if ctx ends
// first; the changes may then have been made or not. SetContext waits for the loop: before Run,
// post a [conv.ContextSet] instead.
func (m *Machine) SetContext(ctx context.Context, changes []byte) error {
	if err := m.tryContext(changes); err != nil {
		return err
	}
	id := "set-" + strconv.FormatInt(m.contexts.Add(1), 10)
	made := make(chan bool, 1)
	defer m.subscribe(&observer{step: func(s Step) {
		if e, ok := s.Event.(conv.ContextSet); ok && e.ID == id {
			made <- !slices.ContainsFunc(s.Output.Effects, func(e conv.Effect) bool { _, no := e.(conv.Reject); return no })
		}
	}})()
	if err := m.Post(conv.ContextSet{ID: id, Data: string(changes)}); err != nil {
		return err
	}
	select {
	case ok := <-made:
		if ok {
			return nil
		}
		if err := m.tryContext(changes); err != nil {
			return err // other changes that were made meanwhile left no room
		}
		return &ContextError{errors.New("other changes were made at the same time: try again")}
	case <-m.Done():
		return ErrEnded
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tryContext returns the error with which changes would be refused now, or nil.
func (m *Machine) tryContext(changes []byte) error {
	var now conv.Context
	var ends bool
	err := m.inspect(func(c *conv.Conversation) {
		now, ends = c.State().Context, c.Phase() == conv.Terminating
	})
	switch {
	case err != nil:
		return err
	case ends:
		return ErrEnded
	}
	if _, err := now.With(string(changes)); err != nil {
		return &ContextError{err}
	}
	return nil
}

// SetContext changes the context of the conversation as [Machine.SetContext] does. It returns when
// the changes are also stored, or when the store fails.
func (s *Session) SetContext(ctx context.Context, changes []byte) error {
	if err := s.Machine.SetContext(ctx, changes); err != nil {
		return err
	}
	return s.keeper.answered(ctx)
}

// answered waits until the last state is stored, or the store fails. It returns [port.ErrFenced]
// if another process has the conversation.
func (k *keeper) answered(ctx context.Context) error {
	if k == nil {
		return nil
	}
	number := k.position()
	if !k.await(ctx, func() bool { return k.lost || k.tellable(number) }) {
		return ctx.Err()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lost {
		return port.ErrFenced
	}
	return nil
}

// Context returns the context of the conversation and the work in progress, as
// [Machine.Context] does.
func (t *Text) Context() (conv.ContextView, error) { return t.s.Context() }

// SetContext changes the context of the conversation at the time now, as [Machine.SetContext]
// does.
func (t *Text) SetContext(ctx context.Context, now time.Time, changes []byte) error {
	_, err := t.take(ctx, now, func() error {
		if err := t.s.tryContext(changes); err != nil {
			return err
		}
		return t.s.step(now, conv.ContextSet{Data: string(changes)})
	})
	return err
}

// ToolContext gives a tool access to the context of the conversation that has called it. It is
// valid only during the call. It is safe for concurrent use.
type ToolContext struct {
	s     *Session
	began time.Time

	mu   sync.Mutex // guards the fields below
	set  [][]byte   // in virtual time: the changes of the call, which the machine may not have made yet
	left bool       // the person talks with somebody else
}

type toolContextKey struct{}

// ContextOf returns the context of the conversation that called the tool with ctx. ok is false
// outside of a call, and in delegated work that outlives the conversation.
func ContextOf(ctx context.Context) (t *ToolContext, ok bool) {
	t, ok = ctx.Value(toolContextKey{}).(*ToolContext)
	return t, ok
}

// Get returns the context, with secrets hidden, and the work in progress, which includes the
// call itself.
func (t *ToolContext) Get() (conv.ContextView, error) {
	v, err := t.s.Context()
	if err != nil {
		return v, err
	}
	v.Context, err = t.ahead(v.Context)
	return v, err
}

// Set changes the context, as [Session.SetContext] does.
func (t *ToolContext) Set(ctx context.Context, changes []byte) error {
	if t.s.work == nil {
		return t.s.SetContext(ctx, changes)
	}
	// In virtual time the loop waits for the call, so the call cannot wait for the loop.
	var now conv.Context
	if err := t.s.inspect(func(c *conv.Conversation) { now = c.State().Context }); err != nil {
		return err
	}
	now, err := t.ahead(now)
	if err == nil {
		_, err = now.With(string(changes))
	}
	if err != nil {
		return &ContextError{err}
	}
	t.mu.Lock()
	t.set = append(t.set, slices.Clone(changes))
	t.mu.Unlock()
	t.s.postFact(conv.ContextSet{Data: string(changes)})
	return nil
}

// ahead returns a context with the changes that the call has posted.
func (t *ToolContext) ahead(x conv.Context) (conv.Context, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var err error
	for _, changes := range t.set {
		if x, err = x.With(string(changes)); err != nil {
			return x, err
		}
	}
	return x, nil
}
