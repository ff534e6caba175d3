package app

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/bench"
	"github.com/hocketvoice/hocket/server/api"
	"github.com/hocketvoice/hocket/server/hub"
)

// recording downloads the recording of a conversation and returns how many milliseconds of it
// have sound on each side.
func (r *running) recording(id string) (status int, person, agent, all int) {
	r.t.Helper()
	status, header, b := r.answer(http.MethodGet, "/v1/conversations/"+id+"/recording", "")
	if status != http.StatusOK {
		return status, 0, 0, 0
	}
	if _, err := time.Parse(time.RFC3339Nano, header.Get("Hocket-Recording-Started")); err != nil || header.Get("Content-Type") != "audio/wav" {
		r.t.Errorf("the header is %v", header)
	}
	wav, err := audio.NewWAVReader(bytes.NewReader(b), audio.WAVReaderOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	pairs := make([]int16, 2*wav.Format().Rate/1000)
	for {
		n, err := wav.Read(pairs)
		if err != nil {
			return status, person, agent, all
		}
		all++
		left, right := false, false
		for i := 0; i+1 < n; i += 2 {
			left, right = left || pairs[i] != 0, right || pairs[i+1] != 0
		}
		if left {
			person++
		}
		if right {
			agent++
		}
	}
}

func quote(t *testing.T, s string) []byte {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestRecordedCall checks that a call is recorded, that its owner can download it during and
// after the call, and that nothing of it is left when it is deleted.
func TestRecordedCall(t *testing.T) {
	const one, two = "0123456789abcdef-one", "0123456789abcdef-two"
	t.Setenv(DefaultKeysEnv, "office "+one+", phone "+two)
	path := filepath.Join(t.TempDir(), "store.db")
	r := serve(t, "server: {drain: off}\nstore: {path: "+path+"}\nrecording: {notice: This call is recorded.}\n")
	for _, n := range r.notes {
		if strings.Contains(n, "text only") {
			t.Skipf("this build has no recognizer or no voice: %v", n)
		}
	}
	var heard atomic.Int64
	browser, err := bench.NewBrowser(bench.BrowserOptions{Source: func() []byte { return nil }, Sink: func([]byte) { heard.Add(1) }})
	if err != nil {
		t.Fatal(err)
	}
	offer, err := browser.Offer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.key = one
	var made struct {
		createdAnswer
		Recording bool
	}
	if status := r.do("POST", "/v1/conversations", `{"transport":"webrtc","caller":"ann","sdp":`+string(quote(t, offer))+`}`, &made); status != http.StatusCreated || !made.Recording {
		t.Fatalf("status %d, recording %v", status, made.Recording)
	}
	if err := browser.Answer(t.Context(), made.SDP); err != nil {
		t.Fatal(err)
	}
	r.eventually("the greeting", func() bool { return heard.Load() > 20 })
	var agent int
	r.eventually("a recording that grows", func() bool {
		_, _, agent, _ = r.recording(made.ID)
		return agent > 500
	})
	r.key = made.AccessToken
	if status, _, _, _ := r.recording(made.ID); status != http.StatusOK {
		t.Errorf("with the access token: status %d", status)
	}
	r.key = two
	if status, _, _, _ := r.recording(made.ID); status != http.StatusNotFound {
		t.Errorf("with another's key: status %d", status)
	}
	r.key = one
	var list struct{ Conversations []hub.Info }
	if r.do("GET", "/v1/conversations", "", &list); len(list.Conversations) != 1 || !list.Conversations[0].Recording {
		t.Errorf("the list is %+v", list)
	}
	var text struct{ Recording bool }
	if r.do("POST", "/v1/conversations", `{"transport":"text"}`, &text); text.Recording {
		t.Error("a conversation by text is recorded")
	}
	var words struct {
		Snapshot struct{ Phase string }
	}
	r.eventually("the end of the greeting", func() bool {
		r.do("GET", "/v1/conversations/"+made.ID, "", &words)
		return words.Snapshot.Phase == "listening.ready"
	})
	r.do("POST", "/v1/conversations/"+made.ID+"/commands", `{"type":"endConversation"}`, nil)
	var kept api.StoredDetails
	r.eventually("the end in the store", func() bool {
		return r.do("GET", "/v1/stored/"+made.ID, "", &kept) == http.StatusOK && kept.Ended && !kept.Live
	})
	if !kept.Recording || len(kept.Lines) == 0 || !strings.HasPrefix(kept.Lines[0].Text, "This call is recorded. Welcome to Hocket Airlines.") {
		t.Errorf("kept is %+v", kept)
	}
	_, person, longer, all := r.recording(made.ID)
	if person != 0 || longer < agent || all <= longer {
		t.Errorf("the person is heard for %d ms, the agent for %d and before for %d, of %d", person, longer, agent, all)
	}
	var gone api.CallerDeleted
	if status := r.do("DELETE", "/v1/callers?caller=ann", "", &gone); status != http.StatusOK || len(gone.Conversations) != 1 {
		t.Fatalf("status %d, %+v", status, gone)
	}
	if status, _, _, _ := r.recording(made.ID); status != http.StatusNotFound {
		t.Errorf("after the deletion: status %d", status)
	}
	if err := browser.Close(); err != nil {
		t.Error(err)
	}
	if strings.Contains(r.log.String(), "Welcome") {
		t.Error("the log has words")
	}
}

// TestRecordingIsRefused checks that a config that cannot record, or would not tell callers,
// is an error at the start.
func TestRecordingIsRefused(t *testing.T) {
	dir := t.TempDir()
	start := filepath.Join(dir, "ask.yaml")
	if err := os.WriteFile(start, []byte("settings: {start: ask}\nslots: [{name: city}]\nflows: {ask: {steps: [{step: a, type: collect, slot: city}]}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	store := "store: {path: " + filepath.Join(dir, "store.db") + "}\n"
	for _, c := range []struct{ config, agent, want string }{
		{store + "recording: {limit: 5m}\n", "", "recording: does not say how callers are told of it"},
		{store + "recording: {notice: '  '}\n", "", `recording.notice: is "  ", which says nothing`},
		{store + "recording: {notice: ' ... '}\n", "", "which says nothing"},
		{"recording: {announced: true}\n", "", "recording: the server has no store"},
		{store + "recording: {notice: Recorded.}\n", start, `recording.notice cannot be said before the flow "ask"`},
		{store + "recording: {announced: true}\n", start, ""},
		{store + "recording: {notice: Recorded.}\nprivacy: none\n", "", ""},
	} {
		path := filepath.Join(dir, "c.yaml")
		if err := os.WriteFile(path, []byte(c.config), 0o600); err != nil {
			t.Fatal(err)
		}
		o := ServeOptions{Config: path, Addr: "127.0.0.1:0"}
		if c.agent != "" {
			o.Agents = []string{c.agent}
		}
		s, err := NewServer(o)
		switch {
		case c.want != "":
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, expected %q", c.config, err, c.want)
			}
		case err != nil:
			t.Errorf("%s: %v", c.config, err)
		}
		if err == nil {
			if a := s.roster.list()[0]; strings.Contains(c.config, "none") && a.records("webrtc") {
				t.Error("a conversation is recorded of which nothing may be kept")
			}
			if err := s.closeAll(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestRecordedTransports checks that conversations by text are not recorded, and those of
// Realtime clients only if callers are told in another way than by the notice.
func TestRecordedTransports(t *testing.T) {
	a := &served{store: &Store{}}
	for _, c := range []struct {
		notice    string
		announced bool
		want      string
	}{
		{"", false, ""}, {"Recorded.", false, "webrtc"}, {"", true, "webrtc realtime"}, {"Recorded.", true, "webrtc realtime"},
	} {
		a.opts.Recording.Notice, a.opts.Recording.Announced = c.notice, c.announced
		var got []string
		for _, transport := range []string{"text", "webrtc", realtimeTransport} {
			if a.records(transport) {
				got = append(got, transport)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
