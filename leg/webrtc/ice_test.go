package webrtc

import (
	"errors"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pion/logging"
	"github.com/pion/turn/v5"
	pion "github.com/pion/webrtc/v4"
)

// TestTURNCredentials checks the credentials against those computed with
// `printf 1767225600:conv_1 | openssl dgst -sha1 -hmac north -binary | base64`.
func TestTURNCredentials(t *testing.T) {
	now := time.Unix(1767225600-3600, 0)
	s := ICEService{URLs: []string{"turn:turn.example"}, Secret: "north"}
	got := s.For("conv_1", now)
	if got.Username != "1767225600:conv_1" || got.Credential != "8hlgWca8T0li9UVFcsCEN5tChWM=" || got.URLs[0] != "turn:turn.example" {
		t.Errorf("got %+v", got)
	}
	if got := (ICEService{URLs: []string{"stun:stun.example"}}).For("conv_1", now); got.Username != "" || got.Credential != "" {
		t.Errorf("a STUN server has credentials: %+v", got)
	}
}

func TestICEServiceInvalid(t *testing.T) {
	for want, s := range map[string]ICEService{
		"urls are missing":                             {},
		`url "http://a" must`:                          {URLs: []string{"http://a"}},
		`url "turn://a" must`:                          {URLs: []string{"turn://a"}, Secret: "s"},
		"needs a secret":                               {URLs: []string{"turn:a"}},
		"must not both be set":                         {URLs: []string{"turn:a"}, Secret: "s3cret", Username: "u", Credential: "c"},
		"username and credential must be set together": {URLs: []string{"stun:a"}, Username: "u"},
	} {
		err := s.Validate()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%+v: %v, expected %q", s.URLs, err, want)
		}
	}
	if err := (ICEService{URLs: []string{"stun:a:3478", "turn:a?transport=tcp", "turns:a:443"}, Secret: "s"}).Validate(); err != nil {
		t.Error(err)
	}
}

// relay starts a TURN server on the loopback interface, reachable over UDP and TCP,
// with credentials made from a shared secret.
func relay(t *testing.T, secret string) (udp, tcp string) {
	t.Helper()
	logs := logging.NewDefaultLoggerFactory()
	logs.DefaultLogLevel = logging.LogLevelDisabled
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	check(t, err)
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	check(t, err)
	generator := &turn.RelayAddressGeneratorStatic{RelayAddress: net.IPv4(127, 0, 0, 1), Address: "127.0.0.1"}
	anyone := func(net.Addr, net.IP) bool { return true }
	s, err := turn.NewServer(turn.ServerConfig{
		Realm: "test", LoggerFactory: logs, AuthHandler: turn.LongTermTURNRESTAuthHandler(secret, logs.NewLogger("auth")),
		PacketConnConfigs: []turn.PacketConnConfig{{PacketConn: conn, RelayAddressGenerator: generator, PermissionHandler: anyone}},
		ListenerConfigs:   []turn.ListenerConfig{{Listener: listener, RelayAddressGenerator: generator, PermissionHandler: anyone}},
	})
	check(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the relay: %v", err)
		}
	})
	return conn.LocalAddr().String(), listener.Addr().String()
}

// TestRelayOnly checks that a browser that can only reach its TURN server can hold a
// call, over UDP or, if UDP is blocked, over TCP. Its credentials are made from the
// shared secret; others are refused.
func TestRelayOnly(t *testing.T) {
	t.Parallel()
	udp, tcp := relay(t, "north")
	for _, c := range []struct{ name, url, secret string }{
		{"over UDP", "turn:" + udp + "?transport=udp", "north"},
		{"UDP is blocked", "turn:" + tcp + "?transport=tcp", "north"},
		{"another secret", "turn:" + udp + "?transport=udp", "south"},
	} {
		t.Run(c.name, func(t *testing.T) {
			told := ICEService{URLs: []string{c.url}, Secret: c.secret}.For("conv_1", time.Now())
			o := clientOptions{config: pion.Configuration{
				ICETransportPolicy: pion.ICETransportPolicyRelay,
				ICEServers:         []pion.ICEServer{{URLs: told.URLs, Username: told.Username, Credential: told.Credential}},
			}, settings: func(s *pion.SettingEngine) { s.SetNetworkTypes([]pion.NetworkType{pion.NetworkTypeUDP4}) }}
			s := server(t, Options{})
			if c.secret != "north" {
				if offer := newClient(t, o).offer(nil); strings.Contains(offer, " typ relay") {
					t.Error("the TURN server takes credentials of another secret")
				}
				return
			}
			client, l := connect(t, s, o)
			hearing(t, client, l)
			pair, err := client.pc.SCTP().Transport().ICETransport().GetSelectedCandidatePair()
			check(t, err)
			if pair.Local.Typ != pion.ICECandidateTypeRelay {
				t.Errorf("the browser's candidate is %v, expected a relay", pair.Local)
			}
		})
	}
}

