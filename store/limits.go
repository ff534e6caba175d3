package store

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hocketvoice/hocket/port"
)

// Fixed limits, in bytes.
const (
	// MaxID bounds the id of a conversation or a node.
	MaxID = 512
	// LargestSnapshot is the maximum of the option MaxSnapshot of stores. The limit of
	// PostgreSQL itself is 1 GB, that of SQLite 1e9 bytes.
	LargestSnapshot = 256 << 20

	maxURL    = 2048 // the address of a node
	maxDigest = 64   // the digest of a token or a ticket
)

// DefaultMaxSnapshot is the default of the option MaxSnapshot of stores, in bytes.
const DefaultMaxSnapshot = 4 << 20

// Forgotten is how long after its death a node that holds no conversation is deleted.
const Forgotten = time.Hour

// CheckMost returns an error if the option MaxSnapshot is invalid. 0 selects the default.
func CheckMost(most int) error {
	if most < 0 || most > LargestSnapshot {
		return fmt.Errorf("store: MaxSnapshot is %d: expected 0 to %d bytes", most, LargestSnapshot)
	}
	return nil
}

// CheckID returns an error if the id of a conversation or a node is empty or too long.
func CheckID(id string) error {
	if id == "" || len(id) > MaxID {
		return fmt.Errorf("the id has %d bytes: expected 1 to %d", len(id), MaxID)
	}
	return nil
}

// CheckSize returns an error if what, for example a snapshot, has more than most bytes.
func CheckSize(what string, n, most int) error {
	if n > most {
		return fmt.Errorf("the %s has %d bytes: expected at most %d", what, n, most)
	}
	return nil
}

// CheckPiece returns an error if a piece of a journal is too long or has an invalid id or
// number.
func CheckPiece(id string, number, n, most int) error {
	err := errors.Join(CheckID(id), CheckSize("piece", n, most))
	if number < 1 {
		err = errors.Join(err, fmt.Errorf("the number of the piece is %d: expected 1 or more", number))
	}
	return err
}

// CheckVersion returns an error if the digest of an agent's version is empty or too long,
// or if the hold has no token.
func CheckVersion(h port.Hold, digest string) error {
	if digest == "" || len(digest) > MaxID {
		return fmt.Errorf("the digest has %d bytes: expected 1 to %d", len(digest), MaxID)
	}
	if h.Token == 0 {
		return errors.New("the hold must have a token")
	}
	return nil
}

// CheckNode returns an error if a node cannot be stored or ttl is too short.
func CheckNode(n port.Node, ttl time.Duration) error {
	switch err := CheckID(n.ID); {
	case err != nil:
		return err
	case len(n.URL) > maxURL || !utf8.ValidString(n.URL) || strings.Contains(n.URL, "\x00"):
		return fmt.Errorf("the URL of the node is invalid: expected at most %d bytes of UTF-8", maxURL)
	case ttl < time.Millisecond:
		return fmt.Errorf("the ttl is %v: expected 1ms or more", ttl)
	default:
		return nil
	}
}

// CheckDigests returns an error if the digest of a token is too long.
func CheckDigests(digests ...[]byte) error {
	for _, d := range digests {
		if len(d) > maxDigest {
			return fmt.Errorf("a digest has %d bytes: expected at most %d", len(d), maxDigest)
		}
	}
	return nil
}

// CheckTicket returns an error if the digest of a ticket is empty or too long, if its value
// is longer than most, or if ttl is too short.
func CheckTicket(digest []byte, ttl time.Duration, n, most int) error {
	switch {
	case len(digest) == 0 || len(digest) > maxDigest:
		return fmt.Errorf("a digest has %d bytes: expected 1 to %d", len(digest), maxDigest)
	case ttl < time.Millisecond:
		return fmt.Errorf("the ttl is %v: expected 1ms or more", ttl)
	}
	return CheckSize("ticket", n, most)
}

// Quote returns an id for a message: quoted, in one line and shortened if it is long.
func Quote(id string) string {
	const longest = 64
	if len(id) > longest {
		return fmt.Sprintf("%q...", id[:longest])
	}
	return fmt.Sprintf("%q", id)
}

// MaxMark is the longest mark of a caller, in bytes.
const MaxMark = 1 << 10

// CheckMark reports a mark that a store does not take.
func CheckMark(mark []byte) error {
	if len(mark) == 0 || len(mark) > MaxMark {
		return fmt.Errorf("the mark has %d bytes: expected 1 to %d", len(mark), MaxMark)
	}
	return nil
}
