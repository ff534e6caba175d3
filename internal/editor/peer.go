package editor

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/hocketvoice/hocket/provider/vscode"
)

// peer is the editor at the other end. It is safe for concurrent use.
type peer struct {
	conn     *jsonrpc2.Conn
	next     atomic.Uint64 // the id of the last request
	requests atomic.Int64  // those to the model

	mu      sync.Mutex // guards answers
	answers map[uint64]*parts
}

var _ vscode.Editor = (*peer)(nil)

func newPeer() *peer { return &peer{answers: make(map[uint64]*parts)} }

// run begins to read. handle takes the editor's requests and notifications one after the other,
// and must not wait for the editor.
func (p *peer) run(ctx context.Context, stream jsonrpc2.ObjectStream, handle func(context.Context, *jsonrpc2.Request) (any, error)) {
	ready := make(chan struct{})
	p.conn = jsonrpc2.NewConn(ctx, stream, handler(func(ctx context.Context, c *jsonrpc2.Conn, r *jsonrpc2.Request) {
		<-ready
		if r.Notif && r.Method == methodPart {
			p.arrived(r.Params)
			return
		}
		result, err := handle(ctx, r)
		if r.Notif {
			return
		}
		if err != nil {
			_ = c.ReplyWithError(ctx, r.ID, errorOf(err)) // the connection may be over
			return
		}
		_ = c.Reply(ctx, r.ID, result) // as above
	}), jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
	close(ready)
}

// handler is a function as a [jsonrpc2.Handler].
type handler func(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request)

// Handle implements [jsonrpc2.Handler].
func (h handler) Handle(ctx context.Context, c *jsonrpc2.Conn, r *jsonrpc2.Request) { h(ctx, c, r) }

// errorOf returns an error as JSON-RPC has it.
func errorOf(err error) *jsonrpc2.Error {
	if e, ok := errors.AsType[*jsonrpc2.Error](err); ok {
		return e
	}
	return &jsonrpc2.Error{Code: codeFailed, Message: err.Error()}
}

// done is closed when the connection is over.
func (p *peer) done() <-chan struct{} { return p.conn.DisconnectNotify() }

// notify sends a notification. An error means that the connection is over.
func (p *peer) notify(ctx context.Context, method string, params any) error {
	return p.conn.Notify(ctx, method, params)
}

// Request is that of [vscode.Editor].
func (p *peer) Request(ctx context.Context, method string, params, result any, part func(json.RawMessage) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if method == vscode.MethodReply {
		p.requests.Add(1)
	}
	id := p.next.Add(1)
	got := &parts{more: make(chan struct{}, 1)}
	p.mu.Lock()
	p.answers[id] = got
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.answers, id)
		p.mu.Unlock()
	}()
	own, err := numbered(params, id)
	if err != nil {
		return err
	}
	call, err := p.conn.DispatchCall(ctx, method, own, jsonrpc2.PickID(jsonrpc2.ID{Num: id}))
	if err != nil {
		return err
	}
	err = p.follow(ctx, call, got, result, part)
	if ctx.Err() != nil || errors.As(err, new(unwanted)) {
		// What the editor sends from now on has no reader.
		_ = p.notify(context.WithoutCancel(ctx), methodCancel, cancel{id})
	}
	if u := (unwanted{}); errors.As(err, &u) {
		return u.error
	}
	return err
}

// numbered returns the parameters of a request with its id as the field request: libraries do not
// show the id to whoever carries out a request.
func numbered(params any, id uint64) (json.RawMessage, error) {
	b, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(b, &fields); err != nil {
		return nil, err
	}
	fields["request"] = json.RawMessage(strconv.FormatUint(id, 10))
	return json.Marshal(fields)
}

// unwanted is an error of part: the answer is no longer wanted.
type unwanted struct{ error }

// follow hands on the parts of an answer until it is complete.
func (p *peer) follow(ctx context.Context, call jsonrpc2.Waiter, got *parts, result any, part func(json.RawMessage) error) error {
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	answered := make(chan error, 1)
	var worker sync.WaitGroup
	worker.Go(func() { answered <- call.Wait(waiting, result) })
	defer worker.Wait()
	defer stop()
	take := func() error {
		for _, b := range got.take() {
			if err := ctx.Err(); err != nil {
				return err
			}
			if part == nil {
				continue
			}
			if err := part(b); err != nil {
				return unwanted{err}
			}
		}
		return nil
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-got.more:
			if err := take(); err != nil {
				return err
			}
		case err := <-answered:
			if err == nil || !errors.Is(err, context.Canceled) {
				if failed := take(); failed != nil { // they were sent before the answer
					return failed
				}
			}
			return failure(err)
		}
	}
}

// failure returns an error of the editor as an [vscode.Error].
func failure(err error) error {
	e, ok := errors.AsType[*jsonrpc2.Error](err)
	if !ok {
		return err
	}
	failed := &vscode.Error{Message: e.Message}
	if e.Data != nil {
		var data struct {
			Code string `json:"code"`
		}
		if json.Unmarshal(*e.Data, &data) == nil {
			failed.Code = data.Code
		}
	}
	return failed
}

// arrived takes a part of an answer. It is dropped if nobody waits for it.
func (p *peer) arrived(params *json.RawMessage) {
	var of partOf
	if params == nil || json.Unmarshal(*params, &of) != nil {
		return
	}
	p.mu.Lock()
	got := p.answers[of.Request]
	p.mu.Unlock()
	if got != nil {
		got.add(of.Part)
	}
}

// maxWaiting bounds the bytes of parts that nobody has read. The rest is dropped: the reader
// is about to give up, since no answer may be that long.
const maxWaiting = 16 << 20

// parts are those of one answer that have arrived and were not read. It is safe for concurrent
// use, so that a slow reader does not delay the connection.
type parts struct {
	more chan struct{} // has room for one: there are some

	mu   sync.Mutex // guards the fields below
	list []json.RawMessage
	size int
}

func (p *parts) add(b json.RawMessage) {
	p.mu.Lock()
	if p.size += len(b); p.size <= maxWaiting {
		p.list = append(p.list, b)
	}
	p.mu.Unlock()
	select {
	case p.more <- struct{}{}:
	default:
	}
}

func (p *parts) take() []json.RawMessage {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.list
	p.list, p.size = nil, 0
	return list
}
