package app

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/hocketvoice/hocket/internal/bench"
	"github.com/hocketvoice/hocket/internal/waittest"
)

// running is a server that runs in this process.
type running struct {
	t      testing.TB
	url    string
	key    string
	client *http.Client
	reload chan os.Signal
	log    *lockedBuffer
	stop   context.CancelFunc // tells the server to end
	end    func() error       // stops the server and returns the error of its Run
	ended  chan struct{}      // closed when Run has returned
	notes  []string
}

// writer returns a function that writes a file to a temporary folder and returns its path.
func writer(t *testing.T) func(name, text string) string {
	t.Helper()
	dir := t.TempDir()
	return func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// serve runs a server with a config.
func serve(t testing.TB, config string) *running {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hocket.yaml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return serveWith(t, ServeOptions{Config: path})
}

// serveWith runs a server with options until the test ends, or until end is called. The test
// sets the address, the log, the notes and the signals to reload.
func serveWith(t testing.TB, o ServeOptions) *running {
	t.Helper()
	goleak.VerifyNone(t, goleak.IgnoreCurrent())
	before := goleak.IgnoreCurrent()
	r := &running{
		t: t, reload: make(chan os.Signal, 1), log: &lockedBuffer{}, ended: make(chan struct{}),
		client: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}, //nolint:gosec // its own certificate
	}
	o.Addr, o.Reload, o.Log = "127.0.0.1:0", r.reload, slog.New(slog.NewJSONHandler(r.log, nil))
	o.Note = func(n string) { r.notes = append(r.notes, n) }
	s, err := NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	r.url = s.URL()
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	var result error
	go func() {
		defer close(r.ended)
		result = s.Run(ctx)
	}()
	r.end = func() error {
		stop()
		<-r.ended
		return result
	}
	t.Cleanup(func() {
		if err := r.end(); err != nil {
			t.Errorf("it ended with %v", err)
		}
		r.client.CloseIdleConnections()
		goleak.VerifyNone(t, before)
	})
	return r
}

// do makes a request and decodes the answer into v, which may be nil.
func (r *running) do(method, path, body string, v any) int {
	r.t.Helper()
	status, _, b := r.answer(method, path, body)
	if v != nil {
		if err := json.Unmarshal(b, v); err != nil {
			r.t.Fatalf("%s %s: %v: %s", method, path, err, b)
		}
	}
	return status
}

