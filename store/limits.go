package store

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hocketvoice/hocket/port"
)

// What no option changes, in bytes.
const (
	// MaxID bounds the id of a conversation or a node.
	MaxID = 512
	// LargestSnapshot bounds what a store may be told to take. PostgreSQL itself ends at
	// 1 GB, SQLite at 1e9 bytes.
	LargestSnapshot = 256 << 20

	maxURL    = 2048 // the address of a node
	maxDigest = 64   // the digest of a token or a ticket
)

// DefaultMaxSnapshot is what a store takes that is told nothing, in bytes.
const DefaultMaxSnapshot = 4 << 20

// Forgotten is how long a node is dead before it is forgotten, if it holds nothing.
const Forgotten = time.Hour

// CheckMost reports a MaxSnapshot that makes no sense. 0 is the default.
func CheckMost(most int) error {
	if most < 0 || most > LargestSnapshot {
		return fmt.Errorf("store: MaxSnapshot is %d, expected 0 to %d bytes", most, LargestSnapshot)
	}
	return nil
}

// CheckID refuses an id of a conversation or a node that is empty or too long.
func CheckID(id string) error {
	if id == "" || len(id) > MaxID {
		return fmt.Errorf("the id has %d bytes, expected 1 to %d", len(id), MaxID)
	}
	return nil
}

// CheckSize bounds what is written and read: a snapshot, or a piece of a journal.
func CheckSize(what string, n, most int) error {
	if n > most {
		return fmt.Errorf("the %s has %d bytes, expected at most %d", what, n, most)
	}
	return nil
}

// CheckPiece refuses a piece of a journal that is too long, or has no number.
func CheckPiece(id string, number, n, most int) error {
	err := errors.Join(CheckID(id), CheckSize("piece", n, most))
	if number < 1 {
		err = errors.Join(err, fmt.Errorf("its number is %d, expected 1 or more", number))
	}
	return err
}

// CheckVersion refuses a version of an agent without a name, and a hold without a token.
func CheckVersion(h port.Hold, digest string) error {
	if digest == "" || len(digest) > MaxID {
		return fmt.Errorf("the digest has %d bytes, expected 1 to %d", len(digest), MaxID)
	}
	if h.Token == 0 {
		return errors.New("the hold has no token, expected one")
	}
	return nil
}

// CheckNode refuses a node that cannot be kept, or that would not live.
func CheckNode(n port.Node, ttl time.Duration) error {
	switch err := CheckID(n.ID); {
	case err != nil:
		return err
	case len(n.URL) > maxURL || !utf8.ValidString(n.URL) || strings.Contains(n.URL, "\x00"):
		return fmt.Errorf("its address is wrong, expected at most %d bytes of UTF-8", maxURL)
	case ttl < time.Millisecond:
		return fmt.Errorf("its time is %v, expected 1ms or more", ttl)
	default:
		return nil
	}
}

// CheckDigests refuses digests of tokens that are too long.
func CheckDigests(digests ...[]byte) error {
	for _, d := range digests {
		if len(d) > maxDigest {
			return fmt.Errorf("a digest has %d bytes, expected at most %d", len(d), maxDigest)
		}
	}
	return nil
}

// CheckTicket refuses a ticket that has no digest, is too long, or would not last.
func CheckTicket(digest []byte, ttl time.Duration, n, most int) error {
	switch {
	case len(digest) == 0 || len(digest) > maxDigest:
		return fmt.Errorf("a digest has %d bytes, expected 1 to %d", len(digest), maxDigest)
	case ttl < time.Millisecond:
		return fmt.Errorf("its time is %v, expected 1ms or more", ttl)
	}
	return CheckSize("ticket", n, most)
}

// Quote is an id for a message: one line, and not a long one.
func Quote(id string) string {
	const longest = 64
	if len(id) > longest {
		return fmt.Sprintf("%q...", id[:longest])
	}
	return fmt.Sprintf("%q", id)
}
