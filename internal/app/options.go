package app

import (
	"cmp"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/leg/sip"
	"github.com/hocketvoice/hocket/server/gate"
	"github.com/hocketvoice/hocket/server/hub"
)

// Options is a configuration as options of the packages that it configures.
type Options struct {
	settings.Options
	Speech config.Speech // with default engines
	Model  config.Model  // zero if there is none
	// Upstream is zero if there is none.
	Upstream config.Upstream
	Server   config.Server // with defaults
	Tools    ToolOptions
	Store    config.Store

	Recording config.Recording // its limit filled in
}

// The default engines.
const (
	DefaultRecognizer  = "pocketsphinx"
	DefaultSynthesizer = "flite"
	DefaultDetector    = "auto" // silero if its weights are available, otherwise energy
	DefaultEndOfTurn   = "auto" // smartturn if it is installed, otherwise nothing
)

// NewOptions converts a config to options. Values that the config does not set stay zero,
// which selects the packages' defaults. The error is a [config.Problems]: the errors of
// the packages with the names of the config and the positions in its file.
func NewOptions(c *config.Config) (Options, error) {
	o := Options{
		Options: settings.New(c),
		Speech:  speech(c.Speech),
		Model:   c.Model,

		Upstream: c.Upstream,

		Server: server(c.Server),
		Store:  c.Store,

		Recording: c.Recording,
	}
	o.Recording.Limit = cmp.Or(o.Recording.Limit, config.Duration(DefaultRecording))
	o.Tools = ToolOptions{Tools: c.Tools, Model: c.Model, Limits: o.Conversation.Limits}
	return o, validate(c, o)
}

// LoadOptions loads a config file and converts it to options. The error contains all
// problems of the file.
func LoadOptions(path string) (Options, error) {
	c, err := config.Load(path)
	if c == nil {
		return Options{}, err
	}
	o, also := NewOptions(c)
	return o, settings.Join(err, also)
}

// The defaults of a server.
const (
	DefaultAddr             = "127.0.0.1:8080"
	DefaultKeysEnv          = "HOCKET_API_KEYS"
	DefaultMaxConversations = 100
	DefaultMaxStreams       = 100 // event streams of one owner
	DefaultDrain            = 20 * time.Second
	DefaultResume           = 5 * time.Minute
	DefaultRecording        = 30 * time.Minute // of one conversation
)

func server(s config.Server) config.Server {
	s.Addr = cmp.Or(s.Addr, DefaultAddr)
	s.Keys.Env = cmp.Or(s.Keys.Env, DefaultKeysEnv)
	s.MaxConversations = cmp.Or(s.MaxConversations, DefaultMaxConversations)
	s.MaxStreams = cmp.Or(s.MaxStreams, DefaultMaxStreams)
	s.MaxLateness = cmp.Or(s.MaxLateness, config.Duration(hub.DefaultMaxLateness))
	s.MaxConnections = cmp.Or(s.MaxConnections, gate.DefaultMost)
	s.MaxConnectionsPerAddress = cmp.Or(s.MaxConnectionsPerAddress, gate.DefaultPerAddress)
	s.Drain = cmp.Or(s.Drain, config.Wait(DefaultDrain))
	s.Resume = cmp.Or(s.Resume, config.Duration(DefaultResume))
	s.SIP.MaxHold = cmp.Or(s.SIP.MaxHold, config.Duration(sip.DefaultMaxHold))
	s.SIP.Register = slices.Clone(s.SIP.Register)
	for i := range s.SIP.Register {
		r := &s.SIP.Register[i]
		r.Expires = cmp.Or(r.Expires, config.Duration(sip.DefaultExpires))
	}
	return s
}

func speech(s config.Speech) config.Speech {
	s.Recognizer = cmp.Or(s.Recognizer, DefaultRecognizer)
	s.Synthesizer = cmp.Or(s.Synthesizer, DefaultSynthesizer)
	s.Detector = cmp.Or(s.Detector, DefaultDetector)
	s.EndOfTurn = cmp.Or(s.EndOfTurn, DefaultEndOfTurn)
	return s
}
