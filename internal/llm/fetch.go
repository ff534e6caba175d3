package llm

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/tmaxmax/go-sse"

	"github.com/hocketvoice/hocket/internal/failure"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// Time limits for the rest of a response that adds nothing to the reply.
const (
	tail  = time.Second           // from the finish reason to the end of the stream: the usage
	drain = 50 * time.Millisecond // after the end, so that the connection can be reused
)

// exchange is a request and its response. Only the goroutine of Reply uses it.
type exchange struct {
	m       *Model
	emit    func(port.Delta) error
	known   map[string]bool // ids of calls in the context
	started time.Time

	d      Answer
	report Report
}

// fetch sends the request and reads the response.
func (a *exchange) fetch(parent context.Context, body []byte) error {
	if err := parent.Err(); err != nil {
		return err
	}
	ctx, w := newWatch(parent)
	defer w.stop()
	w.await(&silence{"the server did not start to answer", a.m.c.FirstChunk})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.m.c.URL, bytes.NewReader(body))
	if err != nil {
		return a.m.failure(errclass.Unknown, "cannot create the request: %v", err)
	}
	req.Header = a.m.c.Header.Clone()
	res, err := a.m.client.Do(req)
	if err != nil {
		return a.m.broken(parent, ctx, err)
	}
	defer res.Body.Close()
	a.report.RequestID = requestID(res.Header)
	if res.StatusCode != http.StatusOK {
		text, err := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
		if parent.Err() != nil {
			return a.m.broken(parent, ctx, err)
		}
		return a.m.refused(res, text) // with the available part of the body
	}
	in := &bounded{r: res.Body, left: a.m.c.MaxReply}
	kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch {
	case err == nil && kind == "text/event-stream":
		err = a.stream(parent, ctx, w, in)
	case err == nil && kind == "application/json":
		err = a.whole(parent, ctx, in)
	default:
		return a.m.failure(errclass.Unknown, "the server responded with %s: expected an event stream (is the base URL correct?)", noWords(res.Header))
	}
	if err != nil {
		return err
	}
	if err := parent.Err(); err != nil {
		return err
	}
	w.pause()
	if err := a.finish(parent); err != nil {
		return err
	}
	w.await(&silence{"the answer did not end", drain})
	_, _ = io.Copy(io.Discard, in) // an error costs the connection but not the reply
	return nil
}

// requestID returns the server's id of a request, for diagnostics.
func requestID(h http.Header) string {
	for _, name := range []string{"X-Request-Id", "Apim-Request-Id", "Request-Id"} {
		if id := h.Get(name); id != "" {
			return failure.Clip(id)
		}
	}
	return ""
}

// errCut reports a stream that ended before its reply was complete.
var errCut = errors.New("the stream ended before the reply was complete")

// stream reads an event stream to its end.
func (a *exchange) stream(parent, ctx context.Context, w *watch, in *bounded) error {
	stall := &silence{"the server stalled during its answer", a.m.c.Stall}
	rest := &silence{"the answer did not end", tail}
	for event, err := range sse.Read(in, &sse.ReadConfig{MaxEventSize: a.m.c.MaxEvent}) {
		if err != nil {
			if a.d.Complete() && parent.Err() == nil {
				return nil // only the end marker is missing
			}
			if errors.Is(err, bufio.ErrTooLong) {
				return a.m.failure(errclass.ServerError, "an event of the stream is longer than %d bytes", a.m.c.MaxEvent)
			}
			return a.m.broken(parent, ctx, cmp.Or(in.err, errCut))
		}
		if parent.Err() != nil {
			return parent.Err()
		}
		w.pause()
		if err := a.take(event.Type, []byte(event.Data)); err != nil {
			return err
		}
		switch {
		case a.d.Done:
			return nil
		case a.d.Finish != "":
			w.await(rest)
		default:
			w.await(stall)
		}
	}
	if err := parent.Err(); err != nil {
		return err
	}
	if !a.d.Complete() {
		return a.m.broken(parent, ctx, errCut)
	}
	return nil
}

// whole reads the response of a server that does not stream.
func (a *exchange) whole(parent, ctx context.Context, in io.Reader) error {
	data, err := io.ReadAll(in)
	if err != nil {
		return a.m.broken(parent, ctx, err)
	}
	if err := a.take("", data); err != nil {
		return err
	}
	if !a.d.Complete() && !a.d.Begun() {
		return a.m.failure(errclass.ServerError, "the answer contains no reply")
	}
	return nil
}

// take decodes one event and emits its text.
func (a *exchange) take(kind string, data []byte) error {
	text, err := a.m.c.Wire.Take(&a.d, kind, data)
	if reported := (*ErrReported)(nil); errors.As(err, &reported) {
		return a.m.reported(reported.Body)
	}
	if err != nil {
		return a.m.failure(errclass.ServerError, "%v", err)
	}
	a.d.Text.WriteString(text)
	if a.report.First == 0 && a.d.Begun() {
		a.report.First = time.Since(a.started)
	}
	if text == "" {
		return nil
	}
	return a.emit(port.Delta{Text: text})
}

// finish checks the finish reason and emits the calls.
func (a *exchange) finish(ctx context.Context) error {
	calls := len(a.d.Calls.calls)
	switch a.d.End {
	case Regular:
	case Filtered:
		return a.m.failure(errclass.Unknown, "the server's content filter stopped the reply")
	case Aborted:
		return a.m.failure(errclass.ServerError, "the server aborted the reply (%s)", a.d.Finish)
	case Length:
		switch {
		case calls > 0:
			// An incomplete call is useless.
			return a.m.failure(errclass.InvalidArgs, "the token limit cut off a tool call")
		case a.d.Text.Len() == 0:
			return a.m.failure(errclass.Unknown, "the token limit was reached before the reply began")
		}
	}
	list, err := a.d.Calls.Finished(a.known)
	if err != nil {
		return a.m.failure(errclass.ServerError, "%v", err)
	}
	for i := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := a.emit(port.Delta{Call: &list[i]}); err != nil {
			return err
		}
	}
	return nil
}
