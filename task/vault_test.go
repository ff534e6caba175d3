package task

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/hocketvoice/hocket/port"
)

// FuzzCanonical checks that the canonical form of arguments does not change when it is
// computed again, and stays valid JSON.
func FuzzCanonical(f *testing.F) {
	for _, text := range []string{"", "{}", `{"b":2, "a":[1,1.0,1e400,"\ud800"]}`, `{"a":1} x`, "null", `"<&>"`, `{"a":1,"a":2}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once := canonical(text)
		if twice := canonical(once); twice != once {
			t.Fatalf("%q is %q, and then %q", text, once, twice)
		}
		if json.Valid([]byte(text)) != json.Valid([]byte(once)) {
			t.Fatalf("%q is %q", text, once)
		}
	})
}

// TestCanonical checks which arguments are the same.
func TestCanonical(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`{"a":1,"b":[true,null]}`, "{ \"b\" : [true, null],\n\"a\":1 }", true},
		{`{"a":"\u00e4"}`, `{"a":"ä"}`, true},
		{`{"a":[1,2]}`, `{"a":[2,1]}`, false},
		{`{"a":12345678901234567890}`, `{"a":12345678901234567891}`, false},
		{`{"a":1}`, `{"a":1} x`, false},
	} {
		if got := canonical(c.a) == canonical(c.b); got != c.same {
			t.Errorf("%s and %s: the same %v, expected %v", c.a, c.b, got, c.same)
		}
	}
}

// FuzzVault checks that any data is decoded or refused, with a key and without.
func FuzzVault(f *testing.F) {
	sealed, err := newVault([][]byte{key32(1)})
	if err != nil {
		f.Fatal(err)
	}
	good, err := sealed.put("result", "k", outcome{Failure: &port.Failure{Code: "X", Partial: "half"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"output":"x"}`))
	f.Add([]byte(`{"failure":{"After":"soon"}}`))
	f.Add([]byte("hksl1"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var end outcome
		if sealed.get("result", "another", b, &end) == nil {
			t.Fatalf("%q was opened with a key, as %+v", b, end)
		}
		if (vault{}).get("result", "k", b, &end) == nil && !json.Valid(b) {
			t.Fatalf("%q was read without a key, as %+v", b, end)
		}
	})
}

// FuzzCut checks that a text is cut between two characters, and within the limit.
func FuzzCut(f *testing.F) {
	f.Add("äöü€𝄞", 3)
	f.Add("\x80\x80\x80\x80", 2)
	f.Add("", 0)
	f.Fuzz(func(t *testing.T, text string, n int) {
		if n < 0 {
			n = 0
		}
		got := cut(text, n)
		if len(got) > n && len(got) < len(text) || text[:len(got)] != got || utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Fatalf("%q cut to %d bytes is %q", text, n, got)
		}
	})
}
