package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/internal/llm"
	"github.com/hocketvoice/hocket/internal/model"
	"github.com/hocketvoice/hocket/provider/openai/fake"
)

// noModels hides the models of the machine that runs the test.
func noModels(t *testing.T) {
	t.Helper()
	noKeys(t)
	servers := localServers
	t.Cleanup(func() { localServers = servers })
	localServers = []localServer{{"Ollama", "http://127.0.0.1:1/v1", ""}}
}

// clerkModel is a fake model that calls the tool opening_hours if asked for hours, and
// states its result.
func clerkModel(q fake.Request) fake.Answer {
	switch last := q.Messages[len(q.Messages)-1]; {
	case last.Role == "tool":
		return fake.Text("On Saturday we are open ", last.Text()+".")
	case strings.Contains(strings.ToLower(last.Text()), "open") && len(q.Tools) > 0:
		return fake.Stream(fake.Begin(), fake.Call(0, "call_1", "opening_hours", `{"day":"Saturday"}`), fake.Finish("tool_calls"))
	default:
		return fake.Text("I do not know.")
	}
}

// localModel serves a fake model, which init finds as a server of this machine.
func localModel(t *testing.T, list string) *fake.Server {
	t.Helper()
	model := &fake.Server{Answer: clerkModel}
	mux := http.NewServeMux()
	mux.Handle("/", model)
	mux.HandleFunc("/v1/models", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(list)) })
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	localServers = []localServer{{"Ollama", web.URL + "/v1", ""}}
	return model
}

// TestInit checks that the written files pass `hocket check` and their own test,
// whether a model is found or not.
func TestInit(t *testing.T) {
	for _, template := range []string{"flows", "model", "both", ""} {
		t.Run("template "+template, func(t *testing.T) {
			noModels(t)
			localModel(t, `{"data":[{"id":"nomic-embed-text"},{"id":"qwen3: 8b #1"}]}`)
			args := []string{"init", "my shop/desk"}
			if template != "" {
				args = append(args, "--template", template)
			}
			out := output(t, "", args...)
			if !strings.Contains(out, `cd my shop/desk && hocket chat --agent agent.yaml --config hocket.yaml`) {
				t.Errorf("init prints\n%s", out)
			}
			t.Chdir("my shop/desk")
			if out := output(t, "", "check", "agent.yaml", "hocket.yaml"); out != "agent.yaml: ok\nhocket.yaml: ok\n" {
				t.Errorf("check prints\n%s", out)
			}
			if out := output(t, "", "test", "--agent", "agent.yaml", "--config", "hocket.yaml", "test.txt"); out != "test.txt: ok\n" {
				t.Errorf("test prints\n%s", out)
			}
			config, err := os.ReadFile("hocket.yaml")
			if err != nil || strings.Contains(string(config), "qwen3: 8b #1") != (template != "flows") {
				t.Errorf("the config, %v:\n%s", err, config)
			}
		})
	}
}

// TestInitWithoutAModel checks that without a model the template "flows" is used, which
// needs none, and that a template with a model names the suggested one.
func TestInitWithoutAModel(t *testing.T) {
	noModels(t)
	if out := output(t, "", "init"); !strings.Contains(out, "No language model was found: the agent's flows need none.\n\nhocket chat") {
		t.Errorf("init prints\n%s", out)
	}
	if out := output(t, "", "test", "--agent", "agent.yaml", "--config", "hocket.yaml", "test.txt"); out != "test.txt: ok\n" {
		t.Errorf("test prints\n%s", out)
	}
	out := output(t, "", "init", "other", "--template", "both")
	if !strings.Contains(out, "hocket.yaml names qwen3:8b of Ollama: start it") {
		t.Errorf("init prints\n%s", out)
	}
	output(t, "", "check", "other/agent.yaml", "other/hocket.yaml")
}

// TestInitNeverWritesAKey checks that the config names the variable of a vendor's key
// and the vendor's own host.
func TestInitNeverWritesAKey(t *testing.T) {
	for _, v := range llm.Vendors() {
		noModels(t)
		t.Setenv(v.KeyEnv, "sk-very-secret")
		out := output(t, "", "init")
		all, err := filepath.Glob("*")
		if err != nil || len(all) != 4 {
			t.Fatalf("%v: %v", all, err)
		}
		for _, name := range all {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			out += string(b)
		}
		if strings.Contains(out, "sk-very-secret") || !strings.Contains(out, "key_env: "+v.KeyEnv) {
			t.Errorf("%s: %s", v.Name, out)
		}
		o, err := loadOptions("hocket.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if host := llm.ForeignHost(o.Model.KeyEnv, model.BaseURL(o.Model)); host != "" || o.Model.KeyEnv != v.KeyEnv {
			t.Errorf("%s: %+v, the key of %s", v.Name, o.Model, host)
		}
	}
}

