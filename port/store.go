package port

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Store keeps the last snapshot of each conversation. It is safe for concurrent
// use, of several processes too.
type Store interface {
	// Save replaces the snapshot of a conversation. It fails with [ErrFenced], and
	// changes nothing, when a later claim than the hold's has been made, or when the
	// conversation was deleted since it was claimed. A hold without a token writes
	// where nobody has claimed the conversation.
	Save(ctx context.Context, h Hold, snapshot []byte) error
	// Load returns it; ok is false where there is none.
	Load(ctx context.Context, id string) (snapshot []byte, ok bool, err error)
	// Delete removes all that is kept of a conversation: snapshot, journal, claim and
	// tokens. Deleting what is not there is no error.
	Delete(ctx context.Context, id string) error
}

// Journal keeps what happened in each conversation, step by step: the trace, in
// pieces. It is safe for concurrent use, of several processes too.
type Journal interface {
	// Append adds a piece, under a number that the writer counts from 1. A number
	// that is there already is left as it is: who does not know whether a piece was
	// written writes it again. It is fenced as [Store.Save] is.
	Append(ctx context.Context, h Hold, number int, records []byte) error
	// Read calls each with the pieces of a conversation in the order of their
	// numbers, until it fails. The bytes are lent for the call.
	Read(ctx context.Context, id string, each func(number int, records []byte) error) error
}

// Archive is what those who look after a store have of it. It is safe for concurrent
// use, of several processes too.
type Archive interface {
	// List tells of the snapshots that were saved last, the newest first, at most
	// limit.
	List(ctx context.Context, limit int) ([]Entry, error)
	// Expire deletes, as [Store.Delete] does, the conversations that were last saved
	// longer ago than age and that no living node holds; and of those of which
	// nothing was saved what else is as old. It returns how many there were; where it
	// fails some may be deleted already.
	Expire(ctx context.Context, age time.Duration) (deleted int, err error)
}

// Entry tells of a snapshot without reading it.
type Entry struct {
	ID    string
	Saved time.Time // UTC
	Size  int       // in bytes
}

// Hold is the right to write a conversation. Token rises with each claim; 0 is
// that of a store's only process.
type Hold struct {
	ID    string
	Token int64
}

// ErrFenced refuses what somebody writes who no longer holds the conversation.
var ErrFenced = errors.New("the conversation is held by another process now")

// Registry knows the processes (nodes) that share a store, which of them holds a
// conversation, and the tokens with which its client comes back. Its clock is the
// store's. It is safe for concurrent use.
type Registry interface {
	// Beat keeps a node alive for a time from now on. What a node holds that does
	// not beat any more may be claimed by others.
	Beat(ctx context.Context, n Node, ttl time.Duration) error
	// Nodes are those that are alive, ordered by their ids.
	Nodes(ctx context.Context) ([]Node, error)
	// Leave ends a node: what it holds may be claimed at once.
	Leave(ctx context.Context, node string) error

	// Claim gives a conversation, new or kept, to a node that is alive. It fails with
	// a [*HeldError] while another one holds it that is. A node may claim again what
	// it holds: the token rises.
	Claim(ctx context.Context, id, node string) (Hold, error)
	// Holder is the node that holds a conversation; ok is false where none that is
	// alive does.
	Holder(ctx context.Context, id string) (n Node, ok bool, err error)
	// Release gives a conversation up; ended says that nobody will go on with it: its
	// tokens are forgotten. A hold that is no longer good changes nothing.
	Release(ctx context.Context, h Hold, ended bool) error
	// Fenced are those of the holds that are no longer good: what is written under them
	// is refused. They must have tokens.
	Fenced(ctx context.Context, holds []Hold) ([]Hold, error)
	// Abandoned are conversations that were claimed once and are not ended, and that
	// nobody has held or saved for a time, the oldest first, at most limit.
	Abandoned(ctx context.Context, idle time.Duration, limit int) ([]string, error)

	// Grant replaces the tokens of a conversation. It is fenced.
	Grant(ctx context.Context, h Hold, g Grant) error
	// Access is the conversation that an access token is good for.
	Access(ctx context.Context, digest []byte) (id string, ok bool, err error)
	// Resume is the conversation that a resume token is good for.
	Resume(ctx context.Context, digest []byte) (id string, ok bool, err error)
	// Redeem takes a resume token back: of several calls one gets true.
	Redeem(ctx context.Context, digest []byte) (ok bool, err error)
}

// Tokens are the digests of what a client has: access is good for its conversation, resume
// for coming back to it. An empty digest is none.
type Tokens struct{ Access, Resume []byte }

// Grant are the tokens of a conversation: those that its client was given last, and those
// with which it has asked for them. An answer may be lost on its way, with the process that
// gave it: until the client has used what it was given, what it had before stays good.
type Grant struct {
	Now Tokens
	// Before are the tokens that stay good; none if Resume is empty. Where Access is not
	// known, it is the one that the store has beside Resume.
	Before Tokens
}

// Node is a process that holds conversations.
type Node struct {
	ID  string
	URL string // where the other nodes reach it; may be empty
}

// HeldError refuses a claim: another node holds the conversation.
type HeldError struct{ Node Node }

// Error names the node.
func (e *HeldError) Error() string {
	return fmt.Sprintf("the conversation is held by node %s", e.Node.ID)
}

// Tickets keeps what secrets of a short life are good for, by their digests: whoever reads
// the store must not be able to use them. Kinds are apart from each other. Its clock is the
// store's. It is safe for concurrent use, of several processes too.
type Tickets interface {
	// KeepTicket keeps what a ticket is good for, for a time from now on. One that is
	// there, or was spent, stays as it is: who does not know whether it was kept keeps it
	// again. It fails with [ErrTickets] where most of its kind, or about as many, wait
	// already.
	KeepTicket(ctx context.Context, kind string, digest, value []byte, ttl time.Duration, most int) error
	// FindTicket returns what a ticket is good for; ok is false where it is not, or no
	// longer.
	FindTicket(ctx context.Context, kind string, digest []byte) (value []byte, ok bool, err error)
	// SpendTicket is FindTicket for the last time: of several calls one gets the value.
	SpendTicket(ctx context.Context, kind string, digest []byte) (value []byte, ok bool, err error)
}

// ErrTickets refuses a ticket where there are too many.
var ErrTickets = errors.New("too many tickets wait to be used")
