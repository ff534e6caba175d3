package app

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestIdleFloodLocksNobodyOut checks that more idle connections of one address than the
// server has places do not lock out others, with TLS too: the surplus is closed at once, and
// clients of other addresses are answered while the rest stay open.
func TestIdleFloodLocksNobodyOut(t *testing.T) {
	cert := t.TempDir()
	certificate(t, cert, "flood.example")
	for name, more := range map[string]string{"plain": "", "TLS": ", tls: {cert: " + cert + "/cert.pem, key: " + cert + "/key.pem}"} {
		t.Run(name, func(t *testing.T) {
			r := serve(t, "server: {max_connections: 60, max_connections_per_address: 40, drain: off"+more+"}")
			_, host, _ := strings.Cut(r.url, "://")
			var flood []net.Conn
			for range 200 {
				c, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).DialContext(t.Context(), "tcp", host)
				if err != nil {
					t.Skip("this machine has one loopback address alone: ", err)
				}
				defer c.Close()
				flood = append(flood, c)
			}
			for i, c := range flood[:160] { // the longest idle make room for the later ones
				if _, err := c.Read(make([]byte, 1)); err == nil {
					t.Fatalf("surplus connection %d is answered", i)
				}
			}
			if status := r.do("GET", "/v1/agents", "", nil); status != http.StatusOK {
				t.Errorf("status %d", status)
			}
			// The other connections are open and answered.
			last := flood[len(flood)-1]
			if more != "" {
				last = tls.Client(last, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // its own certificate
			}
			if _, err := io.WriteString(last, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			if b, err := io.ReadAll(last); err != nil || !strings.HasPrefix(string(b), "HTTP/1.1 200") {
				t.Errorf("%q, error %v", b, err)
			}
		})
	}
}

// TestProxyNamesTheAddress checks that the access log has the address that a trusted proxy
// names, and that the header of others is ignored.
func TestProxyNamesTheAddress(t *testing.T) {
	for trusted, want := range map[string]string{"127.0.0.1": `"remote":"192.0.2.1"`, "127.0.0.9": `"remote":"127.0.0.1:`} {
		r := serve(t, "server: {trusted_proxies: ["+trusted+"], access_log: true, drain: off}")
		q, err := http.NewRequestWithContext(context.Background(), http.MethodGet, r.url+"/v1/agents", nil)
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("X-Forwarded-For", "203.0.113.1, 192.0.2.1")
		w, err := r.client.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		_ = w.Body.Close() // its line in the log is enough
		if err := r.end(); err != nil {
			t.Error(err)
		}
		if !strings.Contains(r.log.String(), want) {
			t.Errorf("trusted %s: %s", trusted, r.log.String())
		}
	}
}
