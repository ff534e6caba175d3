package realtime_test

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hocketvoice/hocket/internal/nettest"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/provider/realtime"
	"github.com/hocketvoice/hocket/provider/realtime/fake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "sk-sesame-opens-nothing"

// serve returns a service of a fake, over a network in memory.
func serve(t *testing.T, s *fake.Server, change func(*realtime.Options), freeze ...frozen) (*realtime.Service, *nettest.Memory) {
	t.Helper()
	network := nettest.Serve(t, s)
	transport := network.Transport()
	for _, f := range freeze {
		f.wrap(transport)
	}
	o := realtime.Options{
		Model: "gpt-realtime", Transport: transport,
		Getenv: func(name string) string {
			return map[string]string{realtime.OpenAIKeyEnv: key, realtime.AzureKeyEnv: key, "AZURE_CLIENT_SECRET": "app-secret-9"}[name]
		},
	}
	if change != nil {
		change(&o)
	}
	service, err := realtime.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := service.Close(); err != nil {
			t.Error(err)
		}
		transport.CloseIdleConnections()
	})
	return service, network
}

// frozen is a network whose connections may stop to carry anything, without an end.
type frozen struct {
	on chan struct{} // closed when they stop
}

// wrap makes the connections of a transport stop.
func (f frozen) wrap(t *http.Transport) {
	for _, dial := range []*func(context.Context, string, string) (net.Conn, error){&t.DialContext, &t.DialTLSContext} {
		next := *dial
		*dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := next(ctx, network, address)
			return &frozenConn{Conn: c, on: f.on, closed: make(chan struct{})}, err
		}
	}
}

// frozenConn is a connection of such a network.
type frozenConn struct {
	net.Conn
	on, closed chan struct{}
	once       sync.Once
}

func (c *frozenConn) hold() {
	select {
	case <-c.on:
		<-c.closed
	default:
	}
}

func (c *frozenConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.hold()
	return n, err
}

func (c *frozenConn) Write(b []byte) (int, error) {
	c.hold()
	return c.Conn.Write(b)
}

func (c *frozenConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// lab returns the laboratory of the conformance suite.
func lab(change func(*fake.Server, *realtime.Options)) porttest.UpstreamLab {
	var server *fake.Server
	service := func(t *testing.T, f porttest.UpstreamFault) port.Upstream {
		server = &fake.Server{Key: key, Late: 100 * time.Millisecond}
		ice := frozen{make(chan struct{})}
		for range 10 {
			server.Heard = append(server.Heard, porttest.UpstreamHeardWords)
		}
		server.Answer = func(r fake.Request) fake.Answer {
			if r.Aside {
				return fake.Answer{Text: fake.Said(r), Gap: 20 * time.Millisecond}
			}
			if last := r.Last(); len(last.Content) > 0 && last.Content[0].Text == porttest.UpstreamAsksForTool {
				return fake.Answer{Calls: []fake.Call{{ID: "call_1", Name: "clock", Arguments: "{}"}}}
			}
			a := fake.Answer{Text: porttest.UpstreamAnswer, First: 10 * time.Millisecond, Gap: 20 * time.Millisecond}
			switch f {
			case porttest.UpstreamCut:
				a.Cut = true
			case porttest.UpstreamGarbage:
				a.Raw = `{"type": "response.output_`
			case porttest.UpstreamFrozen:
				a.Early = func() { close(ice.on) }
			}
			return a
		}
		switch f {
		case porttest.UpstreamBadKey:
			server.Key = "sk-another"
		case porttest.UpstreamBusy:
			server.Refuse = func(int) *fake.Refusal {
				return &fake.Refusal{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"7"}}, Body: `{"error":{"message":"busy ` + key + `"}}`}
			}
		case porttest.UpstreamMute:
			server.Mute = true
		case porttest.UpstreamLimited:
			server.Requests, server.Reset, server.Used = 1, 7*time.Second, true
		case porttest.UpstreamExpires:
			server.Limit = time.Minute
		}
		service, _ := serve(t, server, func(o *realtime.Options) {
			if change != nil {
				change(server, o)
			}
		}, ice)
		t.Cleanup(func() {
			for _, refused := range server.Refused() {
				t.Errorf("the client asked for what the protocol does not allow: %s", refused)
			}
		})
		return service
	}
	return porttest.UpstreamLab{Service: service, Secret: key, Known: func() []string { return known(server.Items(server.Sessions())) }}
}

// known returns the words and results of a conversation.
func known(items []wire.Item) (list []string) {
	for _, it := range items {
		switch it.Type {
		case wire.FunctionCallOutput:
			list = append(list, it.Output)
		case wire.Message:
			for _, c := range it.Content {
				if words := c.Words(); words != "" {
					list = append(list, words)
				}
			}
		}
	}
	return list
}

func TestService(t *testing.T) {
	for name, change := range map[string]func(*fake.Server, *realtime.Options){
		"OpenAI": nil,
		"G.711":  func(_ *fake.Server, o *realtime.Options) { o.Format = realtime.FormatPCMU },
		"semantic_vad": func(_ *fake.Server, o *realtime.Options) {
			o.Detection = realtime.DetectSemantic
		},
		"no metadata": func(s *fake.Server, _ *realtime.Options) { s.NoMetadata = true },
		"beta": func(s *fake.Server, o *realtime.Options) {
			s.Beta, o.Beta = true, true
		},
		"Azure": func(_ *fake.Server, o *realtime.Options) {
			o.URL = "wss://mine.openai.azure.com/openai/v1/realtime"
		},
		"Azure preview": func(s *fake.Server, o *realtime.Options) {
			s.Beta, o.URL, o.APIVersion = true, "wss://mine.openai.azure.com", "2024-10-01-preview"
		},
		"client secrets": func(_ *fake.Server, o *realtime.Options) {
			o.Secrets = "https://api.openai.com/v1/realtime/client_secrets"
		},
		"rude": func(s *fake.Server, _ *realtime.Options) { s.Rude = true },
	} {
		t.Run(name, func(t *testing.T) { porttest.TestUpstream(t, lab(change)) })
	}
}
