package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
)

// Version is the schema of a trace, and of what a machine makes of the same events. It
// rises when a trace of before would be misunderstood, or could not be replayed.
const Version = 2

// Header is the first line of a trace: all that is needed to step it again.
type Header struct {
	Format  string       `json:"format"` // "hocket trace"
	Version int          `json:"version"`
	Config  string       `json:"config"`          // hash of options and agent
	Started time.Time    `json:"started"`         // what the lines' times count from
	Options conv.Options `json:"options"`         // without the agent
	Agent   []agent.File `json:"agent,omitempty"` // their names are relative to the agent's folder
	// Withheld: the agent's files are not in this copy, which is for a client. It replays
	// with the files, see [Header.With].
	Withheld bool `json:"agent_withheld,omitempty"`
	// Restored is the snapshot that the conversation went on from, at Started.
	Restored json.RawMessage `json:"restored,omitempty"`
}

const format = "hocket trace"

// NewHeader describes a conversation that starts now: its options, and the
// files that its agent was made of.
func NewHeader(started time.Time, o conv.Options, agent []agent.File) (Header, error) {
	h := Header{Format: format, Version: Version, Started: started, Options: o, Agent: relative(agent)}
	hash, err := h.hash()
	if err != nil {
		return Header{}, err
	}
	h.Config = hash
	return h, nil
}

// relative names files from the folder that holds all of them: where that is on the
// machine is nobody's business.
func relative(files []agent.File) []agent.File {
	if len(files) == 0 {
		return nil
	}
	var folder []string
	out := make([]agent.File, len(files))
	for i, f := range files {
		parts := strings.Split(path.Clean(strings.ReplaceAll(f.Name, "\\", "/")), "/")
		dir := parts[:len(parts)-1]
		if i == 0 {
			folder = dir
		}
		n := 0
		for n < min(len(folder), len(dir)) && folder[n] == dir[n] {
			n++
		}
		folder = folder[:n]
		out[i] = agent.File{Name: strings.Join(parts, "/"), Data: f.Data}
	}
	for i := range out {
		out[i].Name = strings.Join(strings.Split(out[i].Name, "/")[len(folder):], "/")
		if path.IsAbs(out[i].Name) {
			out[i].Name = path.Base(out[i].Name)
		}
	}
	return out
}

// With is the header with the files of its agent, where they were withheld. It reports
// files that are not those the conversation was held with.
func (h Header) With(files []agent.File) (Header, error) {
	if !h.Withheld {
		return h, nil
	}
	if len(files) == 0 {
		return Header{}, ErrWithheld
	}
	h.Agent, h.Withheld = relative(files), false
	if hash, err := h.hash(); err != nil || hash != h.Config {
		return Header{}, errors.Join(err, errors.New("the agent is not the one that the trace was recorded with: expected the same files under the same names"))
	}
	return h, nil
}

// ErrWithheld says that a trace cannot be replayed as it is.
var ErrWithheld = errors.New("the trace is a client's and holds no agent: the agent's files must be given")

// WithoutAgent is the first line of a trace for a client: the agent's files are the
// operator's. A trace without an agent stays as it is.
func WithoutAgent(line []byte) ([]byte, error) {
	var h Header
	if err := json.Unmarshal(line, &h); err != nil {
		return nil, fmt.Errorf("trace header: %w", err)
	}
	h.Agent, h.Withheld = nil, h.Withheld || len(h.Agent) > 0
	b, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("trace header: %w", err)
	}
	return append(b, '\n'), nil
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
	if h.Withheld { // the hash is of what is not here: With compares it
		if len(h.Agent) > 0 {
			return errors.New("the header has the agent's files, and says that they are withheld")
		}
		return nil
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
	if h.Withheld {
		return nil, ErrWithheld
	}
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
