package app

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

// The times of a process that holds one conversation.
const (
	claimTTL  = 4 * time.Second // how long it is believed to live without a sign of life
	claimBeat = time.Second
	// claimWait is how long a conversation is waited for whose holder may be dead:
	// longer than any holder is believed to live, a server's 6 s included.
	claimWait = 6500 * time.Millisecond
	// claimEnd bounds what is said to the store when a process ends.
	claimEnd = 5 * time.Second
)

// claimed is a conversation that this process holds. It is safe for concurrent use.
type claimed struct {
	registry port.Registry
	node     string
	hold     port.Hold

	cancel context.CancelFunc // ends beat
	beats  sync.WaitGroup
}

// claim takes a conversation for this process. While another one holds it that may be
// dead, it waits, at most for the given time.
func claim(ctx context.Context, r port.Registry, id string, wait time.Duration) (_ *claimed, err error) {
	c := &claimed{registry: r, node: nodeName()}
	if err := r.Beat(ctx, port.Node{ID: c.node}, claimTTL); err != nil {
		return nil, err
	}
	beating, cancel := context.WithCancel(context.WithoutCancel(ctx)) // until close
	c.cancel = cancel
	c.beats.Go(func() { c.beat(beating) })
	if c.hold, err = c.take(ctx, id, wait); err != nil {
		return nil, errors.Join(err, c.close()) //nolint:contextcheck // an end is not cut short
	}
	return c, nil
}

// beat tells the store that the process lives. What fails is tried again: a claim that
// is lost shows when something is saved.
func (c *claimed) beat(ctx context.Context) {
	tick := time.NewTicker(claimBeat)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = c.registry.Beat(ctx, port.Node{ID: c.node}, claimTTL) // the next one tries again
		case <-ctx.Done():
			return
		}
	}
}

// take claims as soon as nobody holds the conversation.
func (c *claimed) take(ctx context.Context, id string, wait time.Duration) (port.Hold, error) {
	limit := time.NewTimer(wait)
	defer limit.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		h, err := c.registry.Claim(ctx, id, c.node)
		held, ok := errors.AsType[*port.HeldError](err)
		if !ok {
			return h, err
		}
		if diedHere(held.Node.ID) {
			if err := c.registry.Leave(ctx, held.Node.ID); err != nil {
				return h, err
			}
			continue
		}
		select {
		case <-tick.C:
		case <-limit.C:
			return h, inputError{fmt.Errorf("the conversation %s is in use: another process holds it (%s)", id, held.Node.ID)}
		case <-ctx.Done():
			return h, ctx.Err()
		}
	}
}

// close gives the conversation up. Who ends it here may go on with it, in any process,
// but nobody is to end it meanwhile.
func (c *claimed) close() error {
	c.cancel()
	c.beats.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), claimEnd)
	defer cancel()
	var err error
	if c.hold.Token != 0 {
		err = c.registry.Release(ctx, c.hold, true)
	}
	return errors.Join(err, c.registry.Leave(ctx, c.node))
}

// nodeName names this process among those that share a store: its machine, its number
// there, and a word that no other process has.
func nodeName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), strings.ToLower(rand.Text()[:10]))
}

// diedHere reports whether a node was a process of this machine that exists no more: its
// conversations need not wait until it is believed dead. Where two containers share a
// host's name and a store, the fence of the store keeps them apart.
func diedHere(node string) bool {
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