// answer makes a request and reads the answer.
func (r *running) answer(method, path, body string) (status int, header http.Header, b []byte) {
	r.t.Helper()
	q, err := http.NewRequestWithContext(waittest.Context(r.t), method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if r.key != "" {
		q.Header.Set("Authorization", "Bearer "+r.key)
	}
	w, err := r.client.Do(q)
	if err != nil {
		r.t.Fatal(err)
	}
	defer w.Body.Close()
	if b, err = io.ReadAll(w.Body); err != nil {
		r.t.Fatal(err)
	}
	return w.StatusCode, w.Header, b
}

type createdAnswer struct {
	ID, SDP     string
	ResumeToken string `json:"resume_token"`
	AccessToken string `json:"access_token"`
}

// phase returns the phase of a conversation.
func (r *running) phase(id string) string {
	var d struct{ Phase string }
	r.do("GET", "/v1/conversations/"+id, "", &d)
	return d.Phase
}

// eventually waits until fits returns true. The test fails if the server ends before.
func (r *running) eventually(what string, fits func() bool) {
	r.t.Helper()
	waittest.Until(r.t, what, r.ended, fits)
}

// certificate writes a certificate and its key.
func certificate(t *testing.T, dir, name string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: cert}, "key.pem": {Type: "EC PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(filepath.Join(dir, file), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestServeSecrets checks that keys and certificate are replaced while the server runs, and
// that unreadable files leave the old ones in use.
func TestServeSecrets(t *testing.T) {
	dir := t.TempDir()
	certificate(t, dir, "first.example")
	keys := filepath.Join(dir, "keys")
	write := func(text string) {
		if err := os.WriteFile(keys, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const one, two = "key-number-one-0123456789", "key-number-two-0123456789"
	write("office " + one + "\n")
	r := serve(t, fmt.Sprintf("server: {keys: {file: %s}, tls: {cert: %s/cert.pem, key: %s/key.pem}, drain: off}", keys, dir, dir))
	if !strings.HasPrefix(r.url, "https://") {
		t.Fatalf("it serves on %s", r.url)
	}
	status := func(key string) int {
		r.key = key
		return r.do("GET", "/v1/agents", "", nil)
	}
	name := func() string {
		r.client.CloseIdleConnections()
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/healthz", nil)
		if err != nil {
			t.Fatal(err)
		}
		w, err := r.client.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Body.Close()
		return w.TLS.PeerCertificates[0].DNSNames[0]
	}
	if a, b := status(one), status(two); a != 200 || b != 401 {
		t.Fatalf("at first %d and %d", a, b)
	}
	write("office " + two + "\n")
	certificate(t, dir, "second.example")
	r.reload <- syscall.SIGHUP
	r.eventually("the second key", func() bool { return status(two) == 200 && status(one) == 401 })
	r.eventually("the second certificate", func() bool { return name() == "second.example" })
	write("short\n")
	r.reload <- syscall.SIGHUP
	r.eventually("the complaint", func() bool { return strings.Contains(r.log.String(), "were not replaced") })
	if a := status(two); a != 200 {
		t.Errorf("after a bad file: %d", a)
	}
	if log := r.log.String(); strings.Contains(log, one) || strings.Contains(log, two) || strings.Contains(log, "short") {
		t.Errorf("the log holds a key:\n%s", log)
	}
}

// TestServeRefusals checks that a config that cannot be served is an error at the start.
func TestServeRefusals(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		config, addr, agent, want string
	}{
		{"", "0.0.0.0:0", "", "without API keys"},
		{"", "127.0.0.1:http-x", "", "listen on"},
		{"server: {keys: {file: nothing}}", "", "", "server.keys.file"},
		{"server: {tls: {cert: c.yaml}}", "", "", "server.tls: has one of cert and key"},
		{"server: {addr: here}", "", "", "server.addr"},
		{"server: {webrtc: {addr: \"0.0.0.0:50000-50100\"}}", "", "", "server.webrtc.addr: is \"0.0.0.0:50000-50100\""},
		{"server: {webrtc: {tcp: here}}", "", "", "server.webrtc.tcp"},
		{"server: {webrtc: {ports: 50100-50000}}", "", "", "server.webrtc.ports: is \"50100-50000\": expected a range of ports"},
		{"server: {webrtc: {public_ips: [203.0.113.999]}}", "", "", "server.webrtc.public_ips[0]"},
		{"server: {webrtc: {ice_servers: [{urls: [\"turn:turn.example\"]}]}}", "", "", "server.webrtc.ice_servers[0]: a TURN server needs a secret"},
		{"server: {webrtc: {ice_servers: [{urls: [\"turn:turn.example\"], secret_env: NO_SUCH_SECRET}]}}", "", "", "the environment variable NO_SUCH_SECRET is not set"},
		{"server: {origins: [example.com]}", "", "", "server.origins[0]"},
		{"", "", filepath.Join(dir, "nobody.yaml"), "nobody.yaml"},
	} {
		path := filepath.Join(dir, "c.yaml")
		if err := os.WriteFile(path, []byte(c.config), 0o600); err != nil {
			t.Fatal(err)
		}
		o := ServeOptions{Config: path, Addr: c.addr}
		if c.agent != "" {
			o.Agents = []string{c.agent}
		}
		if _, err := NewServer(o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, expected %q", c.config, c.addr, err, c.want)
		}
	}
	t.Setenv(DefaultKeysEnv, "tiny")
	if _, err := NewServer(ServeOptions{Addr: "127.0.0.1:0"}); err == nil || !strings.Contains(err.Error(), DefaultKeysEnv) || strings.Contains(err.Error(), "tiny") {
		t.Errorf("a short key: %v", err)
	}
}

// TestServeText holds a conversation by text with the built-in agent, and checks the metrics.
func TestServeText(t *testing.T) {
	r := serve(t, "server: {drain: off}")
	var made createdAnswer
	if status := r.do("POST", "/v1/conversations", `{"transport":"text"}`, &made); status != 201 {
		t.Fatal(status)
	}
	r.eventually("listening", func() bool { return r.phase(made.ID) == "listening.ready" })
	if status := r.do("POST", "/v1/conversations/"+made.ID+"/commands", `{"type":"send_text","text":"book a flight"}`, nil); status != 202 {
		t.Fatal(status)
	}
	var d struct {
		Metrics struct {
			AgentTurns int `json:"agent_turns"`
		}
	}
	r.eventually("the answer", func() bool {
		r.do("GET", "/v1/conversations/"+made.ID, "", &d)
		return d.Metrics.AgentTurns == 2
	})
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := r.client.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	b, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`hocket_conversations{agent="flights",transport="text"} 1`,
		`hocket_conversations_by_phase{phase="listening.ready"} 1`,
		`hocket_turns_total{agent="flights",outcome="turn-completed",role="agent"} 2`,
		`hocket_turns_total{agent="flights",outcome="turn-completed",role="user"} 1`,
		`hocket_time_to_first_audio_seconds_count{agent="flights"} 1`,
		`hocket_answer_stage_seconds_count{stage="voice"} 1`,
	} {
		if !strings.Contains(string(b), line+"\n") {
			t.Errorf("the metrics have no %s", line)
		}
	}
	if !strings.Contains(string(b), "hocket_frame_lateness_seconds_bucket") {
		t.Error("the metrics have no lateness")
	}
}

// TestServeWebRTC checks that a conversation continues with another browser when the first is
// lost.
func TestServeWebRTC(t *testing.T) {
	r := serve(t, "server: {drain: off}\nlimits: {grace: 100ms}")
	var agents struct {
		Agents []struct{ Speech bool }
	}
	r.do("GET", "/v1/agents", "", &agents)
	if !agents.Agents[0].Speech {
		t.Skipf("this build has no recognizer or no voice: %v", r.notes)
	}
	var heard atomic.Int64
	dial := func(request func(offer string) string) (*bench.Browser, createdAnswer) {
		t.Helper()
		browser, err := bench.NewBrowser(bench.BrowserOptions{
			Source: func() []byte { return nil }, Sink: func([]byte) { heard.Add(1) },
		})
		if err != nil {
			t.Fatal(err)
		}
		offer, err := browser.Offer(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var made createdAnswer
		if status := r.do("POST", "/v1/conversations", request(offer), &made); status != 201 {
			t.Fatalf("status %d", status)
		}
		if err := browser.Answer(t.Context(), made.SDP); err != nil {
			t.Fatal(err)
		}
		return browser, made
	}
	quoted := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	first, made := dial(func(offer string) string {
		return `{"agent":"flights","transport":"webrtc","sdp":` + quoted(offer) + `}`
	})
	r.eventually("the greeting", func() bool { return heard.Load() > 20 })
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	r.eventually("the loss", func() bool { return r.phase(made.ID) == "reconnecting" })
	before := heard.Load()
	second, again := dial(func(offer string) string {
		return `{"resume":` + quoted(made.ResumeToken) + `,"sdp":` + quoted(offer) + `}`
	})
	if again.ID != made.ID || again.ResumeToken == made.ResumeToken {
		t.Errorf("the conversation continues as %+v, it was %+v", again, made)
	}
	r.eventually("the return", func() bool { return r.phase(made.ID) != "reconnecting" })
	if status := r.do("POST", "/v1/conversations/"+made.ID+"/commands", `{"type":"send_text","text":"book a flight"}`, nil); status != 202 {
		t.Fatal(status)
	}
	r.eventually("the answer", func() bool { return heard.Load() > before+20 })
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestServeRealtime checks that a Realtime client talks to the agent that it names as its
// model, and that its conversation is listed.
func TestServeRealtime(t *testing.T) {
	const key = "key-number-one-0123456789"
	t.Setenv(DefaultKeysEnv, "office "+key)
	r := serve(t, "server: {drain: off}")
	r.key = key
	ctx := t.Context()
	dial := func(key string) *websocket.Conn {
		t.Helper()
		conn, w, err := websocket.Dial(ctx, r.url+"/v1/realtime?model=flights", &websocket.DialOptions{
			HTTPHeader: http.Header{"Authorization": {"Bearer " + key}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if w.Body != nil {
			_ = w.Body.Close() // of a connection that was taken over
		}
		conn.SetReadLimit(1 << 20)
		return conn
	}
	until := func(conn *websocket.Conn, what string) []byte {
		t.Helper()
		for {
			_, b, err := conn.Read(ctx)
			if err != nil {
				t.Fatalf("waiting for %s: %v", what, err)
			}
			if bytes.Contains(b, []byte(`"type":"`+what+`"`)) {
				return b
			}
		}
	}
	wrong := dial("somebody-elses-0123456789")
	if b := until(wrong, "error"); !bytes.Contains(b, []byte("invalid_api_key")) {
		t.Errorf("a wrong key is told %s", b)
	}
	_ = wrong.CloseNow()

	conn := dial(key)
	until(conn, "session.created")
	if err := conn.Write(ctx, websocket.MessageText, []byte(`{"type":"session.update","session":{"type":"realtime","output_modalities":["text"]}}`)); err != nil {
		t.Fatal(err)
	}
	until(conn, "session.updated")
	for _, event := range []string{
		`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"book a flight"}]}}`,
		`{"type":"response.create"}`,
	} {
		if err := conn.Write(ctx, websocket.MessageText, []byte(event)); err != nil {
			t.Fatal(err)
		}
	}
	until(conn, "response.done")
	var list struct {
		Conversations []struct {
			ID, Agent, Transport string
			Ended                time.Time
		}
	}
	r.do("GET", "/v1/conversations", "", &list)
	if len(list.Conversations) != 1 || list.Conversations[0].Transport != "realtime" || list.Conversations[0].Agent != "flights" {
		t.Fatalf("the list is %+v", list)
	}
	id := list.Conversations[0].ID
	if status := r.do("GET", "/v1/conversations/"+id+"/trace", "", nil); status != 200 {
		t.Errorf("its trace: status %d", status)
	}
	// Calls over WebRTC are answered by the browsers' server, which reads the offer.
	call, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+"/v1/realtime/calls", strings.NewReader("nonsense"))
	if err != nil {
		t.Fatal(err)
	}
	call.Header.Set("Authorization", "Bearer "+key)
	call.Header.Set("Content-Type", "application/sdp")
	refused, err := http.DefaultClient.Do(call)
	if err != nil {
		t.Fatal(err)
	}
	defer refused.Body.Close()
	if why, err := io.ReadAll(refused.Body); err != nil || refused.StatusCode != http.StatusBadRequest || !bytes.Contains(why, []byte("invalid_offer")) {
		t.Errorf("a bad offer: status %d, %s, %v", refused.StatusCode, why, err)
	}

	if err := conn.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Fatal(err)
	}
	r.eventually("the end", func() bool {
		r.do("GET", "/v1/conversations", "", &list)
		return !list.Conversations[0].Ended.IsZero()
	})
}

// TestBenchLatency measures a running server with a key, by text and, if this build has speech,
// as a browser.
func TestBenchLatency(t *testing.T) {
	const key = "key-number-one-0123456789"
	t.Setenv(DefaultKeysEnv, key)
	r := serve(t, "server: {drain: off}\nlimits: {grace: 100ms}")
	list, err := BenchLatency(t.Context(), BenchLatencyOptions{URL: r.url + "/", Key: key, Runs: 2})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 3 && len(list) != 7 {
		t.Errorf("%d measures: %+v", len(list), list)
	}
	for _, l := range list {
		if l.Runs != 2 || l.P50 <= 0 || l.P50 > l.Max || l.Limit <= 0 {
			t.Errorf("%+v", l)
		}
	}
	if _, err := BenchLatency(t.Context(), BenchLatencyOptions{URL: r.url, Runs: 1}); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("without the key: %v", err)
	}
	if _, err := BenchLatency(t.Context(), BenchLatencyOptions{URL: r.url, Key: key, Agent: "nobody", Runs: 1}); err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("an agent that there is not: %v", err)
	}
}

// TestServeRealtimeCall checks that a browser can call over the Realtime protocol with a key, from
// a page of another origin.
func TestServeRealtimeCall(t *testing.T) {
	const key = "key-number-one-0123456789"
	t.Setenv(DefaultKeysEnv, key)
	r := serve(t, "server: {drain: off}")
	for _, n := range r.notes {
		if strings.Contains(n, "text only") {
			t.Skipf("this build has no recognizer or no voice: %v", n)
		}
	}
	var heard, again atomic.Int64
	browser, err := bench.NewBrowser(bench.BrowserOptions{Source: func() []byte { return nil }, Sink: func([]byte) { heard.Add(1) }})
	if err != nil {
		t.Fatal(err)
	}
	offer, err := browser.Offer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	request := func(method, body string, headers map[string]string) (int, http.Header, string) {
		t.Helper()
		q, err := http.NewRequestWithContext(t.Context(), method, r.url+"/v1/realtime/calls?model=flights", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Origin", "https://page.example")
		for k, v := range headers {
			q.Header.Set(k, v)
		}
		w, err := r.client.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Body.Close()
		b, err := io.ReadAll(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		return w.StatusCode, w.Header, string(b)
	}
	status, header, _ := request(http.MethodOptions, "", map[string]string{"Access-Control-Request-Headers": "authorization"})
	if status != http.StatusNoContent || header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("the preflight is answered with %d %v", status, header)
	}
	if status, _, _ := request(http.MethodPost, offer, map[string]string{"Content-Type": "application/sdp"}); status != http.StatusUnauthorized {
		t.Errorf("without a key: status %d", status)
	}
	status, header, answer := request(http.MethodPost, offer, map[string]string{"Content-Type": "application/sdp", "Authorization": "Bearer " + key})
	if status != http.StatusCreated || !strings.HasPrefix(header.Get("Location"), "/v1/realtime/calls/") {
		t.Fatalf("status %d: %s", status, answer)
	}
	if err := browser.Answer(t.Context(), answer); err != nil {
		t.Fatal(err)
	}
	r.eventually("the greeting", func() bool { return heard.Load() > 20 })
	r.key = key
	var list struct {
		Conversations []struct{ Transport, Agent string }
	}
	r.do("GET", "/v1/conversations", "", &list)
	if len(list.Conversations) != 1 || list.Conversations[0].Transport != "realtime" {
		t.Errorf("the list is %+v", list)
	}
	// The page is loaded again: another connection, the same conversation.
	page, err := bench.NewBrowser(bench.BrowserOptions{Source: func() []byte { return nil }, Sink: func([]byte) { again.Add(1) }})
	if err != nil {
		t.Fatal(err)
	}
	if offer, err = page.Offer(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := header
	status, header, answer = request(http.MethodPost, offer, map[string]string{
		"Content-Type": "application/sdp", "Authorization": "Bearer " + key, "Hocket-Resume-Token": header.Get("Hocket-Resume-Token"),
	})
	if status != http.StatusCreated || header.Get("Location") != before.Get("Location") || !strings.Contains(header.Get("Access-Control-Expose-Headers"), "Hocket-Resume-Token") {
		t.Fatalf("status %d %v: %s", status, header, answer)
	}
	if err := page.Answer(t.Context(), answer); err != nil {
		t.Fatal(err)
	}
	r.eventually("the agent's sound", func() bool { return again.Load() > 20 })
	r.do("GET", "/v1/conversations", "", &list)
	if len(list.Conversations) != 1 {
		t.Errorf("the list is %+v", list)
	}
	for _, b := range []*bench.Browser{browser, page} {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestServeClientSecretsOwner checks that a conversation begun with an ephemeral key of the
// Realtime protocol belongs to the owner of the API key that created it: it counts against the
// owner's limit, and the owner sees it.
func TestServeClientSecretsOwner(t *testing.T) {
	t.Setenv(DefaultKeysEnv, "office office-key-0123456789, phone phone-key-0123456789")
	r := serve(t, "server: {drain: off, max_per_key: 1, access_log: true}")
	r.key = "office-key-0123456789"
	var secret struct{ Value string }
	if status := r.do("POST", "/v1/realtime/client_secrets", `{"session":{"type":"realtime","model":"flights"}}`, &secret); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	dial := func() *websocket.Conn {
		t.Helper()
		conn, w, err := websocket.Dial(t.Context(), r.url+"/v1/realtime", &websocket.DialOptions{
			HTTPClient: r.client, Subprotocols: []string{"realtime", "openai-insecure-api-key." + secret.Value},
		})
		if err != nil {
			t.Fatal(err)
		}
		if w.Body != nil {
			_ = w.Body.Close()
		}
		t.Cleanup(func() { _ = conn.CloseNow() })
		return conn
	}
	var models struct{ Data []struct{ ID string } }
	if status := r.do("GET", "/v1/models", "", &models); status != http.StatusOK || len(models.Data) != 1 || models.Data[0].ID != "flights" {
		t.Errorf("%d %v", status, models)
	}
	first := dial()
	conversations := func(key string) int {
		r.key = key
		var list struct {
			Conversations []struct{ ID, Transport string }
		}
		r.do("GET", "/v1/conversations", "", &list)
		return len(list.Conversations)
	}
	r.eventually("its conversation", func() bool { return conversations("office-key-0123456789") == 1 })
	if n := conversations("phone-key-0123456789"); n != 0 {
		t.Errorf("another owner sees %d conversations", n)
	}
	second := dial()
	for full := false; ; {
		_, b, err := second.Read(waittest.Context(t))
		if err != nil {
			if code := websocket.CloseStatus(err); !full || code != websocket.StatusTryAgainLater {
				t.Errorf("behind the limit: %v", err)
			}
			break
		}
		full = full || strings.Contains(string(b), "rate_limit_exceeded")
	}
	if err := first.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Error(err)
	}
	r.eventually("the lines of the access log", func() bool {
		return strings.Count(r.log.String(), `"method":"GET","route":"/v1/realtime","status":101,`) == 2
	})
	for _, want := range []string{`"route":"/v1/realtime/client_secrets","status":200,`, `"owner":"office","remote":"127.0.0.1:`} {
		if !strings.Contains(r.log.String(), want) {
			t.Errorf("the log has no %s:\n%s", want, r.log)
		}
	}
	if log := r.log.String(); strings.Contains(log, secret.Value) || strings.Contains(log, "office-key") {
		t.Errorf("the log has a key:\n%s", log)
	}
	r.key = "office-key-0123456789"
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+r.key)
	w, err := r.client.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	b, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`hocket_http_requests_total{code="101",method="GET",route="/v1/realtime"} 2`, "hocket_http_requests_in_flight 1\n",
		`hocket_http_request_duration_seconds_count{route="/v1/realtime/client_secrets"} 1`, "go_gc_heap_live_bytes",
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the metrics have no %s", want)
		}
	}
}