// TestTCPOnly checks that a browser without UDP holds a call over the TCP port.
func TestTCPOnly(t *testing.T) {
	t.Parallel()
	s := server(t, Options{TCP: "127.0.0.1:0"})
	client, l := connect(t, s, clientOptions{settings: func(s *pion.SettingEngine) {
		s.SetNetworkTypes([]pion.NetworkType{pion.NetworkTypeTCP4})
	}})
	hearing(t, client, l)
	pair, err := client.pc.SCTP().Transport().ICETransport().GetSelectedCandidatePair()
	check(t, err)
	if at := s.TCPAddr().(*net.TCPAddr); pair.Remote.Protocol != pion.ICEProtocolTCP || int(pair.Remote.Port) != at.Port {
		t.Errorf("the server's candidate is %v, expected TCP at %v", pair.Remote, at)
	}
}

// TestPortRange checks that each call has a port of its own in the range, and that a call
// beyond the range is refused.
func TestPortRange(t *testing.T) {
	t.Parallel()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	check(t, err)
	port := uint16(conn.LocalAddr().(*net.UDPAddr).Port)
	check(t, conn.Close())
	s := server(t, Options{Ports: PortRange{port, port}})
	client, l := connect(t, s, clientOptions{})
	hearing(t, client, l)
	pair, err := client.pc.SCTP().Transport().ICETransport().GetSelectedCandidatePair()
	check(t, err)
	if pair.Remote.Port != port {
		t.Errorf("the server's port is %d, expected %d", pair.Remote.Port, port)
	}
	if _, _, err := s.Accept(t.Context(), newClient(t, clientOptions{}).offer(nil)); !errors.Is(err, ErrFull) {
		t.Errorf("a call for which no port is left: %v, expected %v", err, ErrFull)
	}
}

// TestPublicAddresses checks which addresses browsers are told.
func TestPublicAddresses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		o    Options
		want []string
		not  string
	}{
		{"public alone", Options{PublicIPs: []string{"203.0.113.7"}}, []string{" 203.0.113.7 "}, " 127.0.0.1 "},
		{"public and private", Options{PublicIPs: []string{"203.0.113.7"}, KeepPrivate: true}, []string{" 203.0.113.7 ", " 127.0.0.1 "}, "::"},
		{"a host name", Options{PublicIPs: []string{"localhost"}}, []string{" 127.0.0.1 "}, "localhost"},
		{"over TCP", Options{PublicIPs: []string{"203.0.113.7"}, TCP: "127.0.0.1:0"}, []string{" 203.0.113.7 ", " tcptype passive"}, " 127.0.0.1 "},
		{"in a range", Options{PublicIPs: []string{"203.0.113.7"}, Ports: PortRange{20000, 60000}}, []string{" 203.0.113.7 "}, " 127.0.0.1 "},
	} {
		s := server(t, c.o)
		l, answer, err := s.Accept(t.Context(), newClient(t, clientOptions{}).offer(nil))
		check(t, err)
		check(t, l.Close())
		candidates := ""
		for line := range strings.Lines(answer) {
			if strings.HasPrefix(line, "a=candidate:") {
				candidates += line
			}
		}
		for _, want := range c.want {
			if !strings.Contains(candidates, want) {
				t.Errorf("%s: no candidate with %q:\n%s", c.name, want, candidates)
			}
		}
		if strings.Contains(candidates, c.not) {
			t.Errorf("%s: a candidate with %q:\n%s", c.name, c.not, candidates)
		}
	}
}

func TestAddressesInvalid(t *testing.T) {
	for want, o := range map[string]Options{
		"must be an IP address or a host name": {PublicIPs: []string{"203.0.113.999"}},
		"ports 9-8 must be a range":            {Ports: PortRange{9, 8}},
		"ports 0-8 must be a range":            {Ports: PortRange{0, 8}},
		"TCP address":                          {TCP: "127.0.0.1"},
		"address \"127.0.0.1:1-2\"":            {Addr: "127.0.0.1:1-2"},
	} {
		if s, err := NewServer(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, expected %q", o, err, want)
			if err == nil {
				check(t, s.Close())
			}
		}
	}
	if _, err := NewServer(Options{PublicIPs: []string{"no-such-host.invalid"}}); err == nil {
		t.Error("a name without an address is accepted")
	}
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer busy.Close()
	if _, err := NewServer(Options{TCP: "127.0.0.1:" + strconv.Itoa(busy.Addr().(*net.TCPAddr).Port)}); err == nil {
		t.Error("a TCP port of another program is accepted")
	}
}
