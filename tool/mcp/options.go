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

// What no option changes.
const (
	maxTools       = 1000    // of one server
	maxResult      = 1 << 20 // bytes of one result
	maxMessage     = 8 << 20 // bytes of one message of a server
	maxProgress    = 500     // bytes of one line of progress
	maxPartial     = 4000    // bytes of what a server has said on its way
	maxDescription = 4 << 10
	maxFailure     = 500 // bytes of what a failure quotes
)

// Options configure [Open]. The zero value of each field but Servers means its
// default.
type Options struct {
	Servers []Server
	// Getenv reads the environment; os.LookupEnv if nil.
	Getenv func(name string) (string, bool)
	// Backoff is the pause before a server that has ended is started again; it
	// doubles, up to half a minute, until a start succeeds.
	Backoff time.Duration
	// Grace is how long a process may take to end by itself when its input is
	// closed, and again after SIGTERM; 2 s if 0.
	Grace time.Duration
}

// Server is one server: a command, or a URL.
type Server struct {
	// Name is how the config and the flows' actions name it.
	Name string

	// Command with Args is run in Dir, with a small environment (PATH, HOME and the
	// like) and the variables that Env names.
	Command string
	Args    []string
	Dir     string
	Env     []string

	// URL is the endpoint of a server that speaks streamable HTTP. The variable
	// KeyEnv, if named, holds the token of its header Authorization.
	URL    string
	KeyEnv string

	// Prefix goes before the names of the server's tools.
	Prefix string
	// Allow lists the tools that are offered, by the server's own names; all if nil.
	Allow []string
	// Policies say more about single tools.
	Policies []Policy

	StartTimeout time.Duration // of a start, the listing of the tools included
	Timeout      time.Duration // of a call; 30 s if 0, 5 min for a long tool
}

// Policy is what the installation knows about one tool.
type Policy struct {
	Tool string // the server's own name
	// Irreversible and Repeatable replace what the server's annotations say about
	// whether a second run of the same call does harm: without either, a tool that
	// is neither annotated as reading only nor as idempotent does.
	Irreversible, Repeatable bool
	// Long marks a delegated agent, Confirm a tool that the user has to say yes to.
	Long, Confirm bool
	Timeout       time.Duration // 0: the server's
}

// Validate reports the first setting that makes no sense.
func (o Options) Validate() error {
	if o.Backoff < 0 || o.Grace < 0 {
		return fmt.Errorf("Backoff is %v and Grace %v, expected 0 or more", o.Backoff, o.Grace)
	}
	seen := make(map[string]bool)
	for i := range o.Servers {
		s := &o.Servers[i]
		if !toolset.IsName(s.Name) {
			return fmt.Errorf("server %d has the name %q, expected 1 to 64 letters, digits, - or _", i+1, s.Name)
		}
		if seen[s.Name] {
			return fmt.Errorf("two servers are called %s: expected another name for each", s.Name)
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
		return fmt.Errorf("expected a command or a URL, one of them")
	case s.URL != "" && (len(s.Args) > 0 || s.Dir != "" || len(s.Env) > 0):
		return fmt.Errorf("arguments, a folder and an environment belong to a command: expected none beside a URL")
	case s.Command != "" && s.KeyEnv != "":
		return fmt.Errorf("a key belongs to a URL: name the variable in the command's environment")
	case s.Prefix != "" && !toolset.IsName(s.Prefix):
		return fmt.Errorf("the prefix is %q, expected letters, digits, - or _", s.Prefix)
	case s.Timeout < 0 || s.StartTimeout < 0:
		return fmt.Errorf("a timeout is below 0, expected 0 (the default) or more")
	}
	if s.URL != "" {
		u, err := url.Parse(s.URL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("the URL is no http://HOST/PATH or https://HOST/PATH")
		}
	}
	for i, p := range s.Policies {
		switch {
		case p.Tool == "":
			return fmt.Errorf("policy %d names no tool", i+1)
		case p.Irreversible && p.Repeatable:
			return fmt.Errorf("tool %s is irreversible and repeatable: expected one of them", p.Tool)
		case p.Timeout < 0:
			return fmt.Errorf("tool %s: the timeout is %v, expected 0 or more", p.Tool, p.Timeout)
		case slices.ContainsFunc(s.Policies[:i], func(q Policy) bool { return q.Tool == p.Tool }):
			return fmt.Errorf("tool %s has two policies: expected one", p.Tool)
		case s.Allow != nil && !slices.Contains(s.Allow, p.Tool):
			return fmt.Errorf("tool %s has a policy and is not allowed", p.Tool)
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

// policy is the one of a tool, or none.
func (s *Server) policy(tool string) Policy {
	for _, p := range s.Policies {
		if p.Tool == tool {
			return p
		}
	}
	return Policy{Tool: tool}
}
