package telnyx

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
	"strings"
	"time"

	"github.com/hocketvoice/hocket/internal/carrier"
	"github.com/hocketvoice/hocket/internal/failure"
	"github.com/hocketvoice/hocket/internal/httpclient"
	"github.com/hocketvoice/hocket/port/errclass"
)

const (
	maxAnswer = 64 << 10
	// callEnded is Telnyx's code of a command for a call that is over.
	callEnded = "90018"
)

// errOver says that a command came after the end of its call.
var errOver = errors.New("telnyx: the call is over")

// commands sends commands for calls.
type commands struct {
	http *http.Client
	base string // without a slash at the end
}

func newCommands(o Options) *commands {
	c := &http.Client{}
	if o.Client != nil {
		*c = *o.Client
	}
	c.Transport = &httpclient.Transport{Base: cmp.Or(c.Transport, http.DefaultTransport), Key: o.Key, MaxAnswer: maxAnswer}
	c.CheckRedirect = httpclient.SameServer
	return &commands{http: c, base: strings.TrimRight(o.API, "/")}
}

// send sends a command and repeats it, as its class of failure allows, with the same id, so that it
// is carried out once: Telnyx ignores a repeated command within 60 s. It returns [errOver] if the call is over, and otherwise a [*port.Failure].
func (c *commands) send(ctx context.Context, call, action, id string, fields map[string]any) error {
	if fields == nil {
		fields = make(map[string]any)
	}
	fields["command_id"] = id
	body, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	address := c.base + "/calls/" + url.PathEscape(call) + "/actions/" + action
	return carrier.Repeat(ctx, func(ctx context.Context) error {
		_, err := c.post(ctx, address, action, body)
		return err
	})
}

// post makes one attempt and returns the answer.
func (c *commands) post(ctx context.Context, address, action string, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, failure.New(errclass.Unknown, "telnyx: "+action+": the URL of the command is invalid")
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(r)
	if err != nil {
		class, text := failure.OfTransport(err)
		return nil, failure.New(class, "telnyx: "+action+": "+text)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if resp.StatusCode/100 == 2 {
		return answer, nil // without an answer that can be read it has been carried out all the same
	}
	if err != nil {
		answer = nil // the status says enough
	}
	code := codeOf(answer)
	if resp.StatusCode == http.StatusUnprocessableEntity && code == callEnded {
		return nil, errOver
	}
	text := fmt.Sprintf("telnyx: %s: the server responded %d %s", action, resp.StatusCode, http.StatusText(resp.StatusCode))
	if code != "" {
		text += ", error " + code
	}
	f := failure.New(failure.OfStatus(resp.StatusCode), text)
	if f.Retryable {
		f.After = failure.After(resp.Header, time.Now())
	}
	return nil, f
}

// codeOf returns the code of an answer's first error, or "". The words beside it are left out: they
// may contain numbers.
func codeOf(answer []byte) string {
	var m struct {
		Errors []struct {
			Code json.RawMessage `json:"code"`
		} `json:"errors"`
	}
	if json.Unmarshal(answer, &m) != nil || len(m.Errors) == 0 {
		return ""
	}
	code := strings.Trim(string(m.Errors[0].Code), `"`)
	if len(code) > 10 || strings.Trim(code, "0123456789") != "" {
		return ""
	}
	return code
}