// TestInitFindsSpeech checks that the config names the vendors of speech whose keys are there, and
// that it is valid.
func TestInitFindsSpeech(t *testing.T) {
	for name, test := range map[string]struct {
		env  []string
		want []string
	}{
		"one for both":  {[]string{"SONIOX_API_KEY"}, []string{"recognizer: soniox ", "synthesizer: soniox "}},
		"one that says": {[]string{"ELEVENLABS_API_KEY"}, []string{"synthesizer: elevenlabs "}},
		"two":           {[]string{"CARTESIA_API_KEY", "DEEPGRAM_API_KEY"}, []string{"recognizer: deepgram ", "synthesizer: cartesia "}},
	} {
		t.Run(name, func(t *testing.T) {
			noModels(t)
			for _, key := range test.env {
				t.Setenv(key, "sk-very-secret")
			}
			out := output(t, "", "init")
			b, err := os.ReadFile("hocket.yaml")
			if err != nil {
				t.Fatal(err)
			}
			config := string(b)
			for _, line := range test.want {
				if !strings.Contains(config, "\n  "+line) {
					t.Errorf("the config has no %q:\n%s", line, config)
				}
			}
			if strings.Count(config, "recognizer:")+strings.Count(config, "synthesizer:") != len(test.want) || strings.Contains(out+config, "sk-very-secret") {
				t.Errorf("%s\n%s", out, config)
			}
			if out := output(t, "", "check", "agent.yaml", "hocket.yaml"); out != "agent.yaml: ok\nhocket.yaml: ok\n" {
				t.Errorf("check prints\n%s", out)
			}
		})
	}
}

// TestInitReplacesNothing checks that nothing is written if one of the files exists.
func TestInitReplacesNothing(t *testing.T) {
	noModels(t)
	if err := os.WriteFile("hours.sh", []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"init":                  "hocket init: hours.sh is there already: expected a folder without it\n",
		"init hours.sh":         "hocket init: hours.sh: not a directory\n",
		"init hours.sh/x":       "hocket init: hours.sh: not a directory\n",
		"init --template modle": "hocket init: flag --template is \"modle\"; did you mean model?\n",
	} {
		if _, stderr, status := run(t, "", strings.Fields(args)...); status != statusInput || stderr != want {
			t.Errorf("%s: status %d: %s", args, status, stderr)
		}
	}
	if all, err := filepath.Glob("*"); err != nil || len(all) != 1 {
		t.Errorf("there are %v, %v", all, err)
	}
}

// TestFindModel checks that another program's answer at a port does not count as a
// model.
func TestFindModel(t *testing.T) {
	none := func(string) string { return "" }
	for _, tc := range []struct{ name, body, want string }{
		{"one model", `{"data":[{"id":"m","owned_by":"llamacpp"}]}`, "m"},
		{"of another", `{"data":[{"id":"flights","owned_by":"hocket"}]}`, ""},
		{"no list", `{"models":[]}`, ""},
		{"no JSON", `<html>`, ""},
		{"control characters", `{"data":[{"id":"a\nkey: b","owned_by":"llamacpp"}]}`, ""},
	} {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(tc.body)) }))
		m := findModel(t.Context(), none, []localServer{{"llama.cpp", web.URL + "/v1", "llamacpp"}})
		web.Close()
		if m.found != (tc.want != "") || m.found && m.name != tc.want {
			t.Errorf("%s: %+v", tc.name, m)
		}
	}
}

// TestTest checks that an unexpected answer is reported with its line.
func TestTest(t *testing.T) {
	t.Chdir(t.TempDir())
	files := map[string]string{
		"agent.yaml": goodAgent, "ok.txt": "> weather\n< which CITY\n\n# boston\n> boston\n< you said\n",
		"words.txt": "> weather\n< which town\n", "call.txt": "> weather\n! forecast\n", "over.txt": "> goodbye\n> hello\n",
		"bad.txt": "> weather\nwhich city\n", "empty.txt": "# nothing\n",
	}
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		args   string
		status int
		want   string
	}{
		{"ok.txt", 0, "ok.txt: ok\n"},
		{"words.txt ok.txt", 1, "words.txt:2: the agent says \"Which city?\": expected \"which town\" in it\nok.txt: ok\n"},
		{"call.txt", 1, "call.txt:2: forecast was not called: expected a call of it\n"},
		{"over.txt", 1, "over.txt:2: the agent has hung up: expected that it listens\n"},
		{"bad.txt", 2, "hocket test: bad.txt:2: expected > and what the person says, < and words of the answer, or ! and the name of a tool\n"},
		{"empty.txt", 2, "hocket test: empty.txt: expected a line that begins with >, < or !\n"},
		{"none.txt", 2, "hocket test: none.txt: no such file or directory\n"},
	} {
		stdout, stderr, status := run(t, "", append([]string{"test", "--agent", "agent.yaml"}, strings.Fields(tc.args)...)...)
		if status != tc.status || stdout+stderr != tc.want {
			t.Errorf("test %s: status %d\n%s%s", tc.args, status, stdout, stderr)
		}
	}
}
