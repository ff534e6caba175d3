package a2a

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/internal/toolset"
)

// The defaults of [Agent] and [Options].
const (
	DefaultTimeout      = 5 * time.Minute
	DefaultStartTimeout = 30 * time.Second
	defaultRetry        = 500 * time.Millisecond
	longestRetry        = 10 * time.Second
)

// Fixed limits.
const (
	maxCard        = 1 << 20 // bytes of a card
	maxResult      = 1 << 20 // bytes of a result
	maxMessage     = 8 << 20 // bytes of a response
	maxProgress    = 500     // bytes of a progress text
	maxFailure     = 500     // bytes quoted in a failure
	maxDescription = 4 << 10
	maxArtifacts   = 500
	goodbye        = 5 * time.Second // timeout for cancelling a task
)

// Options configures [Open]. Agents is required; zero values of the other fields
// select the defaults.
type Options struct {
	Agents []Agent
	// Getenv looks up environment variables; os.LookupEnv if nil.
	Getenv func(name string) (string, bool)
	// Retry is the delay before polling a task whose connection was lost or whose
	// agent does not stream. It doubles up to 10 s and starts again when there is
	// news.
	Retry time.Duration
}

// Agent is one agent as a tool.
type Agent struct {
	// Name is the tool's name, Description its description; the card's if empty.
	Name, Description string
	// URL is the URL of the agent's card, or of the server with the card at the
	// well-known path. KeyEnv, if not empty, is the variable with the token for the
	// Authorization header.
	URL    string
	KeyEnv string
	// Repeatable reports that a task may safely run twice, Confirm that it needs
	// the user's consent.
	Repeatable, Confirm bool

	StartTimeout time.Duration // for reading the card
	Timeout      time.Duration // for a call
}

// Validate returns an error for the first invalid option.
func (o Options) Validate() error {
	if o.Retry < 0 {
		return fmt.Errorf("option Retry is %v: expected 0 or more", o.Retry)
	}
	for i, a := range o.Agents {
		switch {
		case !toolset.IsName(a.Name):
			return fmt.Errorf("agent %d has the name %q: expected 1 to 64 letters, digits, - or _", i+1, a.Name)
		case slices.ContainsFunc(o.Agents[:i], func(b Agent) bool { return b.Name == a.Name }):
			return fmt.Errorf("two agents have the name %s: names must differ", a.Name)
		case a.Timeout < 0 || a.StartTimeout < 0:
			return fmt.Errorf("%s: timeouts must not be negative", a.Name)
		}
		if _, err := address(a.URL); err != nil {
			return fmt.Errorf("%s: the URL must have the form http://HOST/PATH or https://HOST/PATH", a.Name)
		}
	}
	return nil
}

// address parses an http or https URL.
func address(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	if u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("not an http or https URL")
	}
	return u, nil
}

func (o Options) withDefaults() Options {
	if o.Getenv == nil {
		o.Getenv = os.LookupEnv
	}
	if o.Retry == 0 {
		o.Retry = defaultRetry
	}
	o.Agents = slices.Clone(o.Agents)
	for i := range o.Agents {
		a := &o.Agents[i]
		if a.Timeout == 0 {
			a.Timeout = DefaultTimeout
		}
		if a.StartTimeout == 0 {
			a.StartTimeout = DefaultStartTimeout
		}
	}
	return o
}
