package cli

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/internal/fakes"
	"github.com/hocketvoice/hocket/internal/llm"
	anthropic "github.com/hocketvoice/hocket/provider/anthropic/fake"
	google "github.com/hocketvoice/hocket/provider/google/fake"
	openai "github.com/hocketvoice/hocket/provider/openai/fake"
)

// TestChatOverEachAPI holds a conversation with a tool over each protocol of a language model, named
// in a config and in the agent's own file, and ends one whose key is wrong with one line.
func TestChatOverEachAPI(t *testing.T) {
	t.Setenv("FAKE_KEY", "the-right-key")
	t.Setenv("WRONG_KEY", "the-wrong-key")
	const tool = `
tools:
  command:
    - name: opening_hours
      description: Tells when the shop is open.
      command: echo
      args: ["from ten to two on {day}"]
      stdin: none
      output: text
      quick: true
      parameters: [{name: day, description: day of the week}]
`
	for api, c := range map[string]struct {
		path string
		fake func(key string) *fakes.Mind
	}{
		llm.Responses: {"/v1", openai.NewResponses}, llm.Messages: {"/v1", anthropic.New}, llm.Gemini: {"/v1beta", google.New},
	} {
		t.Run(api, func(t *testing.T) {
			f := c.fake("the-right-key")
			f.Answer = func(q fakes.MindRequest) fakes.MindAnswer {
				switch last := q.Said[len(q.Said)-1]; {
				case last.Role == "tool":
					return fakes.MindAnswer{Said: []string{"We are open ", strings.TrimSpace(last.Text) + "."}}
				case len(q.Tools) > 0:
					return fakes.MindAnswer{Calls: []fakes.MindCall{{ID: "call_1", Name: "opening_hours", Arguments: `{"day":"monday"}`}}}
				default:
					return fakes.MindAnswer{Said: []string{"Hello ", "there."}}
				}
			}
			web := httptest.NewServer(f)
			defer web.Close()
			model := "model: {name: fake-1, api: " + api + ", base_url: " + web.URL + c.path + ", key_env: FAKE_KEY}\n"
			agent, config := write(t, "clerk.yaml", clerk+"tools: [opening_hours]\n"), write(t, "hocket.yaml", model+tool)
			out := output(t, "when are you open\nand again\n", "chat", "--agent", agent, "--config", config)
			if strings.Count(out, "We are open from ten to two on monday.") != 2 {
				t.Errorf("chat prints\n%s", out)
			}
			own := write(t, "own.yaml", clerk+model)
			if out := output(t, "hello\n", "chat", "--agent", own); !strings.Contains(out, "Hello there.") {
				t.Errorf("chat prints\n%s", out)
			}
			if no := f.Refused(); len(no) > 0 {
				t.Errorf("refused: %q", no)
			}
			wrong := write(t, "wrong.yaml", clerk+strings.Replace(model, "FAKE_KEY", "WRONG_KEY", 1))
			stdout, stderr, status := run(t, "hello\n", "chat", "--agent", wrong)
			if status != statusFinding || !strings.HasPrefix(stderr, "hocket chat: the language model ") || strings.Count(stderr, "\n") != 1 || strings.Contains(stdout+stderr, "the-wrong-key") {
				t.Errorf("with a wrong key: status %d: %s%s", status, stdout, stderr)
			}
		})
	}
}

// TestModelSections checks what is said about descriptions of models that are wrong.
func TestModelSections(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-secret")
	for _, tc := range []struct{ model, want string }{
		{"{name: m, api: antropic}", "did you mean anthropic?"},
		{"{name: m, api: anthropic, base_url: https://api.anthropic.com/v1/messages}", "must not include /messages"},
		{"{name: m, api: responses, base_url: https://api.openai.com/v1/responses}", "must not include /responses"},
		{"{name: models/gemini, api: google}", "expected a name such as gemini-2.5-flash"},
		{"{name: m, api: google, organization: o}", "api_version or organization"},
		{"{name: m, api: responses, api_version: 2024-10-21, base_url: https://x.openai.azure.com}", "has no API version"},
		{"{name: m, api: anthropic, window: 4000}", "expected more than the 4096 tokens of an answer"},
		{"{name: m, max_tokens: 500, window: 400}", "expected more than the 500 tokens of an answer"},
		{"{name: m, api: anthropic, base_url: gateway.example.com/v1}", "https://gateway.example.com/v1"},
	} {
		path := write(t, "hocket.yaml", "model: "+tc.model+"\n")
		stdout, stderr, status := run(t, "", "check", path)
		if status != statusInput || !strings.Contains(stdout, "hocket.yaml:1:") || !strings.Contains(stdout, tc.want) || strings.Count(stdout, "\n") != 1 {
			t.Errorf("%s: status %d: %s%s, want %s", tc.model, status, stdout, stderr, tc.want)
		}
	}
	thief := write(t, "thief.yaml", clerk+"model: {name: m, api: anthropic, base_url: \"http://127.0.0.1:1/v1\", key_env: ANTHROPIC_API_KEY}\n")
	if stdout, stderr, status := run(t, "hello\n", "chat", "--agent", thief); status != statusInput || !strings.Contains(stderr, "belongs to api.anthropic.com") {
		t.Errorf("an agent's file sends the key elsewhere: status %d: %s%s", status, stdout, stderr)
	}
}
