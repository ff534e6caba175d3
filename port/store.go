package port

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Store keeps the last snapshot of each conversation. It is safe for concurrent use
// by several goroutines and processes.
type Store interface {
	// Save replaces the snapshot of a conversation. It fails with [ErrFenced] and
	// changes nothing if the conversation was claimed again after h, or deleted
	// since. A hold without a token may write a conversation that nobody has
	// claimed.
	Save(ctx context.Context, h Hold, snapshot []byte) error
	// Load returns the snapshot of a conversation. ok is false if there is none.
	Load(ctx context.Context, id string) (snapshot []byte, ok bool, err error)
	// Delete removes all data of a conversation: snapshot, journal, recording, claim, tokens and
	// the files of an agent that no other conversation has. It returns nil if the conversation does not exist.
	Delete(ctx context.Context, id string) error
}

// Journal stores the trace of each conversation in numbered pieces. It is safe for
// concurrent use by several goroutines and processes.
type Journal interface {
	// Append adds a piece. The writer numbers the pieces from 1. If the number
	// already exists, Append changes nothing, so that a writer can retry a write
	// whose outcome it does not know. It fails with [ErrFenced] as [Store.Save]
	// does.
	Append(ctx context.Context, h Hold, number int, records []byte) error
	// Read calls each with the pieces of a conversation in ascending order of their
	// numbers, and stops at the first error. The bytes are valid only during the
	// call.
	Read(ctx context.Context, id string, each func(number int, records []byte) error) error
}

// Recordings stores the sound of each conversation in numbered pieces, beside the journal
// and under the same rules.
type Recordings interface {
	// Recordings returns the recordings of the store. [Store.Delete] and [Archive] delete
	// them with their conversations.
	Recordings() Journal
}

// Versions stores the files of agents under their digests, for the conversations that
// are held with them. It is safe for concurrent use by several goroutines and processes.
type Versions interface {
	// KeepVersion stores the files of the agent that a conversation is held with, until
	// no conversation has them: a conversation has those it was given last, and loses
	// them when it is deleted. If the digest exists, its files stay as they are. The hold
	// must have a token; KeepVersion fails with [ErrFenced] as [Store.Save] does.
	KeepVersion(ctx context.Context, h Hold, digest string, files []byte) error
	// LoadVersion returns the files of a digest. ok is false if there are none.
	LoadVersion(ctx context.Context, digest string) (files []byte, ok bool, err error)
}

// Archive lists and deletes stored conversations, for maintenance. It is safe for
// concurrent use by several goroutines and processes.
type Archive interface {
	// List returns the snapshots that were saved last, the newest first, at most
	// limit of them.
	List(ctx context.Context, limit int) ([]Entry, error)
	// Expire deletes, as [Store.Delete] does, the conversations that were saved
	// longer ago than age and that no living node holds. Data of conversations
	// without a snapshot is deleted at the same age. Expire returns the number of
	// deleted conversations; if it fails, some may already be deleted.
	Expire(ctx context.Context, age time.Duration) (deleted int, err error)
}

// Entry describes a stored snapshot.
type Entry struct {
	ID    string
	Saved time.Time // UTC
	Size  int       // in bytes
	// Marked reports whether the conversation has a mark that was looked for: see
	// [Callers].
	Marked bool
}

// Callers finds the conversations of a caller without reading all snapshots. A mark
// stands for a caller; its bytes are chosen by who uses the store. It is safe for
// concurrent use by several goroutines and processes.
type Callers interface {
	// Mark gives a conversation the mark of its caller, in place of the one before, until
	// the conversation is deleted. It does nothing if the conversation has no snapshot.
	Mark(ctx context.Context, id string, mark []byte) error
	// Marked returns, the newest first, the snapshots of conversations that have one of
	// the marks, and of those of which it is not known: they have no mark, or one that
	// begins with none of the prefixes.
	Marked(ctx context.Context, marks, prefixes [][]byte) ([]Entry, error)
}

// Hold is the right to write a conversation. Token rises with each claim; it is 0
// if only one process uses the store.
type Hold struct {
	ID    string
	Token int64
}

// ErrFenced reports a write by a process that no longer holds the conversation.
var ErrFenced = errors.New("another process now holds the conversation")

