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

// ClaimWait is how long to wait for a conversation whose holder may be dead. It is
// longer than the store considers any silent holder alive, including a server.
const ClaimWait = TTL + 500*time.Millisecond

// The times of a process that holds one conversation.
const (
	claimTTL  = 4 * time.Second // how long it is considered alive without a heartbeat
	claimBeat = time.Second     // time between heartbeats
	// claimEnd is the timeout of the requests to the store when a process ends.
	claimEnd = 5 * time.Second
)

// Claimed is a conversation that this process has claimed. It is safe for concurrent
// use.
type Claimed struct {
	registry port.Registry
	node     string
	// Hold is the right to write the conversation.
	Hold port.Hold

	cancel context.CancelFunc // stops the heartbeats
	beats  sync.WaitGroup
}

// Claim claims a conversation for this process. While another process holds it, Claim
// waits at most for the given time, and then returns an [*InUseError]. The caller must
// call [Claimed.Close].
func Claim(ctx context.Context, r port.Registry, id string, wait time.Duration) (_ *Claimed, err error) {
	c := &Claimed{registry: r, node: Name()}
	if err := r.Beat(ctx, port.Node{ID: c.node}, claimTTL); err != nil {
		return nil, err
	}
	beating, cancel := context.WithCancel(context.WithoutCancel(ctx)) // until Close
	c.cancel = cancel
	c.beats.Go(func() {
		repeat(beating, claimBeat, func(ctx context.Context) {
			// The next heartbeat retries. A lost claim is detected when something is saved.
			_ = c.registry.Beat(ctx, port.Node{ID: c.node}, claimTTL)
		})
	})
	if c.Hold, err = c.take(ctx, id, wait); err != nil {
		return nil, errors.Join(err, c.Close()) //nolint:contextcheck // Close has a timeout of its own
	}
	return c, nil
}

// repeat calls do at intervals until ctx ends.
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

// claimOnce claims a conversation for a node. If the holder is a dead process of this
// machine, claimOnce removes that node and claims the conversation.
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

// InUseError reports that another process holds a conversation.
type InUseError struct{ ID, Node string }

// Error names the conversation and the process.
func (e *InUseError) Error() string {
	return fmt.Sprintf("the conversation %s is in use: another process holds it (%s)", e.ID, e.Node)
}

// take claims the conversation as soon as nobody holds it.
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

// Close releases the conversation. Any process may claim it and continue it, but no
// server ends it as abandoned.
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

// Name returns a new name for this process among those that share a store: the host
// name, the process id, and a random word.
func Name() string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), strings.ToLower(rand.Text()[:10]))
}

// DiedHere reports whether a node was a process of this machine that no longer exists.
// Its conversations can be claimed without waiting until the node is considered dead. If
// two containers with the same host name share a store, DiedHere may be wrong; the store
// then still refuses writes of the process that has lost its claim.
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
		return false // unknown
	}
	err = p.Signal(syscall.Signal(0))
	return errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH)
}
