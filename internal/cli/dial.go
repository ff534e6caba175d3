package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/server/api"
)

// dialCmd asks a server to place a telephone call.
type dialCmd struct {
	To     string `arg:"" help:"The number, such as +15550100. The server's config must allow it (server.dial)."`
	Server string `default:"http://127.0.0.1:8080" placeholder:"URL" help:"The server."`
	Agent  string `placeholder:"NAME" help:"The agent; without it the server's first."`
	KeyEnv string `placeholder:"NAME" default:"HOCKET_API_KEY" help:"The environment variable with the API key (default HOCKET_API_KEY)."`
}

// Help returns the long help.
func (dialCmd) Help() string {
	return `Prints what becomes known of the call until it is over. Exit status 1 if nobody has talked with the agent: busy, no answer, rejected, unreachable, or a machine with which no message was left. Ctrl-C ends the command, not the call.`
}

// askPause is the time between two questions for the state of a call.
const askPause = 500 * time.Millisecond

// Run runs the command.
func (c *dialCmd) Run(s *streams) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	call, err := c.ask(ctx, http.MethodPost, "/v1/calls", api.NewPhoneCall{To: c.To, Agent: c.Agent})
	if err != nil {
		return err
	}
	told := ""
	tick := time.NewTicker(askPause)
	defer tick.Stop()
	for {
		if line := dialLine(call); line != told {
			told = line
			if err := s.printf("%s\n", line); err != nil {
				return err
			}
		}
		if call.Status == "ended" {
			if call.Outcome != "completed" && call.Outcome != "message" {
				return errFinding
			}
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if call, err = c.ask(ctx, http.MethodGet, "/v1/calls/"+call.ID, nil); err != nil {
			return err
		}
	}
}

// dialLine returns what is known of a call.
func dialLine(c api.PhoneCall) string {
	switch {
	case c.Status == "ended" && c.Reason != "":
		return "over: " + c.Reason
	case c.Status == "ended":
		return "over: " + map[string]string{
			"completed": "the conversation has ended", "message": "a message was left", "machine": "a machine has answered",
			"hung_up": "who has answered has hung up",
		}[c.Outcome]
	case c.Conversation != "":
		return "answered, conversation " + c.Conversation
	case c.Status == "answered" && c.AnsweredBy != "":
		return "answered by a " + strings.Replace(c.AnsweredBy, "recording", "machine", 1)
	default:
		return c.Status
	}
}

// ask makes a request of the API.
func (c *dialCmd) ask(ctx context.Context, method, path string, body any) (call api.PhoneCall, err error) {
	var data io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return call, err
		}
		data = bytes.NewReader(b)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(c.Server, "/")+path, data)
	if err != nil {
		return call, badInputf("--server is %q: expected a URL such as http://127.0.0.1:8080", c.Server)
	}
	if key := os.Getenv(c.KeyEnv); key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return call, fmt.Errorf("the server is not reached: %w", err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return call, err
	}
	if resp.StatusCode/100 != 2 {
		var f api.Failure
		_ = json.Unmarshal(answer, &f)
		return call, fmt.Errorf("no call: %s", cmp.Or(f.Error.Message, resp.Status))
	}
	err = json.Unmarshal(answer, &call)
	return call, err
}
