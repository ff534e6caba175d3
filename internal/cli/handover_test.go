//go:build unix

package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/hocketvoice/hocket/internal/waittest"
)

// waitingAgent is orderAgent with one more flow, whose tool answers when the test lets it.
func waitingAgent(url string) string {
	return orderAgent("one") + fmt.Sprintf(`  bill:
    trigger: {intents: ["the bill please"]}
    steps:
      - {step: add, type: action, call: bill, map_outputs: {sum: sum}}
      - {step: told, type: say, message: "That is {sum} euros."}
actions:
  bill: {outputs: [sum], http: {url: "%s", timeout: 60s}}
`, url)
}

// slowDrain gives a node an hour to drain.
func (n *node) slowDrain() {
	n.t.Helper()
	file := n.args[len(n.args)-1]
	b, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, []byte(strings.Replace(string(b), "drain: 1s", "drain: 1h", 1)), 0o600)
	}
	if err != nil {
		n.t.Fatal(err)
	}
}

// metrics returns the values of a counter by reason.
func (n *node) metrics(name string) map[string]string {
	n.t.Helper()
	resp, err := http.Get(n.url + "/metrics")
	if err != nil {
		n.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		n.t.Fatal(err)
	}
	values := make(map[string]string)
	for _, m := range regexp.MustCompile(name+`\{.*reason="([a-z._]+)"\} (\d+)`).FindAllStringSubmatch(string(b), -1) {
		values[m[1]] = m[2]
	}
	return values
}

// TestDrainingNodeHandsOver: of two nodes on one database one is told to stop, and may take
// an hour for it. It hands the conversations over in which nothing happens at once, and the
// one whose tool still runs when that has answered; all go on at the other node where they
// were. No log and no counter says that they have ended.
func TestDrainingNodeHandsOver(t *testing.T) {
	t.Parallel()
	release, asked := make(chan struct{}), make(chan struct{})
	var bills atomic.Int32
	tool := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if bills.Add(1) == 1 {
			close(asked)
		}
		<-release
		_, _ = io.WriteString(w, `{"sum": 40}`)
	}))
	defer tool.Close()
	free := sync.OnceFunc(func() { close(release) })
	defer free()
	database := server.Database(t)
	agent := write(t, "kitchen.yaml", waitingAgent(tool.URL))
	var nodes []*node
	for i := range 2 {
		n := newNode(t, agent, database, fmt.Sprintf(", node: node%d", i))
		n.slowDrain()
		n.start()
		nodes = append(nodes, n)
	}
	leaving, staying := nodes[0], nodes[1]

	var idle []*guest
	for i := range 6 {
		g := leaving.guest("one")
		g.talk(1 + i%4)
		idle = append(idle, g)
	}
	busy := leaving.guest("one")
	busy.talk(1)
	if !busy.say("the bill please") {
		t.Fatal("nobody takes the line")
	}
	<-asked
	if err := leaving.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for _, g := range idle {
		g.handedOver()
		g.urls = []string{staying.url}
		g.comeBack()
		g.talk(len(orders("one")))
	}
	if got := leaving.metrics("hocket_conversations_handed_over_total"); got["handed_over"] != "6" {
		t.Errorf("handed over: %v, expected 6", got)
	}
	if got := leaving.metrics("hocket_conversations_ended_total"); len(got) != 0 {
		t.Errorf("ended: %v, expected none", got)
	}
	free()
	busy.handedOver()
	leaving.ended()
	busy.urls = []string{staying.url}
	busy.comeBack()
	busy.talk(2)
	if n := bills.Load(); n != 1 {
		t.Errorf("the tool was called %d times", n)
	}
	b, err := os.ReadFile(leaving.log.Name())
	if err != nil {
		t.Fatal(err)
	}
	if log := string(b); strings.Count(log, `"msg":"conversation handed over"`) != 7 || strings.Contains(log, "conversation ended") || strings.Contains(log, `"reason":"shutdown"`) {
		t.Errorf("the log:\n%s", log)
	}
	for _, g := range append(idle, busy) {
		// What the agent says is kept behind its sound: the last answer may be heard before it is stored.
		var said map[string]int
		waittest.Until(t, "the stored lines of the conversation", nil, func() bool {
			said = g.stored()
			for _, line := range orders("one")[1:g.next] {
				if said["user: "+line[0]] < 1 || said["agent: "+line[1]] < 1 {
					return false
				}
			}
			return true
		})
		for _, line := range orders("one")[1:g.next] {
			if n := said["user: "+line[0]]; n != 1 {
				t.Errorf("%q is %d times among %v", line[0], n, said)
			}
		}
		if g == busy && said["agent: That is 40 euros."] != 1 {
			t.Errorf("the bill is not among %v", said)
		}
	}
}

// stored counts the lines of the conversation that the node keeps, each with its role.
func (g *guest) stored() map[string]int {
	g.t.Helper()
	var kept struct{ Lines []struct{ Role, Text string } }
	if err := g.get("/v1/stored/"+g.id, &kept); err != nil {
		g.t.Fatal(err)
	}
	said := make(map[string]int)
	for _, l := range kept.Lines {
		said[l.Role+": "+l.Text]++
	}
	return said
}

// handedOver reads to the end of the stream, which must say that the conversation goes on.
func (g *guest) handedOver() {
	g.t.Helper()
	over, last := waittest.Context(g.t), heard{}
	for {
		select {
		case <-over.Done():
			g.fail("the conversation is not handed over")
		case m, ok := <-g.events:
			if !ok {
				if last.Reason != "handed_over" {
					g.fail("the stream ends with %+v", last)
				}
				return
			}
			last, g.at = m, max(g.at, m.At)
		}
	}
}
