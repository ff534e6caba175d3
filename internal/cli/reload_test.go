//go:build unix

package cli

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/provider/openai/fake"
)

// orderAgent takes an order in three questions. Each version has other names for its flow,
// its steps and its slots, and says so.
func orderAgent(version string) string {
	return fmt.Sprintf(`version: "1.0"
settings: {language: en, greeting: "Hello from %[1]s."}
slots:
  dish_%[1]s: {type: string, prompt: "Which dish, asks %[1]s?", values: [soup, salad, pasta]}
  drink_%[1]s: {type: string, prompt: "Which drink, asks %[1]s?", values: [water, wine, juice]}
  place_%[1]s: {type: string, prompt: "Which place, asks %[1]s?", values: [inside, outside]}
flows:
  order_%[1]s:
    trigger: {intents: ["I want to order"]}
    steps:
      - {step: dish_%[1]s, type: collect, slot: dish_%[1]s}
      - {step: drink_%[1]s, type: collect, slot: drink_%[1]s}
      - {step: place_%[1]s, type: collect, slot: place_%[1]s}
      - {step: done_%[1]s, type: say, message: "%[1]s has noted {dish_%[1]s}, {drink_%[1]s}, {place_%[1]s}."}
`, version)
}

// orders is what a guest says, and what the agent says to it.
func orders(version string) [][2]string {
	return [][2]string{
		{"", "Hello from " + version + "."},
		{"I want to order", "Which dish, asks " + version + "?"},
		{"soup", "Which drink, asks " + version + "?"},
		{"wine", "Which place, asks " + version + "?"},
		{"inside", version + " has noted soup, wine, inside."},
	}
}

// guest is a caller in the middle of an order.
type guest struct {
	*caller
	version string
	next    int // of orders
}

// talk goes on until so much of the order was said.
func (g *guest) talk(until int) {
	g.t.Helper()
	for ; g.next < until; g.next++ {
		line := orders(g.version)[g.next]
		if line[0] != "" && !g.say(line[0]) {
			g.fail("nobody takes %q", line[0])
		}
		g.hears(line[1])
	}
}

// hears waits for what the agent says.
func (g *guest) hears(want string) {
	g.t.Helper()
	over := waittest.Context(g.t)
	for {
		select {
		case <-over.Done():
			g.fail("waited in vain for %q", want)
		case m, ok := <-g.events:
			if !ok {
				g.fail("the stream ended before %q", want)
			}
			if m.At > g.at {
				g.at = m.At
			}
			if m.Type != "caption" || m.Payload.Text == "" {
				continue
			}
			if strings.Contains(m.Payload.Text, want) {
				return
			}
			if g.next > 0 && strings.Contains(m.Payload.Text, orders(g.version)[g.next-1][1]) {
				continue // it is said again to who comes back
			}
			g.fail("the agent says %q, expected %q", m.Payload.Text, want)
		}
	}
}

// version is that of the agent for new conversations.
func (n *node) version() string {
	var list struct {
		Agents []struct {
			Version  string
			LoadedAt string `json:"loaded_at"`
		}
	}
	if err := (&caller{t: n.t, urls: []string{n.url}}).get("/v1/agents", &list); err != nil {
		n.t.Fatal(err)
	}
	if list.Agents[0].Version == "" || list.Agents[0].LoadedAt == "" {
		n.t.Fatalf("the agents are %+v", list)
	}
	return list.Agents[0].Version
}

// hup has the process read its agents again.
func (n *node) hup() {
	n.t.Helper()
	if err := n.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		n.t.Fatal(err)
	}
}

