package httptool

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/internal/toolset"
	"github.com/hocketvoice/hocket/internal/wait"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// Tool carries out the actions. It is safe for concurrent use.
type Tool struct {
	o       Options
	actions map[string]*agent.Action
	specs   []port.ToolSpec
}

var _ port.Tool = (*Tool)(nil)

// New returns the tool of an agent's actions. It returns an error if an environment
// variable of an action is not set.
func New(o Options) (*Tool, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	t := &Tool{o: o.withDefaults(), actions: make(map[string]*agent.Action)}
	for i := range o.Actions {
		a := &o.Actions[i]
		if a.HTTP == nil {
			continue
		}
		if err := t.checkEnvironment(a); err != nil {
			return nil, fmt.Errorf("action %s: %w", a.Name, err)
		}
		t.actions[a.Name] = a
		spec, ok := o.Specs[a.Name]
		if !ok {
			text, err := schema(a)
			if err != nil {
				return nil, fmt.Errorf("action %s: %w", a.Name, err)
			}
			spec = port.ToolSpec{
				Name: a.Name, Description: a.Description, Schema: text, Irreversible: !idempotent(a),
				Confirm: a.RequiresConfirmation, Long: a.Long,
			}
		}
		t.specs = append(t.specs, spec)
	}
	return t, nil
}

// schema returns the JSON Schema of an action's inputs.
func schema(a *agent.Action) ([]byte, error) {
	arguments := make([]toolset.Argument, len(a.Inputs))
	for i, in := range a.Inputs {
		arguments[i] = toolset.Argument{Name: in.Name, Optional: in.Optional}
	}
	return toolset.ObjectSchema(arguments)
}

// Specs returns the descriptions of the actions.
func (t *Tool) Specs() []port.ToolSpec { return t.specs }

// Call sends an action's request and returns its outputs as a JSON object. The
// caller must have validated the arguments, see [toolset.Check]. The call's ID is
// sent in the header Idempotency-Key. Errors are of type [*port.Failure] and do not
// contain credentials.
func (t *Tool) Call(ctx context.Context, call port.ToolCall, _ func(string)) (string, error) {
	a := t.actions[call.Name]
	if a == nil {
		return "", &port.Failure{Code: errclass.ToolError, Message: fmt.Sprintf("unknown http action %q", call.Name)}
	}
	inputs, err := toolset.Arguments(call.Arguments)
	if err != nil {
		return "", &port.Failure{Code: errclass.ToolError, Message: fmt.Sprintf("action %s: %v", call.Name, err)}
	}
	ctx, cancel := context.WithTimeout(ctx, t.limit(a))
	defer cancel()
	retries := 0
	if idempotent(a) {
		retries = a.HTTP.Retries
		if retries == 0 {
			retries = DefaultRetries
		}
	}
	pause := t.o.Backoff
	for attempt := 0; ; attempt++ {
		began := time.Now()
		out, err := t.send(ctx, a, call.ID, inputs)
		f, _ := errors.AsType[*port.Failure](err)
		if err == nil || f == nil || !f.Retryable || attempt == retries {
			return out, err
		}
		port.NoteRetry(ctx, port.Retry{Name: a.Name, Class: f.Code, Attempt: attempt + 1, Latency: time.Since(began)})
		if wait.For(ctx, max(pause, f.After)) != nil {
			return "", err
		}
		pause *= 2
	}
}

// limit returns the timeout of an action.
func (t *Tool) limit(a *agent.Action) time.Duration {
	limit := DefaultTimeout
	if slices.ContainsFunc(t.specs, func(s port.ToolSpec) bool { return s.Name == a.Name && s.Long }) {
		limit = DefaultLongTimeout
	}
	return cmp.Or(a.HTTP.Timeout, t.o.Timeout, limit)
}

// idempotent reports whether an action may be retried according to its file or its
// method (RFC 9110, section 9.2.2).
func idempotent(a *agent.Action) bool {
	switch a.HTTP.Method {
	case http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete:
		return true
	default:
		return a.Idempotent
	}
}

// send makes one request.
func (t *Tool) send(ctx context.Context, a *agent.Action, id string, inputs map[string]any) (string, error) {
	req, err := t.request(ctx, a, id, inputs)
	if err != nil {
		return "", &port.Failure{Code: errclass.ToolError, Message: fmt.Sprintf("action %s: %v", a.Name, err)}
	}
	resp, err := t.o.Client.Do(req)
	if err != nil {
		return "", failed(a, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, t.o.MaxBody+1))
	switch {
	case err != nil:
		return "", failed(a, err)
	case int64(len(body)) > t.o.MaxBody:
		return "", &port.Failure{Code: errclass.ToolError, Message: fmt.Sprintf("action %s: the response has more than %d bytes", a.Name, t.o.MaxBody)}
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return "", refused(a, resp)
	}
	return outputs(a, body)
}

// failed returns the failure for a transport error. It omits the error's text,
// which contains the URL and may contain a credential, and reports only the cause.
func failed(a *agent.Action, err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	what := err.Error()
	if errors.Is(err, context.DeadlineExceeded) {
		what = "the request timed out"
	}
	return &port.Failure{
		Code: errclass.NetworkTimeout, Message: fmt.Sprintf("action %s: %s", a.Name, what),
		Retryable: !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded),
	}
}

// refused returns the failure for an unsuccessful status.
func refused(a *agent.Action, resp *http.Response) error {
	f := &port.Failure{Code: errclass.ToolError, Message: fmt.Sprintf("action %s: the server responded %s", a.Name, resp.Status)}
	switch {
	case resp.StatusCode == http.StatusUnauthorized, resp.StatusCode == http.StatusForbidden:
		// Only the action is refused, not the conversation.
	case resp.StatusCode == http.StatusTooManyRequests:
		f.Code, f.Retryable = errclass.RateLimit, true
	case resp.StatusCode >= 500:
		f.Code, f.Retryable = errclass.ServerError, true
	}
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s > 0 {
		f.After = min(time.Duration(s)*time.Second, time.Minute)
	}
	return f
}

// outputs returns the response as a JSON object: unchanged, or as the value of the
// only output.
func outputs(a *agent.Action, body []byte) (string, error) {
	body = bytes.TrimSpace(body)
	if len(body) == 0 {
		return "{}", nil
	}
	if !json.Valid(body) {
		return "", &port.Failure{Code: errclass.ToolError, Message: fmt.Sprintf("action %s: the response is not valid JSON", a.Name)}
	}
	if body[0] == '{' {
		return string(body), nil
	}
	name := "result"
	if len(a.Outputs) == 1 {
		name = a.Outputs[0]
	}
	b, err := json.Marshal(map[string]json.RawMessage{name: body})
	if err != nil {
		return "", fmt.Errorf("action %s: %w", a.Name, err)
	}
	return string(b), nil
}
