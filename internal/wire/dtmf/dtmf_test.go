package dtmf

import (
	"errors"
	"slices"
	"testing"
)

// packet is an event packet.
type packet struct {
	source, timestamp uint32
	payload           []byte
}

// press returns the packets of a press: one each 20 ms, and the last one three times.
func press(timestamp uint32, key byte, from uint16) []packet {
	event, _ := Event(key)
	var all []packet
	for d := from; d < from+800; d += 160 {
		all = append(all, packet{1, timestamp, AppendPayload(nil, event, false, d)})
	}
	for range 3 {
		all = append(all, packet{1, timestamp, AppendPayload(nil, event, true, from+800)})
	}
	return all
}

func decode(all []packet) string {
	var d Decoder
	var got []byte
	for _, p := range all {
		if key, ok := d.Push(p.source, p.timestamp, p.payload); ok {
			got = append(got, key)
		}
	}
	return string(got)
}

// TestEveryPressCountsOnce: whatever happens to the packets of a press, it counts once.
func TestEveryPressCountsOnce(t *testing.T) {
	twice := slices.Concat(press(1000, '5', 160), press(3000, '5', 160))
	for name, c := range map[string]struct {
		packets []packet
		want    string
	}{
		"a press":                         {press(1000, '5', 160), "5"},
		"the first packet has duration 0": {press(1000, '5', 0), "5"},
		"the first packet is lost":        {press(1000, '5', 160)[1:], "5"},
		"only the first arrives":          {press(1000, '#', 160)[:1], "#"},
		"only an end packet arrives":      {press(1000, '*', 160)[7:], "*"},
		"all end packets are lost":        {slices.Concat(press(1000, '5', 160)[:5], press(3000, '5', 160)), "55"},
		"the same key twice":              {twice, "55"},
		"two keys":                        {slices.Concat(press(1000, 'A', 160), press(2000, 'D', 160)), "AD"},
		"an old packet comes late":        {slices.Concat(press(1000, '1', 160), press(3000, '2', 160), press(1000, '1', 160)[:2]), "12"},
		"each packet twice":               {doubled(twice), "55"},
		"timestamps that go back":         {slices.Concat(press(9000, '1', 160), press(1000, '2', 160), press(5000, '3', 160)), "123"},
		"a press that was overtaken":      {slices.Concat(press(1000, '1', 160)[:3], press(3000, '2', 160), press(1000, '1', 160)[3:], press(3000, '2', 160)), "12"},
		"the timestamps wrap":             {slices.Concat(press(0xFFFFFF00, '1', 160), press(0x400, '2', 160)), "12"},
		"another source":                  {slices.Concat(press(9000, '1', 160), []packet{{2, 9000, []byte{1, 10, 0, 160}}}), "11"},
		"another source, earlier":         {slices.Concat(press(9000, '1', 160), []packet{{2, 10, []byte{1, 10, 0, 160}}}), "11"},
		"a sender that begins anew":       {slices.Concat(press(900_000, '1', 160), press(1000, '2', 160)), "12"},
		"a press of segments": {[]packet{
			{1, 1000, []byte{5, 10, 0xFF, 0xFF}}, {1, 1000 + 0xFFFF, []byte{5, 10, 0, 160}}, {1, 1000 + 0xFFFF, []byte{5, 0x8A, 1, 0}},
		}, "5"},
		"again after a segment's length": {[]packet{
			{1, 1000, []byte{5, 0x8A, 0, 160}}, {1, 1000 + 0xFFFF, []byte{5, 10, 0, 160}},
		}, "55"},
		"a flash is no key":  {[]packet{{1, 1000, []byte{16, 10, 0, 160}}, {1, 2000, []byte{255, 10, 0, 160}}}, ""},
		"too short":          {[]packet{{1, 1000, []byte{1, 10, 0}}, {1, 1000, nil}}, ""},
		"longer than needed": {[]packet{{1, 1000, []byte{1, 10, 0, 160, 9, 9, 9}}}, "1"},
	} {
		if got := decode(c.packets); got != c.want {
			t.Errorf("%s: %q, expected %q", name, got, c.want)
		}
	}
}

func doubled(all []packet) []packet {
	var twice []packet
	for _, p := range all {
		twice = append(twice, p, p)
	}
	return twice
}

func TestEvent(t *testing.T) {
	for key, want := range map[byte]byte{'0': 0, '9': 9, '*': 10, '#': 11, 'A': 12, 'D': 15} {
		if got, ok := Event(key); !ok || got != want {
			t.Errorf("%c: %d, %v, expected %d", key, got, ok, want)
		}
	}
	for _, key := range "EaZ \x00" {
		if _, ok := Event(byte(key)); ok {
			t.Errorf("%q is an event", key)
		}
	}
}

func TestParseInfo(t *testing.T) {
	for _, c := range []struct {
		kind, body string
		want       byte
	}{
		{TypeRelay, "Signal=5\r\nDuration=160\r\n", '5'},
		{TypeRelay, "Signal= #\r\nDuration= 250", '#'},
		{TypeRelay, "duration=1\nsignal=d", 'D'},
		{TypeRelay, "Signal=10\r\n", '*'},
		{TypeRelay + "; charset=utf-8", "Signal=11", '#'},
		{TypePlain, "7", '7'},
		{TypePlain, " 7\r\n", '7'},
		{"Application/DTMF-Relay", "Signal=*", '*'},
	} {
		if got, err := ParseInfo(c.kind, []byte(c.body)); err != nil || got != c.want {
			t.Errorf("%s %q: %q, %v, expected %q", c.kind, c.body, got, err, c.want)
		}
	}
	for _, c := range []struct{ kind, body string }{
		{TypeRelay, ""}, {TypeRelay, "5"}, {TypeRelay, "Signal=x"}, {TypePlain, "16"}, {TypePlain, "-1"}, {TypePlain, "55"}, {TypePlain, string(make([]byte, 300))},
	} {
		if got, err := ParseInfo(c.kind, []byte(c.body)); err == nil || errors.Is(err, ErrType) {
			t.Errorf("%s %q: %q, %v", c.kind, c.body, got, err)
		}
	}
	for _, kind := range []string{"", "text/plain", "application/dtmf-relay-x", ";"} {
		if _, err := ParseInfo(kind, []byte("5")); !errors.Is(err, ErrType) {
			t.Errorf("%q: %v", kind, err)
		}
	}
}

// FuzzEvents checks that any packets are taken, and that a repeated packet is never a key.
func FuzzEvents(f *testing.F) {
	f.Add([]byte{1, 0, 5, 10, 0, 160, 1, 0, 5, 0x8A, 1, 0, 2, 0, 11, 10, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var d Decoder
		for ; len(b) >= 6; b = b[6:] {
			source, timestamp := uint32(b[0]>>6), uint32(b[0])<<24|uint32(b[1])<<8
			if key, ok := d.Push(source, timestamp, b[2:6]); ok {
				if _, ok := Event(key); !ok {
					t.Fatalf("%q is no key", key)
				}
			}
			if key, ok := d.Push(source, timestamp, b[2:6]); ok {
				t.Fatalf("%q counts twice", key)
			}
			d.Push(source, timestamp, b[2:2+int(b[0])%5])
		}
	})
}

func FuzzInfo(f *testing.F) {
	f.Add(TypeRelay, []byte("Signal=5\r\nDuration=160\r\n"))
	f.Add(TypePlain, []byte("#"))
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		key, err := ParseInfo(kind, body)
		if _, ok := Event(key); err == nil && !ok {
			t.Fatalf("%q is no key", key)
		}
	})
}
