package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
)

// Version is the schema of a trace. It rises when an older reader would
// misunderstand a newer trace.
const Version = 1

// Header is the first line of a trace: all that is needed to step it again.
type Header struct {
	Format  string       `json:"format"` // "hocket trace"
	Version int          `json:"version"`
	Config  string       `json:"config"`  // hash of options and agent
	Started time.Time    `json:"started"` // what the lines' times count from
	Options conv.Options `json:"options"` // without the agent
	Agent   []agent.File `json:"agent,omitempty"`
	// Restored is the snapshot that the conversation went on from, at Started.
	Restored json.RawMessage `json:"restored,omitempty"`
}

const format = "hocket trace"

// NewHeader describes a conversation that starts now: its options, and the
// files that its agent was made of.
func NewHeader(started time.Time, o conv.Options, agent []agent.File) (Header, error) {
	h := Header{Format: format, Version: Version, Started: started, Options: o, Agent: agent}
	hash, err := h.hash()
	if err != nil {
		return Header{}, err
	}
	h.Config = hash
	return h, nil
}

// hash is the SHA-256 of options and agent, so that two traces can be told to
// come from the same configuration.
func (h Header) hash() (string, error) {
	b, err := json.Marshal(struct {
		Options conv.Options
		Agent   []agent.File
	}{h.Options, h.Agent})
	if err != nil {
		return "", fmt.Errorf("trace header: %w", err)
	}
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// check reports a header that this reader cannot follow.
func (h Header) check() error {
	if h.Format != format {
		return fmt.Errorf("the first line is no header: field format is %q, expected %q", h.Format, format)
	}
	if h.Version != Version {
		return fmt.Errorf("the trace has version %d, expected %d", h.Version, Version)
	}
	if h.Started.IsZero() {
		return errors.New("the header has no field started")
	}
	hash, err := h.hash()
	if err != nil {
		return err
	}
	if hash != h.Config {
		return fmt.Errorf("options and agent do not match their hash %s: the trace was changed", h.Config)
	}
	return nil
}

// Conversation makes the machine that the trace was recorded from.
func (h Header) Conversation() (*conv.Conversation, error) {
	o := h.Options
	if len(h.Agent) > 0 {
		agent, problems := dialog.Parse(h.Agent)
		if agent == nil {
			var all []string
			for _, p := range problems {
				all = append(all, p.String())
			}
			return nil, fmt.Errorf("the agent in the trace does not load: %s", strings.Join(all, "; "))
		}
		o.Agent = agent
	}
	if len(h.Restored) == 0 {
		return conv.New(o)
	}
	c, err := conv.Restore(o, h.Restored)
	if err != nil {
		return nil, err
	}
	c.Wake(h.Started)
	return c, nil
}
