package turn_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/turn"
)

// TestKeypad checks where lines end. A blank in the keys is a second without a key.
func TestKeypad(t *testing.T) {
	for _, tc := range []struct {
		keys   string
		digits int
		want   string
	}{
		{"123456", 6, "123456"},
		{"1234567", 6, "123456"},
		{"1234567  ", 6, "123456 7"},
		{"12345", 6, ""},
		{"12345  ", 6, "12345"},
		{"12345#", 6, "12345"},
		{"1 2 3 4  ", 0, "1234"},
		{"1 2  3 4", 0, "12"},
		{"#", 0, ""},
		{"##42##  ", 0, "42"},
		{"12*34#", 0, "34"},
		{"12*  ", 0, ""},
		{"1A2B#", 0, "12"},
		{"\x001\xff#", 0, "1"},
		{strings.Repeat("7", 33) + "#", 0, strings.Repeat("7", 32) + " 7"},
		{strings.Repeat("7", 33) + "#", 1000, strings.Repeat("7", 32) + " 7"},
	} {
		k := turn.NewKeypad(turn.KeypadOptions{})
		k.Expect(tc.digits)
		var got []string
		note := func(line string) {
			if line != "" {
				got = append(got, line)
			}
		}
		for i := range len(tc.keys) {
			if tc.keys[i] != ' ' {
				note(k.Press(tc.keys[i]))
				continue
			}
			for range 50 {
				note(k.Elapse(20 * time.Millisecond))
			}
		}
		if got := strings.Join(got, " "); got != tc.want {
			t.Errorf("%q with %d digits expected: lines %q, want %q", tc.keys, tc.digits, got, tc.want)
		}
	}
}

func TestKeypadAllocates(t *testing.T) {
	k := turn.NewKeypad(turn.KeypadOptions{Timeout: time.Hour})
	if n := testing.AllocsPerRun(100, func() {
		k.Press('1')
		k.Elapse(20 * time.Millisecond)
		k.Press('*')
	}); n != 0 {
		t.Errorf("%v allocations for a key and a frame", n)
	}
}
