//go:build peers

package soniox

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/fakes"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/provider/soniox/fake"
)

// heard is what a client of Soniox prints.
type heard struct {
	Final    string
	Partials int
	End, Fin int
	Finished bool
	Error    *string
}

// TestPeerRecognizer has Soniox's own clients talk to the fake.
func TestPeerRecognizer(t *testing.T) {
	before, after := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), time.Date(2027, 1, 15, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name, file, key string
		now             time.Time
		refused         string
	}{
		{"python", "recognize.py", porttest.HostedKey, before, ""},
		{"python after the key has left the first message", "recognize.py", porttest.HostedKey, after, ""},
		{"python with a wrong key", "recognize.py", "wrong", before, "SonioxRealtimeError"},
		{"node", "recognize.mjs", porttest.HostedKey, before, ""},
		{"node after the key has left the first message", "recognize.mjs", porttest.HostedKey, after, "auth_error"},
		{"node with a wrong key", "recognize.mjs", "wrong", before, "auth_error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fake.Recognizer{
				Key: porttest.HostedKey, Now: func() time.Time { return c.now },
				Engine: &porttest.Recognizer{Texts: []string{"from new york", "to boston please"}},
			}
			s := httptest.NewServer(f)
			defer s.Close()
			var got heard
			porttest.Client(t, c.file, &got, "KEY="+c.key, "URL=ws"+strings.TrimPrefix(s.URL, "http"))
			if c.refused != "" {
				if got.Error == nil || !strings.Contains(*got.Error, c.refused) || got.Final != "" {
					t.Errorf("%+v, want the error %s", got, c.refused)
				}
				return
			}
			if got.Error != nil || got.Final != " from new york to boston please" || got.Partials == 0 || got.Fin != 1 || got.End != 1 || !got.Finished {
				t.Errorf("%+v, error %v", got, got.Error)
			}
			if broken := f.Broken(); len(broken) > 0 {
				t.Errorf("broken rules: %q", broken)
			}
		})
	}
}

// spoken is what a client of Soniox prints.
type spoken struct {
	Bytes, Cancelled int
	Text             string
	Error            *string
}

// TestPeerSynthesizer has Soniox's own clients talk to the fake.
func TestPeerSynthesizer(t *testing.T) {
	before, after := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), time.Date(2027, 1, 15, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name, file, key string
		now             time.Time
		refused         string
	}{
		{"python", "speak.py", porttest.HostedKey, before, ""},
		{"python after the key has left the first message", "speak.py", porttest.HostedKey, after, ""},
		{"python with a wrong key", "speak.py", "wrong", before, "SonioxRealtimeError"},
		{"node", "speak.mjs", porttest.HostedKey, before, ""},
		{"node with a wrong key", "speak.mjs", "wrong", before, "auth_error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fake.Synthesizer{
				Key: porttest.HostedKey, Now: func() time.Time { return c.now },
				Mouth: fakes.Mouth{Engine: &porttest.Synthesizer{}, Speed: 4},
			}
			s := httptest.NewServer(f)
			defer s.Close()
			var got spoken
			porttest.Client(t, c.file, &got, "KEY="+c.key, "URL=ws"+strings.TrimPrefix(s.URL, "http"))
			if c.refused != "" {
				if got.Error == nil || !strings.Contains(*got.Error, c.refused) || got.Bytes != 0 {
					t.Errorf("%+v, want the error %s", got, c.refused)
				}
				return
			}
			// 19 letters of 60 ms, two bytes a sample.
			const want = 19 * 60 * 24 * 2
			if got.Error != nil || got.Bytes < want-960 || got.Bytes > want+960 || strings.TrimSpace(got.Text) != "from new york to boston" {
				t.Errorf("%+v, error %v, want %d bytes", got, got.Error, want)
			}
			if got.Cancelled > want*4 {
				t.Errorf("%d bytes of the cancelled text were sent", got.Cancelled)
			}
			if broken := f.Broken(); len(broken) > 0 {
				t.Errorf("broken rules: %q", broken)
			}
		})
	}
}
