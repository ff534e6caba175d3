package cli

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/hocketvoice/hocket/internal/llm"
)

// initCmd writes a first agent.
type initCmd struct {
	Dir      string `arg:"" optional:"" default:"." placeholder:"DIR" help:"The folder, which is created if it does not exist (default: the current folder)."`
	Template string `placeholder:"NAME" complete:"flows,model,both" help:"What decides what the agent says: flows, model or both (default: model if a language model was found, else flows)."`
}

// Help returns the long help.
func (initCmd) Help() string {
	return `Writes agent.yaml, hocket.yaml (its config), hours.sh (a tool) and test.txt (for hocket test). Writes nothing if one of these files exists. To find a language model, looks for API keys in the environment and for servers on this machine (Ollama, LM Studio, llama.cpp). Vendors of speech whose key is in the environment hear and speak for the agent. Never writes a key: the config names the variable that holds it.`
}

//go:embed starter
var starter embed.FS

// templates are the available templates.
var templates = []string{"flows", "model", "both"}

// Run runs the command.
func (c *initCmd) Run(s *streams) error {
	if c.Template != "" && !slices.Contains(templates, c.Template) {
		return badInputf("flag --template is %q%s", c.Template, meant(c.Template, templates))
	}
	m := findModel(context.Background(), os.Getenv, localServers)
	template := c.Template
	if template == "" && m.found {
		template = "model"
	}
	speech := findSpeech(os.Getenv)
	files, err := starterFiles(cmp.Or(template, "flows"), m, speech)
	if err != nil {
		return err
	}
	if err := writeStarter(c.Dir, files); err != nil {
		return err
	}
	for _, f := range files {
		if err := s.printf("%-12s %s\n", f.name, f.what); err != nil {
			return err
		}
	}
	cd := ""
	if filepath.Clean(c.Dir) != "." {
		cd = "cd " + c.Dir + " && "
	}
	return s.printf("\n%s\n\n%shocket chat --agent agent.yaml --config hocket.yaml\n", m.remark(template)+speech.remark(), cd)
}

// starterFile is a file of a first agent.
type starterFile struct{ name, what, text string }

// starterFiles returns the files of a template, with the model and the speech that were found.
func starterFiles(template string, m foundModel, speech foundSpeech) ([]starterFile, error) {
	var errs []error
	read := func(name string) string {
		b, err := starter.ReadFile("starter/" + name)
		errs = append(errs, err)
		return string(b)
	}
	agent, script := read(template+".yaml"), "flows.txt"
	switch template {
	case "model":
		script = "model.txt"
	case "both":
		_, flows, _ := strings.Cut(read("flows.yaml"), "\nsettings:")
		agent = strings.Replace(agent, "%FLOWS%\n", "\nsettings:"+flows, 1)
	}
	model := ""
	if template != "flows" {
		model = "\n" + m.section()
	}
	model += speech.section()
	files := []starterFile{
		{"agent.yaml", "the agent", agent},
		{"hocket.yaml", "its config: the model, the tools", strings.Replace(read("hocket.yaml"), "%MODEL%\n", model, 1)},
		{"hours.sh", "a tool", read("hours.sh")},
		{"test.txt", "a talk, for hocket test", read(script)},
	}
	return files, errors.Join(errs...)
}

