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
	"github.com/hocketvoice/hocket/internal/timezone"
)

// Version is the version of a trace's schema and of the machine's output for the
// same events. It rises when an older trace would be misunderstood or could not be
// replayed.
const Version = 2

// Header is the first line of a trace. It contains all that is needed to step the
// conversation again.
type Header struct {
	Format  string    `json:"format"` // "hocket trace"
	Version int       `json:"version"`
	Config  string    `json:"config"`  // hash of options and agent
	Started time.Time `json:"started"` // start time; the lines' times are relative to it
	// Timezone is the conversation's time zone, as [Checkpoint] has it; without it the offset
	// of Started.
	Timezone string       `json:"timezone,omitempty"`
	Options  conv.Options `json:"options"`         // without the agent
	Agent    []agent.File `json:"agent,omitempty"` // names are relative to the agent's folder
	// Withheld reports that this copy of the trace is for a client and does not
	// contain the agent's files. [Header.With] adds them for a replay.
	Withheld bool `json:"agent_withheld,omitempty"`
	// Restored is the snapshot from which the conversation continued, at Started.
	Restored json.RawMessage `json:"restored,omitempty"`
}

const format = "hocket trace"

// NewHeader returns the header of a conversation that starts now, from its options
// and the files of its agent.
func NewHeader(started time.Time, o conv.Options, agent []agent.File) (Header, error) {
	h := Header{Format: format, Version: Version, Started: started, Options: o, Agent: relative(agent)}
	if started.Location() != time.UTC {
		h.Timezone = timezone.Name(started)
	}
	hash, err := h.hash()
	if err != nil {
		return Header{}, err
	}
	h.Config = hash
	return h, nil
}

// relative makes file names relative to the folder that contains all of them, so
// that a trace does not reveal where the folder is.
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

// With returns the header with the files of its agent, if they were withheld. It
// returns an error if the files are not those that the conversation was held with.
func (h Header) With(files []agent.File) (Header, error) {
	if !h.Withheld {
		return h, nil
	}
	if len(files) == 0 {
		return Header{}, ErrWithheld
	}
	h.Agent, h.Withheld = relative(files), false
	if hash, err := h.hash(); err != nil || hash != h.Config {
		return Header{}, errors.Join(err, errors.New("the agent's files differ from those of the recorded conversation: expected the same files with the same names"))
	}
	return h, nil
}

// ErrWithheld reports that a trace cannot be replayed without the agent's files.
var ErrWithheld = errors.New("the trace does not contain the agent's files: they must be given")

// WithoutAgent removes the agent's files, which belong to the operator, from the
// first line of a trace that is sent to a client. It returns a line without an
// agent unchanged.
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

// hash returns the SHA-256 of options and agent. Equal hashes show that two traces
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

// check returns an error if this reader cannot read the trace.
func (h Header) check() error {
	if h.Format != format {
		return fmt.Errorf("the first line is not a header: field format is %q: expected %q", h.Format, format)
	}
	if h.Version != Version {
		return fmt.Errorf("the trace has version %d: expected %d", h.Version, Version)
	}
	if h.Started.IsZero() {
		return errors.New("field started is missing")
	}
	if h.Withheld { // the hash includes the missing files; With compares it
		if len(h.Agent) > 0 {
			return errors.New("the header contains the agent's files, but field agent_withheld is set")
		}
		return nil
	}
	hash, err := h.hash()
	if err != nil {
		return err
	}
	if hash != h.Config {
		return fmt.Errorf("options and agent do not match the hash %s: the trace was modified", h.Config)
	}
	return nil
}

// Conversation returns a new machine like the one that the trace was recorded from.
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
			return nil, fmt.Errorf("invalid agent in the trace: %s", strings.Join(all, "; "))
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
