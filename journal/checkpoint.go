package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// CheckpointVersion is the schema of a [Checkpoint]. It rises when an older reader
// would misunderstand a newer one.
const CheckpointVersion = 1

const checkpointFormat = "hocket checkpoint"

// Checkpoint is a conversation as a store keeps it: its snapshot, and what a list
// shows of it without reading that (seed 003, Checkpoint Strategy).
type Checkpoint struct {
	Format    string    `json:"format"` // "hocket checkpoint"
	Version   int       `json:"version"`
	ID        string    `json:"id"`
	Agent     string    `json:"agent,omitempty"`
	Transport string    `json:"transport,omitempty"`
	Owner     string    `json:"owner,omitempty"`  // of the API key that it was begun with
	Caller    string    `json:"caller,omitempty"` // who holds it, if that is known
	Started   time.Time `json:"started"`
	Saved     time.Time `json:"saved"`
	Privacy   string    `json:"privacy,omitempty"` // of package conv; empty: the words may be kept
	// Awaited: a server waits for the client of this conversation, and whoever finds
	// that nobody came back ends it.
	Awaited bool   `json:"awaited,omitempty"`
	Phase   string `json:"phase"`
	Turns   int    `json:"turns"`
	// Ended: the conversation is over, and cannot be resumed.
	Ended bool `json:"ended,omitempty"`
	// Snapshot is what conv.Restore reads. Where the conversation's privacy forbids
	// words, it holds none.
	Snapshot json.RawMessage `json:"snapshot"`
}

// Marshal writes a checkpoint.
func (c Checkpoint) Marshal() ([]byte, error) {
	c.Format, c.Version = checkpointFormat, CheckpointVersion
	head := c
	head.Snapshot = nil
	b, err := json.Marshal(head)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	// The snapshot was written by the same encoder: it is not read again.
	b = bytes.TrimSuffix(b, []byte("null}"))
	b = append(append(make([]byte, 0, len(b)+len(c.Snapshot)+1), b...), c.Snapshot...)
	return append(b, '}'), nil
}

// ReadCheckpoint reads what Marshal wrote.
func ReadCheckpoint(b []byte) (Checkpoint, error) {
	var c Checkpoint
	if err := json.Unmarshal(b, &c); err != nil {
		return Checkpoint{}, fmt.Errorf("checkpoint: it is no valid JSON of one: %w", err)
	}
	switch {
	case c.Format != checkpointFormat:
		return Checkpoint{}, fmt.Errorf("checkpoint: field format is %q, expected %q", c.Format, checkpointFormat)
	case c.Version != CheckpointVersion:
		return Checkpoint{}, fmt.Errorf("checkpoint: it has version %d, expected %d", c.Version, CheckpointVersion)
	case len(c.Snapshot) == 0:
		return Checkpoint{}, errors.New("checkpoint: it has no snapshot")
	}
	return c, nil
}