// swap puts an agent in the place of another, all at once.
func swap(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func (n *node) guest(version string) *guest {
	n.t.Helper()
	g := &guest{caller: &caller{t: n.t, urls: []string{n.url}}, version: version}
	if !g.call(map[string]any{"transport": "text"}) || !g.follow() {
		n.t.Fatal("a conversation does not begin")
	}
	return g
}

// info is what the list says of the version of a conversation's agent.
func (g *guest) info() string {
	g.t.Helper()
	var d struct {
		Version string `json:"agent_version"`
	}
	if err := g.get("/v1/conversations/"+g.id, &d); err != nil {
		g.fail("%v", err)
	}
	return d.Version
}

// TestAgentsChange: while ten people talk, the server's agent changes, and then the server
// is restarted with another one yet: all end as they would have.
func TestAgentsChange(t *testing.T) {
	t.Parallel()
	agent := write(t, "kitchen.yaml", orderAgent("one"))
	n := newNode(t, agent, filepath.Join(t.TempDir(), "store"), "")
	n.start()
	one := n.version()
	var guests []*guest
	for i := range 10 {
		g := n.guest("one")
		g.talk(1 + i%4)
		guests = append(guests, g)
	}
	swap(t, agent, orderAgent("two"))
	n.hup()
	n.logged(attrs{"agent": "kitchen", "before": one})
	two := n.version()
	if two == one {
		t.Fatalf("the version is still %s", one)
	}
	for _, g := range guests[:5] {
		g.talk(len(orders("one")))
		if got := g.info(); got != one {
			t.Errorf("a conversation of version %s is shown with %s", one, got)
		}
	}
	late := n.guest("two")
	late.talk(3)
	if got := late.info(); got != two {
		t.Errorf("a conversation of version %s is shown with %s", two, got)
	}
	n.stop()
	swap(t, agent, orderAgent("three"))
	n.start()
	for _, g := range append(guests[5:], late) {
		g.comeBack()
		g.talk(len(orders(g.version)))
	}
	if got := guests[9].info(); got != one {
		t.Errorf("a conversation of version %s is shown with %s after the restart", one, got)
	}
	n.guest("three").talk(len(orders("three")))
}

// TestAgentIsRefused: files with which nothing goes leave the version that there is, and the
// log says what is wrong; when they are mended they are loaded.
func TestAgentIsRefused(t *testing.T) {
	t.Parallel()
	agent := write(t, "kitchen.yaml", orderAgent("one"))
	n := newNode(t, agent, filepath.Join(t.TempDir(), "store"), "")
	n.start()
	one := n.version()
	swap(t, agent, strings.Replace(orderAgent("two"), "type: say", "type: shout", 1))
	n.hup()
	line := n.logged(attrs{"level": "ERROR", "agent": "kitchen", "version": one, "error": "kitchen.yaml:14:"})
	if !strings.Contains(line, "shout") {
		t.Errorf("the step with the error is not named: %s", line)
	}
	if err := os.Remove(agent); err != nil {
		t.Fatal(err)
	}
	n.hup()
	n.logged(attrs{"level": "ERROR", "agent": "kitchen", "version": one, "error": "no such file"})
	if got := n.version(); got != one {
		t.Errorf("the version is %s, it was %s", got, one)
	}
	n.guest("one").talk(len(orders("one")))
	swap(t, agent, orderAgent("two"))
	n.logged(attrs{"agent": "kitchen", "before": one}) // nobody tells the server
	n.guest("two").talk(len(orders("two")))
}

// TestLostVersion: where the store has lost the version of a conversation, it goes on with
// the agent as it is now if that has what it needs; else it is told that it cannot, and the
// log says why.
func TestLostVersion(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name, now string
		goes      bool
	}{
		{"the same names", strings.ReplaceAll(orderAgent("one"), "asks one", "asks one too"), true},
		{"other names", orderAgent("two"), false},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			agent, store := write(t, "kitchen.yaml", orderAgent("one")), filepath.Join(t.TempDir(), "store")
			n := newNode(t, agent, store, "")
			n.start()
			g := n.guest("one")
			g.talk(3)
			g.leave()
			n.stop()
			forgetAgents(t, store)
			swap(t, agent, x.now)
			n.start()
			if x.goes {
				g.comeBack()
				n.logged(attrs{"level": "WARN", "agent": "kitchen", "with": n.version()})
				g.say("wine")
				return
			}
			answer, err := g.refusal(map[string]any{"resume": g.resume})
			if err != nil || !strings.Contains(string(answer), "agent_changed") {
				t.Errorf("the answer is %s, error %v", answer, err)
			}
			n.logged(attrs{"level": "ERROR", "agent": "kitchen", "lost": "", "error": "order_one"})
		})
	}
}