// Registry records the processes (nodes) that share a store, which node holds which
// conversation, and the tokens with which clients return. Times are measured by the
// store's clock. It is safe for concurrent use.
type Registry interface {
	// Beat marks a node as alive for ttl from now. Other nodes may claim the
	// conversations of a node whose ttl has passed.
	Beat(ctx context.Context, n Node, ttl time.Duration) error
	// Nodes returns the nodes that are alive, ordered by their ids.
	Nodes(ctx context.Context) ([]Node, error)
	// Leave removes a node. Its conversations may be claimed at once.
	Leave(ctx context.Context, node string) error

	// Claim gives a conversation, new or stored, to a living node. It fails with a
	// [*HeldError] if another living node holds it. A node may claim a conversation
	// that it already holds; the token rises.
	Claim(ctx context.Context, id, node string) (Hold, error)
	// Holder returns the living node that holds a conversation. ok is false if
	// there is none.
	Holder(ctx context.Context, id string) (n Node, ok bool, err error)
	// Release gives up a conversation. If ended is set, the conversation will not
	// continue and its tokens are deleted. Release does nothing if the hold is no
	// longer valid.
	Release(ctx context.Context, h Hold, ended bool) error
	// Fenced returns those of the holds that are no longer valid, under which
	// writes are refused. The holds must have tokens.
	Fenced(ctx context.Context, holds []Hold) ([]Hold, error)
	// Abandoned returns conversations that were claimed, have not ended, and have
	// been neither held nor saved for the duration idle. The oldest comes first; at
	// most limit are returned.
	Abandoned(ctx context.Context, idle time.Duration, limit int) ([]string, error)

	// Grant replaces the tokens of a conversation. It fails with [ErrFenced] as
	// [Store.Save] does.
	Grant(ctx context.Context, h Hold, g Grant) error
	// Access returns the conversation that an access token is valid for.
	Access(ctx context.Context, digest []byte) (id string, ok bool, err error)
	// Resume returns the conversation that a resume token is valid for.
	Resume(ctx context.Context, digest []byte) (id string, ok bool, err error)
	// Redeem invalidates a resume token. Of several calls with the same token, one
	// returns true.
	Redeem(ctx context.Context, digest []byte) (ok bool, err error)
}

// Tokens are the digests of a client's tokens: Access allows requests for its
// conversation, Resume allows returning to it. An empty digest means that there is
// no such token.
type Tokens struct{ Access, Resume []byte }

// Grant holds the tokens of a conversation: those that the client was given last,
// and those that it used to request them. The response may be lost, together with
// the process that sent it; the earlier tokens therefore stay valid until the
// client uses the new ones.
type Grant struct {
	Now Tokens
	// Before are the earlier tokens that stay valid; there are none if Resume is
	// empty. If Access is empty, the store uses the one that it has with Resume.
	Before Tokens
}

// Node is a process that holds conversations.
type Node struct {
	ID  string
	URL string // where other nodes reach it; may be empty
}

// HeldError reports a claim for a conversation that another node holds.
type HeldError struct{ Node Node }

// Error returns a message that names the node.
func (e *HeldError) Error() string {
	return fmt.Sprintf("the conversation is held by node %s", e.Node.ID)
}

// Tickets stores the values of short-lived secrets under the digests of the
// secrets, so that a reader of the store cannot use them. Each kind has its own
// namespace. Times are measured by the store's clock. It is safe for concurrent use
// by several goroutines and processes.
type Tickets interface {
	// KeepTicket stores the value of a ticket for ttl from now. If the ticket
	// exists or was spent, KeepTicket changes nothing, so that a caller can retry a
	// call whose outcome it does not know. It fails with [ErrTickets] if about most
	// tickets of the kind are waiting.
	KeepTicket(ctx context.Context, kind string, digest, value []byte, ttl time.Duration, most int) error
	// FindTicket returns the value of a ticket. ok is false if the ticket does not
	// exist, has expired or was spent.
	FindTicket(ctx context.Context, kind string, digest []byte) (value []byte, ok bool, err error)
	// SpendTicket returns the value of a ticket and invalidates it. Of several
	// calls with the same ticket, one returns the value.
	SpendTicket(ctx context.Context, kind string, digest []byte) (value []byte, ok bool, err error)
}

// ErrTickets reports that too many tickets of a kind are waiting.
var ErrTickets = errors.New("too many tickets are waiting")
