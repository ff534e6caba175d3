package seal

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"
)

func key32(b byte) []byte { return bytes.Repeat([]byte{b}, KeySize) }

func box(t testing.TB, keys ...[]byte) *Box {
	t.Helper()
	b, err := New(keys)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBytes checks that sealed bytes open under their name only, and that sealing
// is not deterministic.
func TestBytes(t *testing.T) {
	b := box(t, key32(1))
	for _, plain := range [][]byte{nil, []byte("x"), bytes.Repeat([]byte("long "), 1000)} {
		one, err1 := b.Seal("name", plain)
		two, err2 := b.Seal("name", plain)
		if err1 != nil || err2 != nil || bytes.Equal(one, two) || !Sealed(one) || len(plain) > 1 && bytes.Contains(one, plain) {
			t.Fatalf("%q, %q, errors %v, %v", one, two, err1, err2)
		}
		if got, err := b.Open("name", one); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%q, error %v, expected %q", got, err, plain)
		}
		if got, err := b.Open("another", one); err == nil {
			t.Errorf("under another name it is %q", got)
		}
	}
	if Sealed([]byte("{}")) || Sealed(nil) {
		t.Error("what nobody sealed counts as sealed")
	}
}

// TestDigests checks that digests are deterministic, differ by key and text, and
// number one per key.
func TestDigests(t *testing.T) {
	one, both := box(t, key32(1)), box(t, key32(2), key32(1))
	a, b := one.Digests("carla"), both.Digests("carla")
	if len(a) != 1 || len(b) != 2 || !bytes.Equal(a[0], b[1]) || bytes.Equal(b[0], b[1]) {
		t.Errorf("%x, %x", a, b)
	}
	if bytes.Equal(a[0], one.Digests("karl")[0]) {
		t.Error("two texts have one digest")
	}
	// RFC 4231, 4.3: test case 2 of HMAC-SHA-256.
	if got := hex.EncodeToString(mac([]byte("Jefe"), "what do ya want for nothing?")); got != "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" {
		t.Errorf("the digest is %s", got)
	}
}

// TestKeys checks that invalid keys are refused and not in errors.
func TestKeys(t *testing.T) {
	for _, keys := range [][][]byte{nil, {{1}}, {key32(1), []byte("hush-hush")}} {
		if _, err := New(keys); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%d keys: %v", len(keys), err)
		}
	}
}

// FuzzOpen checks that any bytes are opened or refused.
func FuzzOpen(f *testing.F) {
	b := box(f, key32(1))
	f.Add([]byte(magic))
	f.Add(append([]byte(magic), b.keys[0].id...))
	f.Fuzz(func(t *testing.T, data []byte) {
		if got, err := b.Open("a", data); err == nil {
			t.Fatalf("%q was opened as %q", data, got)
		}
	})
}
