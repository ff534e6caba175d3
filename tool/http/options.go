package httptool

import (
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/internal/httpclient"
	"github.com/hocketvoice/hocket/port"
)

// The defaults of [Options].
const (
	DefaultTimeout     = 10 * time.Second
	DefaultLongTimeout = 5 * time.Minute // of a delegated agent
	DefaultRetries     = 2
	DefaultBackoff     = 250 * time.Millisecond
	DefaultMaxBody     = 1 << 20
)

// Options set up the actions. The zero value of each field but Actions means its
// default.
type Options struct {
	// Actions are those to carry out. The ones without HTTP are left to others.
	Actions []agent.Action
	// Specs describe actions better than their files do, by name.
	Specs map[string]port.ToolSpec
	// Client sends the requests; one of its own, which follows no redirect to
	// another server, if nil.
	Client *http.Client
	// Getenv reads the environment for ${NAME}; os.LookupEnv if nil.
	Getenv func(name string) (string, bool)
	// Timeout bounds an action whose file does not say, its retries included;
	// [DefaultTimeout] if 0, and [DefaultLongTimeout] for a long one.
	Timeout time.Duration
	// Backoff is the pause before the first retry; it doubles.
	Backoff time.Duration
	// MaxBody bounds an answer, in bytes.
	MaxBody int64
}

// Validate reports the first setting that makes no sense.
func (o Options) Validate() error {
	switch {
	case o.Timeout < 0:
		return fmt.Errorf("http actions: Timeout is %v, expected 0 or more", o.Timeout)
	case o.Backoff < 0:
		return fmt.Errorf("http actions: Backoff is %v, expected 0 or more", o.Backoff)
	case o.MaxBody < 0:
		return fmt.Errorf("http actions: MaxBody is %d, expected 0 or more", o.MaxBody)
	default:
		return nil
	}
}

func (o Options) withDefaults() Options {
	if o.Client == nil {
		o.Client = &http.Client{CheckRedirect: httpclient.SameServer}
	}
	if o.Getenv == nil {
		o.Getenv = os.LookupEnv
	}
	if o.Backoff == 0 {
		o.Backoff = DefaultBackoff
	}
	if o.MaxBody == 0 {
		o.MaxBody = DefaultMaxBody
	}
	return o
}
