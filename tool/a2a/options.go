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

// What no option changes.
const (
	maxCard        = 1 << 20 // bytes of a card
	maxResult      = 1 << 20 // bytes of a result
	maxMessage     = 8 << 20 // bytes of one answer
	maxProgress    = 500     // bytes of one piece of progress
	maxFailure     = 500     // bytes of what a failure quotes
	maxDescription = 4 << 10
	maxArtifacts   = 500
	goodbye        = 5 * time.Second // for calling a task off
)

// Options configure [Open]. The zero value of each field but Agents means its
// default.
type Options struct {
	Agents []Agent
	// Getenv reads the environment; os.LookupEnv if nil.
	Getenv func(name string) (string, bool)
	// Retry is the pause before a task whose connection broke, or of an agent that
	// does not stream, is asked for; it doubles, up to 10 s, until there is news.
	Retry time.Duration
}

// Agent is one agent as a tool.
type Agent struct {
	// Name is the tool's; Description what it does, the card's own if "".
	Name, Description string
	// URL is that of the agent's card, or of the server whose card lies where the
	// protocol says. The variable KeyEnv, if named, holds the token of the header
	// Authorization.
	URL    string
	KeyEnv string
	// Repeatable: a second run does no harm. Confirm: the user has to say yes first.
	Repeatable, Confirm bool

	StartTimeout time.Duration // for the card
	Timeout      time.Duration // of a call
}

// Validate reports the first setting that makes no sense.
func (o Options) Validate() error {
	if o.Retry < 0 {
		return fmt.Errorf("Retry is %v, expected 0 or more", o.Retry)
	}
	for i, a := range o.Agents {
		switch {
		case !toolset.IsName(a.Name):
			return fmt.Errorf("agent %d has the name %q, expected 1 to 64 letters, digits, - or _", i+1, a.Name)
		case slices.ContainsFunc(o.Agents[:i], func(b Agent) bool { return b.Name == a.Name }):
			return fmt.Errorf("two agents are called %s: expected another name for each", a.Name)
		case a.Timeout < 0 || a.StartTimeout < 0:
			return fmt.Errorf("%s: a timeout is below 0, expected 0 (the default) or more", a.Name)
		}
		if _, err := address(a.URL); err != nil {
			return fmt.Errorf("%s: the URL is no http://HOST/PATH or https://HOST/PATH", a.Name)
		}
	}
	return nil
}

// address reads an address of the web.
func address(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	if u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("no address of the web")
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
