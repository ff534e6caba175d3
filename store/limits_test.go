package store

import (
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/port"
)

// TestLimits checks that values within the limits are accepted, and that an error names what
// exceeds them.
func TestLimits(t *testing.T) {
	node := func(id, url string) port.Node { return port.Node{ID: id, URL: url} }
	for _, c := range []struct {
		err  error
		want string
	}{
		{CheckMost(0), ""},
		{CheckMost(LargestSnapshot), ""},
		{CheckMost(-1), "MaxSnapshot is -1: expected"},
		{CheckMost(LargestSnapshot + 1), "MaxSnapshot is 268435457: expected"},
		{CheckID("\xff\x00"), ""},
		{CheckID(strings.Repeat("i", MaxID)), ""},
		{CheckID(""), "0 bytes: expected 1 to 512"},
		{CheckID(strings.Repeat("i", MaxID+1)), "513 bytes: expected 1 to 512"},
		{CheckSize("snapshot", 10, 10), ""},
		{CheckSize("snapshot", 11, 10), "the snapshot has 11 bytes: expected at most 10"},
		{CheckPiece("a", 1, 10, 10), ""},
		{CheckPiece("a", 0, 10, 10), "the number of the piece is 0: expected 1 or more"},
		{CheckPiece("a", 1, 11, 10), "the piece has 11 bytes"},
		{CheckPiece("", 1, 10, 10), "the id has 0 bytes"},
		{CheckNode(node("n", "http://ü"), time.Millisecond), ""},
		{CheckNode(node("", ""), time.Second), "the id has 0 bytes"},
		{CheckNode(node("n", strings.Repeat("u", maxURL+1)), time.Second), "the URL of the node is invalid"},
		{CheckNode(node("n", "\xff"), time.Second), "the URL of the node is invalid"},
		{CheckNode(node("n", "\x00"), time.Second), "the URL of the node is invalid"},
		{CheckNode(node("n", ""), time.Microsecond), "the ttl is 1µs: expected 1ms or more"},
		{CheckDigests(nil, make([]byte, maxDigest)), ""},
		{CheckDigests(nil, make([]byte, maxDigest+1)), "a digest has 65 bytes"},
		{CheckTicket(make([]byte, maxDigest), time.Millisecond, 10, 10), ""},
		{CheckTicket(nil, time.Second, 10, 10), "a digest has 0 bytes: expected 1 to 64"},
		{CheckTicket(make([]byte, maxDigest+1), time.Second, 10, 10), "a digest has 65 bytes"},
		{CheckTicket([]byte("d"), 0, 10, 10), "the ttl is 0s: expected 1ms or more"},
		{CheckTicket([]byte("d"), time.Second, 11, 10), "the ticket has 11 bytes"},
	} {
		if (c.err == nil) != (c.want == "") || c.err != nil && !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("error %v, expected %q", c.err, c.want)
		}
	}
	if got := Quote(strings.Repeat("\n", 100)); got != `"`+strings.Repeat(`\n`, 64)+`"...` {
		t.Errorf("a long id is named %s", got)
	}
}
