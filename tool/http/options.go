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

// Options configures the actions. Actions is required; zero values of the other
// fields select the defaults.
type Options struct {
	// Actions are the actions. Those without HTTP are ignored.
	Actions []agent.Action
	// Specs replace the descriptions of actions by name.
	Specs map[string]port.ToolSpec
	// Client sends the requests. If it is nil, a client is used that does not
	// follow redirects to other servers.
	Client *http.Client
	// Getenv looks up the environment variable for ${NAME}; os.LookupEnv if nil.
	Getenv func(name string) (string, bool)
	// Timeout limits an action, including retries, whose file sets no timeout;
	// [DefaultTimeout] if 0, and [DefaultLongTimeout] for a long action.
	Timeout time.Duration
	// Backoff is the delay before the first retry; it doubles with each retry.
	Backoff time.Duration
	// MaxBody limits the size of a response in bytes.
	MaxBody int64
}

// Validate returns an error for the first invalid option.
func (o Options) Validate() error {
	switch {
	case o.Timeout < 0:
		return fmt.Errorf("http actions: Timeout is %v: expected 0 or more", o.Timeout)
	case o.Backoff < 0:
		return fmt.Errorf("http actions: Backoff is %v: expected 0 or more", o.Backoff)
	case o.MaxBody < 0:
		return fmt.Errorf("http actions: MaxBody is %d: expected 0 or more", o.MaxBody)
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