// writeStarter writes files that must not exist. If it fails, it leaves none.
func writeStarter(dir string, files []starterFile) (err error) {
	for _, f := range files {
		if path := filepath.Join(dir, f.name); exists(path) {
			return badInputf("%s is there already: expected a folder without it", path)
		}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil { //nolint:gosec // the user's umask applies
		return badFile(err)
	}
	var written []string
	defer func() {
		if err != nil {
			for _, path := range written {
				err = errors.Join(err, os.Remove(path))
			}
		}
	}()
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666) //nolint:gosec // the user's umask applies
		if err != nil {
			return badFile(err)
		}
		written = append(written, path)
		_, err = file.WriteString(f.text)
		if err := errors.Join(err, file.Close()); err != nil {
			return badFile(err)
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// foundModel is a language model that init has found, or the one that it suggests if
// there is none.
type foundModel struct {
	found  bool
	name   string
	api    string // its protocol; empty for chat completions
	url    string // empty for the default of the protocol
	keyEnv string // the variable with the key; empty if there is none
	by     string // the vendor or server
}

// localServer is a model server that people run on their own machine.
type localServer struct {
	name, url string
	owner     string // owned_by of its models; empty accepts any
}

// localServers are tried in this order. Other programs may answer at the port of
// llama.cpp.
var localServers = []localServer{
	{"Ollama", "http://127.0.0.1:11434/v1", ""},
	{"LM Studio", "http://127.0.0.1:1234/v1", ""},
	{"llama.cpp", "http://127.0.0.1:8080/v1", "llamacpp"},
}

// findModel looks for a key in the environment, and then for a server on this machine.
func findModel(ctx context.Context, getenv func(string) string, servers []localServer) foundModel {
	for _, v := range llm.Vendors() {
		if strings.TrimSpace(getenv(v.KeyEnv)) != "" {
			m := foundModel{found: true, name: v.Model, api: v.API, url: v.BaseURL, keyEnv: v.KeyEnv, by: v.Name}
			if v.API != llm.Chat || v == llm.Vendors()[0] {
				m.url = "" // the default of the API
			}
			return m
		}
	}
	for _, s := range servers {
		if name := s.model(ctx); name != "" {
			return foundModel{found: true, name: name, url: s.url, by: s.name}
		}
	}
	return foundModel{name: "qwen3:8b", url: servers[0].url, by: servers[0].name}
}

// model returns the first model of the server, or "" if there is no server or no model.
func (s localServer) model(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/models", http.NoBody)
	if err != nil {
		return ""
	}
	// Proxies and redirects would lead to other machines.
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Do(req)
	if err != nil {
		return ""
	}
	defer res.Body.Close()
	var list struct {
		Data []struct {
			ID    string `json:"id"`
			Owner string `json:"owned_by"`
		} `json:"data"`
	}
	if res.StatusCode != http.StatusOK || json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&list) != nil {
		return ""
	}
	for _, m := range list.Data {
		odd := strings.ContainsFunc(m.ID, func(r rune) bool { return !unicode.IsPrint(r) })
		if m.ID != "" && len(m.ID) <= 200 && !odd && !strings.Contains(m.ID, "embed") && (s.owner == "" || s.owner == m.Owner) {
			return m.ID
		}
	}
	return ""
}

// section returns the model's section of the config.
func (m foundModel) section() string {
	var b strings.Builder
	b.WriteString("# Any server with OpenAI's chat completions, or with the API of Anthropic or Google.\nmodel:\n")
	fmt.Fprintf(&b, "  name: %s\n", strconv.Quote(m.name))
	if m.api != "" && m.api != llm.Chat {
		fmt.Fprintf(&b, "  api: %s\n", m.api)
	}
	if m.url != "" {
		fmt.Fprintf(&b, "  base_url: %s   # %s\n", m.url, m.by)
	}
	if m.keyEnv != "" {
		fmt.Fprintf(&b, "  key_env: %s   # the variable that holds the key; a key is never written here\n", m.keyEnv)
	}
	return b.String()
}

// remark describes what was found.
func (m foundModel) remark(template string) string {
	switch {
	case m.found && m.keyEnv != "":
		return fmt.Sprintf("The language model is %s of %s, with the key in %s.", m.name, m.by, m.keyEnv)
	case m.found:
		return fmt.Sprintf("The language model is %s of %s on this machine.", m.name, m.by)
	case template == "model" || template == "both":
		return fmt.Sprintf("No language model was found. hocket.yaml names %s of %s: start it, or put another there.", m.name, m.by)
	default:
		return "No language model was found: the agent's flows need none."
	}
}
