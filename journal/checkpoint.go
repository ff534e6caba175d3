package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// CheckpointVersion is the schema version of a [Checkpoint]. It rises when an older
// reader would misunderstand a newer checkpoint.
const CheckpointVersion = 1

const checkpointFormat = "hocket checkpoint"

// Checkpoint is a conversation as a store keeps it: its snapshot, and the fields
// that a list shows without reading the snapshot (seed 003, Checkpoint Strategy).
type Checkpoint struct {
	Format    string    `json:"format"` // "hocket checkpoint"
	Version   int       `json:"version"`
	ID        string    `json:"id"`
	Agent     string    `json:"agent,omitempty"`
	Transport string    `json:"transport,omitempty"`
	Owner     string    `json:"owner,omitempty"`    // of the API key that created the conversation
	Caller    string    `json:"caller,omitempty"`   // the person, if known
	Timezone  string    `json:"timezone,omitempty"` // of the conversation: a name of the IANA database, or an offset such as +02:00
	Started   time.Time `json:"started"`
	Saved     time.Time `json:"saved"`
	// AgentDigest is the digest of the agent's files ([EncodeAgent]); empty if not known.
	AgentDigest string `json:"agent_digest,omitempty"`
	// Changes are those of the agent for this conversation, in a form that only the program
	// that made them knows; nil if there are none.
	Changes json.RawMessage `json:"changes,omitempty"`
	Privacy string          `json:"privacy,omitempty"` // of package conv; empty if the words may be stored
	// Awaited reports that a server waits for the client of this conversation. A
	// process that finds the client missing ends the conversation.
	Awaited bool   `json:"awaited,omitempty"`
	Phase   string `json:"phase"`
	Turns   int    `json:"turns"`
	// Ended reports that the conversation is over and cannot be resumed.
	Ended bool `json:"ended,omitempty"`
	// Snapshot is the input of conv.Restore. It contains no words if the
	// conversation's privacy forbids them.
	Snapshot json.RawMessage `json:"snapshot"`
}

// Marshal returns the JSON encoding of the checkpoint.
func (c Checkpoint) Marshal() ([]byte, error) {
	c.Format, c.Version = checkpointFormat, CheckpointVersion
	head := c
	head.Snapshot = nil
	b, err := json.Marshal(head)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	// The snapshot was written by the same encoder and need not be parsed again.
	b = bytes.TrimSuffix(b, []byte("null}"))
	b = append(append(make([]byte, 0, len(b)+len(c.Snapshot)+1), b...), c.Snapshot...)
	return append(b, '}'), nil
}

// ReadCheckpoint decodes the output of [Checkpoint.Marshal].
func ReadCheckpoint(b []byte) (Checkpoint, error) {
	var c Checkpoint
	if err := json.Unmarshal(b, &c); err != nil {
		return Checkpoint{}, fmt.Errorf("checkpoint: invalid JSON: %w", err)
	}
	switch {
	case c.Format != checkpointFormat:
		return Checkpoint{}, fmt.Errorf("checkpoint: field format is %q: expected %q", c.Format, checkpointFormat)
	case c.Version != CheckpointVersion:
		return Checkpoint{}, fmt.Errorf("checkpoint: version is %d: expected %d", c.Version, CheckpointVersion)
	case len(c.Snapshot) == 0:
		return Checkpoint{}, errors.New("checkpoint: field snapshot is missing")
	}
	return c, nil
}
