package node

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hocketvoice/hocket/port"
)

// ClaimWait is how long a conversation is waited for whose holder may be dead: longer
// than any holder is believed to live, a server included.
const ClaimWait = TTL + 500*time.Millisecond

// The times of a process that holds one conversation.
const (
	claimTTL  = 4 * time.Second // how long it is believed to live without a sign of life
	claimBeat = time.Second
	// claimEnd bounds what is said to the store when a process ends.
	claimEnd = 5 * time.Second
)

// Claimed is a conversation that this process holds. It is safe for concurrent use.
type Claimed struct {
	registry port.Registry
	node     string
	// Hold is the right to write it.
	Hold port.Hold

	cancel context.CancelFunc // ends beat
	beats  sync.WaitGroup
}

// Claim takes a conversation for this process. While another one holds it that may be
// dead, it waits, at most for the given time.
func Claim(ctx context.Context, r port.Registry, id string, wait time.Duration) (_ *Claimed, err error) {
	c := &Claimed{registry: r, node: Name()}
	if err := r.Beat(ctx, port.Node{ID: c.node}, claimTTL); err != nil {
		return nil, err
	}
	beating, cancel := context.WithCancel(context.WithoutCancel(ctx)) // until close
	c.cancel = cancel
	c.beats.Go(func() {
		repeat(beating, claimBeat, func(ctx context.Context) {
			// What fails is tried again: a claim that is lost shows when something is saved.
			_ = c.registry.Beat(ctx, port.Node{ID: c.node}, claimTTL)
		})
	})
	if c.Hold, err = c.take(ctx, id, wait); err != nil {
		return nil, errors.Join(err, c.Close()) //nolint:contextcheck // an end is not cut short
	}
	return c, nil
}

// repeat does something again and again, until ctx ends.
func repeat(ctx context.Context, every time.Duration, do func(context.Context)) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			do(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// claimOnce claims a conversation for a node. What a process of this machine held that is
// dead is not waited for.
func claimOnce(ctx context.Context, r port.Registry, id, node string) (port.Hold, error) {
	hold, err := r.Claim(ctx, id, node)
	held, ok := errors.AsType[*port.HeldError](err)
	if !ok || !DiedHere(held.Node.ID) {
		return hold, err
	}
	if err := r.Leave(ctx, held.Node.ID); err != nil {
		return port.Hold{}, err
	}
	return r.Claim(ctx, id, node)
}

// InUseError says that another process holds a conversation.
type InUseError struct{ ID, Node string }

// Error names both.
func (e *InUseError) Error() string {
	return fmt.Sprintf("the conversation %s is in use: another process holds it (%s)", e.ID, e.Node)
}

// take claims as soon as nobody holds the conversation.
func (c *Claimed) take(ctx context.Context, id string, wait time.Duration) (port.Hold, error) {
	limit := time.NewTimer(wait)
	defer limit.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		h, err := claimOnce(ctx, c.registry, id, c.node)
		held, ok := errors.AsType[*port.HeldError](err)
		if !ok {
			return h, err
		}
		select {
		case <-tick.C:
		case <-limit.C:
			return h, &InUseError{ID: id, Node: held.Node.ID}
		case <-ctx.Done():
			return h, ctx.Err()
		}
	}
}

// Close gives the conversation up. Who ends it here may go on with it, in any process,
// but nobody is to end it meanwhile.
func (c *Claimed) Close() error {
	c.cancel()
	c.beats.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), claimEnd)
	defer cancel()
	var err error
	if c.Hold.Token != 0 {
		err = c.registry.Release(ctx, c.Hold, true)
	}
	return errors.Join(err, c.registry.Leave(ctx, c.node))
}

// Name names this process among those that share a store: its machine, its number
// there, and a word that no other process has.
func Name() string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), strings.ToLower(rand.Text()[:10]))
}

// DiedHere reports whether a node was a process of this machine that exists no more: its
// conversations need not wait until it is believed dead. Where two containers share a
// host's name and a store, the fence of the store keeps them apart.
func DiedHere(node string) bool {
	name, rest, ok := strings.Cut(node, "/")
	number, _, ok2 := strings.Cut(rest, "/")
	pid, err := strconv.Atoi(number)
	host, err2 := os.Hostname()
	if !ok || !ok2 || err != nil || err2 != nil || name != host || pid < 1 {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false // nobody knows
	}
	err = p.Signal(syscall.Signal(0))
	return errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH)
}
