package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	sdk "github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2aclient"

	"github.com/hocketvoice/hocket/internal/httpclient"
	"github.com/hocketvoice/hocket/internal/redact"
	"github.com/hocketvoice/hocket/internal/toolset"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// Agents provides remote agents as tools. It is safe for concurrent use.
type Agents struct {
	o      Options
	agents []*agent
	web    *http.Transport
}

var _ port.Tool = (*Agents)(nil)

// agent is a connected agent.
type agent struct {
	o       *Options
	a       *Agent
	client  *a2aclient.Client
	streams bool
	spec    port.ToolSpec
	secret  string
}

// Open reads the cards of all agents in parallel. It returns an error if a card
// cannot be read or an agent does not support JSON-RPC. ctx applies to Open only.
func Open(ctx context.Context, o Options) (*Agents, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("a2a: %w", err)
	}
	web, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		web = &http.Transport{}
	}
	m := &Agents{o: o.withDefaults(), web: web.Clone()}
	m.agents = make([]*agent, len(o.Agents))
	errs := make([]error, len(o.Agents))
	var starts sync.WaitGroup
	for i := range m.agents {
		starts.Go(func() { m.agents[i], errs[i] = m.find(ctx, &m.o.Agents[i]) })
	}
	starts.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// Close closes the idle connections.
func (m *Agents) Close() error {
	m.web.CloseIdleConnections()
	return nil
}

// find reads an agent's card and creates its client.
func (m *Agents) find(ctx context.Context, a *Agent) (*agent, error) {
	ctx, cancel := context.WithTimeout(ctx, a.StartTimeout)
	defer cancel()
	v := &agent{o: &m.o, a: a}
	if a.KeyEnv != "" {
		key, ok := m.o.Getenv(a.KeyEnv)
		if !ok {
			return nil, fmt.Errorf("a2a: %s: the environment variable %s is not set", a.Name, a.KeyEnv)
		}
		v.secret = key
	}
	web := &http.Client{
		Transport:     transport{&httpclient.Transport{Base: m.web, Key: v.secret, MaxAnswer: maxMessage}},
		CheckRedirect: httpclient.SameServer,
	}
	card, err := fetchCard(ctx, web, a.URL)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("no answer within %v", a.StartTimeout)
		}
		return nil, fmt.Errorf("a2a: %s: its card: %s", a.Name, v.hide(err.Error()))
	}
	endpoint, err := v.endpoint(card)
	if err != nil {
		return nil, fmt.Errorf("a2a: %s: %w", a.Name, err)
	}
	v.client, err = a2aclient.NewFromEndpoints(ctx, []sdk.AgentInterface{endpoint}, a2aclient.WithDefaultsDisabled(), a2aclient.WithJSONRPCTransport(web))
	if err != nil {
		return nil, fmt.Errorf("a2a: %s: %s", a.Name, v.hide(err.Error()))
	}
	schema, err := toolset.ObjectSchema([]toolset.Argument{{Name: "message", Type: "string", Description: "what the agent is to do, in words"}})
	if err != nil {
		return nil, err
	}
	v.streams = card.Capabilities.Streaming
	v.spec = port.ToolSpec{
		Name: a.Name, Description: description(a, card), Schema: schema,
		Long: true, Irreversible: !a.Repeatable, Confirm: a.Confirm,
	}
	return v, nil
}

// fetchCard reads a card. If the URL has no path, it uses the protocol's well-known
// path.
func fetchCard(ctx context.Context, web *http.Client, at string) (*sdk.AgentCard, error) {
	u, err := address(at)
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(u.Path, ".json") {
		u = u.JoinPath(".well-known", "agent-card.json")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	resp, err := web.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server responded %s", resp.Status)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxCard+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxCard {
		return nil, fmt.Errorf("it has more than %d bytes", maxCard)
	}
	var card sdk.AgentCard
	if err := json.Unmarshal(text, &card); err != nil {
		return nil, errors.New("not an agent card")
	}
	return &card, nil
}

// endpoint returns an agent's JSON-RPC endpoint. If there is a key, the endpoint
// must be on the card's own server.
func (v *agent) endpoint(card *sdk.AgentCard) (sdk.AgentInterface, error) {
	preferred := sdk.AgentInterface{Transport: card.PreferredTransport, URL: card.URL}
	if preferred.Transport == "" {
		preferred.Transport = sdk.TransportProtocolJSONRPC
	}
	all := append([]sdk.AgentInterface{preferred}, card.AdditionalInterfaces...)
	i := slices.IndexFunc(all, func(e sdk.AgentInterface) bool { return e.Transport == sdk.TransportProtocolJSONRPC })
	if i < 0 {
		return preferred, errors.New("the agent card does not offer JSON-RPC")
	}
	own, err1 := address(v.a.URL)
	to, err2 := address(all[i].URL)
	if err := errors.Join(err1, err2); err != nil {
		return preferred, fmt.Errorf("the agent card has the URL %q: expected an http or https URL", redact.Cut(all[i].URL, maxFailure))
	}
	if v.secret != "" && (own.Host != to.Host || own.Scheme != to.Scheme) {
		return preferred, fmt.Errorf("the agent card has the URL %s://%s: the key is only sent to %s://%s", to.Scheme, to.Host, own.Scheme, own.Host)
	}
	return all[i], nil
}

// description returns the description of an agent for a model.
func description(a *Agent, card *sdk.AgentCard) string {
	text := a.Description
	if text == "" {
		text = card.Description
		for _, s := range card.Skills {
			text += "\n" + s.Name + ": " + s.Description
		}
	}
	return redact.Cut(strings.ToValidUTF8(strings.TrimSpace(text), "?"), maxDescription)
}

// Specs returns the descriptions of the agents.
func (m *Agents) Specs() []port.ToolSpec {
	list := make([]port.ToolSpec, len(m.agents))
	for i, v := range m.agents {
		list[i] = v.spec
	}
	return list
}

// Call sends a task to an agent once and waits for its end. Errors are of type
// [*port.Failure] with the artifacts so far, and do not contain credentials.
func (m *Agents) Call(ctx context.Context, call port.ToolCall, progress func(string)) (string, error) {
	i := slices.IndexFunc(m.agents, func(v *agent) bool { return v.a.Name == call.Name })
	if i < 0 {
		return "", failure(errclass.ToolError, "unknown agent %q", call.Name)
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	var args struct{ Message string }
	if err := json.Unmarshal([]byte(call.Arguments), &args); err != nil {
		return "", failure(errclass.InvalidArgs, "%s: the arguments are not a JSON object with a message", call.Name)
	}
	if progress == nil {
		progress = func(string) {}
	}
	return m.agents[i].run(ctx, call.ID, args.Message, progress)
}

// hide removes the key from a text and converts it to one line of limited length.
func (v *agent) hide(text string) string {
	return redact.Cut(redact.OneLine(redact.Hide(text, v.secret)), maxFailure)
}

func failure(code, format string, args ...any) *port.Failure {
	return &port.Failure{Code: code, Message: fmt.Sprintf(format, args...)}
}
