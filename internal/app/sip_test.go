package app

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/emiago/sipgo"
	"github.com/emiago/sipgo/sip"
	"github.com/pion/rtp"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/internal/wire/dtmf"
	"github.com/hocketvoice/hocket/internal/wire/sdp"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/server/api"
	"github.com/hocketvoice/hocket/server/hub"
)

// sipPhone serves an agent over SIP until the test ends.
func sipPhone(t *testing.T, log *lockedBuffer, section string) *Server {
	t.Helper()
	dir := t.TempDir()
	agent, file := filepath.Join(dir, "hello.yaml"), filepath.Join(dir, "c.yaml")
	for path, text := range map[string]string{
		agent: "settings: {greeting: " + longGreeting + "}\nflows: {hi: {trigger: {intents: [hallo]}, steps: [{step: a, type: say, message: Hi.}]}}\n",
		file:  "server: {drain: 0s, sip: {addr: '127.0.0.1:0', " + section + "}}\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := NewServer(ServeOptions{
		Agents: []string{agent}, Config: file, Addr: "127.0.0.1:0", Store: NoStore, Log: slog.New(slog.NewTextHandler(log, nil)),
		Speech: &Speech{Recognizer: &porttest.Recognizer{Texts: []string{"hallo"}}, Synthesizer: &porttest.Synthesizer{}, Detector: &porttest.Detector{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

// sipCaller is a telephone made of the library's own dialogs.
type sipCaller struct {
	dialogs *sipgo.DialogClientCache
	sound   *net.UDPConn
	hungUp  chan struct{} // closed when the server hangs up
}

func newSIPCaller(t *testing.T) *sipCaller {
	t.Helper()
	ua, err := sipgo.NewUA(sipgo.WithUserAgent("+15551234567"))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	sound, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	client, err := sipgo.NewClient(ua, sipgo.WithClientConnectionAddr(conn.LocalAddr().String()))
	if err != nil {
		t.Fatal(err)
	}
	srv, err := sipgo.NewServer(ua)
	if err != nil {
		t.Fatal(err)
	}
	at := conn.LocalAddr().(*net.UDPAddr)
	c := &sipCaller{
		dialogs: sipgo.NewDialogClientCache(client, sip.ContactHeader{Address: sip.Uri{Scheme: "sip", User: "caller", Host: "127.0.0.1", Port: at.Port}}),
		sound:   sound, hungUp: make(chan struct{}),
	}
	srv.OnBye(func(req *sip.Request, tx sip.ServerTransaction) {
		_ = c.dialogs.ReadBye(req, tx)
		close(c.hungUp)
	})
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = srv.ServeUDP(conn)
	}()
	waittest.Until(t, "the telephone", nil, func() bool { return ua.TransportLayer().Pool("udp").Size() > 0 })
	t.Cleanup(func() {
		_ = conn.Close()
		_ = sound.Close()
		_ = ua.Close()
		<-served
	})
	return c
}

// dial calls a number of the server.
func (c *sipCaller) dial(t *testing.T, s *Server, number string) (*sipgo.DialogClientSession, *net.UDPAddr, error) {
	t.Helper()
	at := s.sip.Addr()
	port := c.sound.LocalAddr().(*net.UDPAddr).Port
	offer := fmt.Sprintf("v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio %d RTP/AVP 8 101\r\na=rtpmap:101 telephone-event/8000\r\n", port)
	d, err := c.dialogs.Invite(waittest.Context(t), sip.Uri{Scheme: "sip", User: number, Host: at.Addr().String(), Port: int(at.Port())}, []byte(offer), sip.NewHeader("Content-Type", "application/sdp"))
	if err != nil {
		return nil, nil, err
	}
	if err := d.WaitAnswer(waittest.Context(t), sipgo.AnswerOptions{Username: "ada", Password: "sip-secret"}); err != nil {
		return nil, nil, err
	}
	if err := d.Ack(waittest.Context(t)); err != nil {
		return nil, nil, err
	}
	answer, err := sdp.Parse(d.InviteResponse.Body())
	if err != nil || len(answer.Media) != 1 {
		t.Fatalf("the answer is %v\n%s", err, d.InviteResponse)
	}
	return d, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: answer.Media[0].Port}, nil
}

// hears returns when a caller hears the agent, or no longer hears it.
func (c *sipCaller) hears(t *testing.T, loud bool) {
	t.Helper()
	deadline, _ := waittest.Context(t).Deadline()
	_ = c.sound.SetReadDeadline(deadline)
	buf := make([]byte, 1500)
	for quiet := 0; quiet < 10; {
		n, err := c.sound.Read(buf)
		if err != nil {
			t.Fatalf("waited in vain for sound (%v): %v", loud, err)
		}
		var p rtp.Packet
		if err := p.Unmarshal(buf[:n]); err != nil || p.PayloadType != 8 {
			t.Fatalf("a packet is %v, %+v", err, p.Header)
		}
		if audio.Peak(audio.ALaw.AppendDecode(nil, p.Payload)) > 0.03 {
			if quiet = 0; loud {
				return
			}
		} else if !loud {
			quiet++
		}
	}
}

// press presses a key.
func (c *sipCaller) press(t *testing.T, to *net.UDPAddr, key byte) {
	t.Helper()
	event, _ := dtmf.Event(key)
	p := rtp.Packet{Header: rtp.Header{Version: 2, PayloadType: 101, SSRC: 1, Timestamp: 8000, Marker: true}, Payload: dtmf.AppendPayload(nil, event, false, 0)}
	b, err := p.Marshal()
	if err == nil {
		_, err = c.sound.WriteTo(b, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestSIPCall calls a number of the program over SIP: who has the password hears the greeting, a key stops
// the agent, the conversation has the caller's number, which no log has, and both sides can hang up.
func TestSIPCall(t *testing.T) {
	t.Setenv("TEST_SIP_PASSWORD", "sip-secret")
	log := &lockedBuffer{}
	s := sipPhone(t, log, `users: [{name: ada, password_env: TEST_SIP_PASSWORD}], numbers: [{number: "+15557654321", agent: hello}]`)
	c := newSIPCaller(t)
	d, to, err := c.dial(t, s, "15557654321")
	if err != nil {
		t.Fatal(err)
	}
	c.hears(t, true)
	all := s.hub.List(nil)
	if len(all) != 1 || all[0].Transport != "phone" || all[0].Agent != "hello" {
		t.Fatalf("the conversations are %+v", all)
	}
	if conversation, ok := s.hub.Find(all[0].ID); !ok || conversation.Caller() != api.CallerOf("", "+15551234567") {
		t.Error("the conversation has not the caller's number")
	}
	c.press(t, to, '7')
	c.hears(t, false)
	if err := d.Bye(waittest.Context(t)); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "its end", nil, func() bool {
		return s.hub.Live() == 0 && strings.Contains(log.String(), `msg="a call is over" cause=normal by=caller`)
	})

	if _, _, err := c.dial(t, s, "15550000000"); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("a number that there is not: %v", err)
	}
	if _, _, err = c.dial(t, s, "+15557654321"); err != nil {
		t.Fatal(err)
	}
	c.hears(t, true)
	for _, info := range s.hub.List(nil) {
		if one, ok := s.hub.Find(info.ID); ok && info.Ended.IsZero() {
			if err := one.Command(hub.Command{Type: "endConversation"}); err != nil {
				t.Error(err)
			}
		}
	}
	select {
	case <-c.hungUp:
	case <-waittest.Context(t).Done():
		t.Error("the call is not hung up")
	}
	if text := log.String(); strings.Contains(text, "5551234567") || strings.Contains(text, "sip-secret") || strings.Contains(text, "level=WARN") {
		t.Errorf("the log has a number, a secret or a warning:\n%s", text)
	}
}

// TestSIPNeedsPasswords: a password that is not set, an agent that there is not, and TLS without a
// certificate are errors at the start.
func TestSIPNeedsPasswords(t *testing.T) {
	dir := t.TempDir()
	for section, want := range map[string]string{ //nolint:gosec // no credentials
		"users: [{name: ada, password_env: TEST_SIP_NOT_SET}]":       "server.sip.users[0]: the environment variable TEST_SIP_NOT_SET is not set",
		"allow: [10.0.0.1], agent: nobody":                           `server.sip.agent: is "nobody"`,
		"allow: [10.0.0.1], numbers: [{number: '1', agent: nobody}]": `server.sip.numbers[0].agent: is "nobody"`,
		"allow: [10.0.0.1], tls_addr: '127.0.0.1:0'":                 "server.sip.tls_addr: there is no certificate",
	} {
		file := filepath.Join(dir, "c.yaml")
		if err := os.WriteFile(file, []byte("server: {sip: {addr: '127.0.0.1:0', "+section+"}}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := NewServer(ServeOptions{Config: file, Addr: "127.0.0.1:0", Store: NoStore, Speech: &Speech{}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", section, err, want)
		}
	}
}
