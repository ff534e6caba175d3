package mcp

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/internal/toolset"
)

// The defaults of [Options] and [Server].
const (
	DefaultTimeout      = 30 * time.Second
	DefaultLongTimeout  = 5 * time.Minute
	DefaultStartTimeout = 30 * time.Second
	DefaultBackoff      = 500 * time.Millisecond
	longestBackoff      = 30 * time.Second
)

// Fixed limits.
const (
	maxTools       = 1000    // of one server
	maxResult      = 1 << 20 // bytes of a result
	maxMessage     = 8 << 20 // bytes of a server's message
	maxProgress    = 500     // bytes of a progress text
	maxPartial     = 4000    // bytes of progress kept as a partial result
	maxDescription = 4 << 10
	maxFailure     = 500 // bytes quoted in a failure
)

// Options configures [Open]. Servers is required; zero values of the other fields
// select the defaults.
type Options struct {
	Servers []Server
	// Getenv looks up environment variables; os.LookupEnv if nil.
	Getenv func(name string) (string, bool)
	// Backoff is the delay before a server that has exited is restarted; it doubles
	// up to 30 s until a start succeeds.
	Backoff time.Duration
	// Grace is the time for a process to exit by itself after its input is closed,
	// and again after SIGTERM; 2 s if 0.
	Grace time.Duration
}

// Server is one server: a command or a URL.
type Server struct {
	// Name identifies the server in the config and in the flows' actions.
	Name string

	// Command is run with Args in Dir. Its environment consists of basic variables
	// (PATH, HOME and others) and those named in Env.
	Command string
	Args    []string
	Dir     string
	Env     []string

	// URL is the endpoint of a server with streamable HTTP. KeyEnv, if not empty,
	// is the variable with the token for the Authorization header.
	URL    string
	KeyEnv string

	// Prefix is prepended to the names of the server's tools.
	Prefix string
	// Allow lists the server's names of the tools that are offered; all if nil.
	Allow []string
	// Policies configures individual tools.
	Policies []Policy

	StartTimeout time.Duration // for a start, including the list of tools
	Timeout      time.Duration // for a call; 30 s if 0, or 5 min for a long tool
}

// Policy configures one tool.
type Policy struct {
	Tool string // the server's name of the tool
	// Irreversible and Repeatable override the server's annotations about whether a
	// call may safely run twice. Without either, a tool without a read-only or
	// idempotent annotation counts as irreversible.
	Irreversible, Repeatable bool
	// Long marks a delegated agent, Confirm a tool that needs the user's consent.
	Long, Confirm bool
	Timeout       time.Duration // the server's if 0
}

// Validate returns an error for the first invalid option.
func (o Options) Validate() error {
	if o.Backoff < 0 || o.Grace < 0 {
		return fmt.Errorf("option Backoff is %v and Grace %v: expected 0 or more", o.Backoff, o.Grace)
	}
	seen := make(map[string]bool)
	for i := range o.Servers {
		s := &o.Servers[i]
		if !toolset.IsName(s.Name) {
			return fmt.Errorf("server %d has the name %q: expected 1 to 64 letters, digits, - or _", i+1, s.Name)
		}
		if seen[s.Name] {
			return fmt.Errorf("two servers have the name %s: names must differ", s.Name)
		}
		seen[s.Name] = true
		if err := s.validate(); err != nil {
			return fmt.Errorf("server %s: %w", s.Name, err)
		}
	}
	return nil
}

func (s *Server) validate() error {
	switch {
	case (s.Command == "") == (s.URL == ""):
		return fmt.Errorf("exactly one of command and URL must be set")
	case s.URL != "" && (len(s.Args) > 0 || s.Dir != "" || len(s.Env) > 0):
		return fmt.Errorf("arguments, folder and environment require a command")
	case s.Command != "" && s.KeyEnv != "":
		return fmt.Errorf("a key requires a URL: a command gets it through its environment")
	case s.Prefix != "" && !toolset.IsName(s.Prefix):
		return fmt.Errorf("the prefix is %q: expected letters, digits, - or _", s.Prefix)
	case s.Timeout < 0 || s.StartTimeout < 0:
		return fmt.Errorf("timeouts must not be negative")
	}
	if s.URL != "" {
		u, err := url.Parse(s.URL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("the URL must have the form http://HOST/PATH or https://HOST/PATH")
		}
	}
	return s.validatePolicies()
}

func (s *Server) validatePolicies() error {
	for i, p := range s.Policies {
		switch {
		case p.Tool == "":
			return fmt.Errorf("policy %d has no tool", i+1)
		case p.Irreversible && p.Repeatable:
			return fmt.Errorf("tool %s must not be both irreversible and repeatable", p.Tool)
		case p.Timeout < 0:
			return fmt.Errorf("tool %s: the timeout is %v: expected 0 or more", p.Tool, p.Timeout)
		case slices.ContainsFunc(s.Policies[:i], func(q Policy) bool { return q.Tool == p.Tool }):
			return fmt.Errorf("tool %s has two policies", p.Tool)
		case s.Allow != nil && !slices.Contains(s.Allow, p.Tool):
			return fmt.Errorf("tool %s has a policy but is not allowed", p.Tool)
		}
	}
	return nil
}

func (o Options) withDefaults() Options {
	if o.Getenv == nil {
		o.Getenv = os.LookupEnv
	}
	if o.Backoff == 0 {
		o.Backoff = DefaultBackoff
	}
	if o.Grace == 0 {
		o.Grace = 2 * time.Second
	}
	o.Servers = slices.Clone(o.Servers)
	for i := range o.Servers {
		s := &o.Servers[i]
		if s.StartTimeout == 0 {
			s.StartTimeout = DefaultStartTimeout
		}
	}
	return o
}

// policy returns the policy of a tool, or the zero value.
func (s *Server) policy(tool string) Policy {
	for _, p := range s.Policies {
		if p.Tool == tool {
			return p
		}
	}
	return Policy{Tool: tool}
}