// forgetAgents loses what a store has of agents.
func forgetAgents(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err == nil {
		_, err = db.ExecContext(t.Context(), "DELETE FROM agents")
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestChatGoesOnWithItsAgent: a conversation of the store goes on with the agent that it
// began with.
func TestChatGoesOnWithItsAgent(t *testing.T) {
	agent, store := write(t, "kitchen.yaml", orderAgent("one")), filepath.Join(t.TempDir(), "store")
	_, stderr, status := run(t, "I want to order\nsoup\n", "chat", "--agent", agent, "--store", store)
	_, id, ok := strings.Cut(stderr, "the conversation is ")
	id, _, _ = strings.Cut(id, " ")
	if !ok || status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	swap(t, agent, orderAgent("two"))
	out, stderr, status := run(t, "wine\ninside\n", "chat", "--agent", agent, "--store", store, "--resume", id)
	if status != 0 || !strings.Contains(out, "one has noted soup, wine, inside.") || !strings.Contains(stderr, "the conversation continues with version ") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
}

// TestConfigChangesWhileTheServerRuns: the config file is read at the start. The log tells
// who changes it that a restart is needed, and whether the server would start with it.
func TestConfigChangesWhileTheServerRuns(t *testing.T) {
	t.Parallel()
	n := newNode(t, write(t, "kitchen.yaml", orderAgent("one")), filepath.Join(t.TempDir(), "store"), "")
	n.start()
	file := n.args[len(n.args)-1]
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	was := string(b)
	swap(t, file, "# a remark\n"+strings.Replace(was, "1h", "2h", 1)+"limits: {waiting: 9s}\nmodels: [{name: m}]\n")
	n.logged(attrs{"level": "WARN", "file": file, "keys": "[limits.waiting models server.max_lateness]"}) // nobody tells the server
	for _, c := range []struct {
		text string
		want attrs
	}{
		{was + "limits: {wating: 9s}\n", attrs{"level": "ERROR", "error": "limits.wating"}},
		{was + "timezone: Berlin\n", attrs{"level": "ERROR", "error": "timezone"}},
		{"", attrs{"level": "ERROR", "error": "no such file"}},
		{was + "model: gpt-4o\n", attrs{"level": "ERROR", "error": "gpt-4o"}},
		{strings.Replace(was, "history_limit: 100000", "", 1), attrs{"level": "WARN", "keys": "[history_limit]"}},
		{"\n" + was, attrs{"level": "INFO"}}, // as the server read it
		{strings.Replace(was, "drain: 1s", "drain: 2s", 1), attrs{"level": "WARN", "keys": "[server.drain]"}},
		{"{", attrs{"level": "ERROR", "error": "hocket.yaml:1"}},
	} {
		swap(t, file, c.text)
		if c.text == "" {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
		n.hup()
		c.want["file"] = file
		n.logged(c.want)
	}
}

// TestModelComesWithAReload: a server whose agent needs no model at the start is not ready
// once an agent is loaded whose model refuses its key, and is again when that is mended.
func TestModelComesWithAReload(t *testing.T) {
	web := httptest.NewServer(&fake.Server{Key: "the-right-key"})
	defer web.Close()
	model := func(key string) string {
		return clerk + "model: {name: m, key_env: " + key + ", base_url: " + web.URL + "/v1}\n"
	}
	agent := write(t, "clerk.yaml", orderAgent("one"))
	n := newNode(t, agent, "", "", "WRONG_KEY=the-wrong-key", "RIGHT_KEY=the-right-key")
	n.args = []string{"serve", "--agent", agent, "--store", "off", "--addr", strings.TrimPrefix(n.url, "http://")}
	n.start()
	is := func(want int, words string) {
		t.Helper()
		waittest.Until(t, words, n.gone, func() bool {
			status, body := ready(t, n)
			return status == want && strings.Contains(body, words)
		})
	}
	is(200, `"status":"ok"`)
	swap(t, agent, model("WRONG_KEY"))
	n.hup()
	is(503, `"reasons":["model"]`)
	n.logged(attrs{"level": "WARN", "error": "Incorrect API key provided: [key]"})
	swap(t, agent, model("RIGHT_KEY"))
	n.hup()
	is(200, `"status":"ok"`)
	swap(t, agent, orderAgent("two")+"model: {name: m, key_env: WRONG_KEY, base_url: "+web.URL+"/v1}\n")
	n.hup()
	is(200, `"degraded":["model"]`) // its flows go without
}

// TestPipesAreReadOnce: an agent or a config that comes through a pipe, as from a shell's
// <(...), is read once; and a pipe in the place of an agent's file, which nobody
// may ever write to, neither stops the server from ending nor from loading the file later.
func TestPipesAreReadOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		if text != "" {
			var writer sync.WaitGroup
			writer.Go(func() {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Error(err)
				}
			})
			t.Cleanup(writer.Wait)
		}
		return path
	}
	file := write(t, "waiter.yaml", orderAgent("one"))
	n := newNode(t, pipe("kitchen.yaml", orderAgent("one")), filepath.Join(dir, "store"), "")
	addr := strings.TrimPrefix(n.url, "http://")
	n.args = []string{"serve", "--agent", n.args[2], "--agent", file, "--store", "off", "--addr", addr}
	n.start()
	n.guest("one").talk(2)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	n.hup()
	n.logged(attrs{"level": "ERROR", "agent": "waiter", "error": "waiter.yaml"})
	swap(t, file, orderAgent("two"))
	n.hup()
	n.logged(attrs{"level": "INFO", "agent": "waiter", "before": ""})
	for _, outcome := range []string{"before", "error"} { // loaded, or not
		if line := n.line(attrs{"agent": "kitchen", outcome: ""}); line != "" {
			t.Errorf("an agent from a pipe was read again: %s", line)
		}
	}
	n.stop()
	// So it is with a config, all of which counts.
	n.args = []string{"serve", "--agent", file, "--addr", addr, "--config", pipe("hocket.yaml", "server: {drain: 1s}\ntimezone: "+east+"\nstore: {path: "+filepath.Join(dir, "kept")+"}\n")}
	n.start()
	n.guest("two").talk(2)
	if _, err := os.Stat(filepath.Join(dir, "kept")); err != nil {
		t.Errorf("the store of the config: %v", err)
	}
	was := n.version()
	swap(t, file, orderAgent("three"))
	n.hup()
	n.logged(attrs{"agent": "waiter", "before": was})
	n.stop() // it has looked at its config by then
	if line := n.line(attrs{"file": ""}); line != "" {
		t.Errorf("a config from a pipe was read again: %s", line)
	}
}
