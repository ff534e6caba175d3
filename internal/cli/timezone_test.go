//go:build unix

package cli

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/waittest"
)

// dayAgent is an agent that says which day the caller means.
const dayAgent = `version: "1.0"
settings: {language: en%s}
slots:
  day: {type: date, prompt: "Which day?"}
flows:
  visit:
    trigger: {intents: ["I want a visit"]}
    steps:
      - {step: ask, type: collect, slot: day}
      - {step: told, type: say, message: "It is {day:iso}."}
      - {step: gone, type: set, slots: {day: null}}
`

// Two time zones that never have the same date.
const (
	east = "Pacific/Kiritimati"
	west = "Pacific/Pago_Pago"
)

// tomorrow returns the date of tomorrow in a time zone.
func tomorrow(t *testing.T, zone string) string {
	t.Helper()
	at, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	return time.Now().In(at).AddDate(0, 0, 1).Format(time.DateOnly)
}

// asksTomorrow makes the agent say the date of tomorrow, and checks it. Midnight may pass
// in the meantime.
func (c *caller) asksTomorrow(zone string) {
	c.t.Helper()
	before := tomorrow(c.t, zone)
	c.say("I want a visit tomorrow")
	var said string
	for m := range c.events {
		if c.at = m.At; m.Type == "caption" && strings.HasPrefix(m.Payload.Text, "It is 2") {
			said = m.Payload.Text
			break
		}
	}
	if !slices.Contains([]string{"It is " + before + ".", "It is " + tomorrow(c.t, zone) + "."}, said) {
		c.t.Errorf("the agent says %q, expected %s, tomorrow in %s", said, before, zone)
	}
}

// TestTimeZones checks that the meaning of "tomorrow" depends on the time zone of the
// caller, or else of the agent, or else of the server. It must not change when a server in
// another time zone continues the conversation or replays its trace.
func TestTimeZones(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ name, process, agent, caller, want string }{
		{"process", east, "", "", east},
		{"agent", west, east, "", east},
		{"caller", west, west, east, east},
		{"process in the west", west, "", "", west},
	} {
		t.Run(x.name, func(t *testing.T) {
			setting, other := "", west
			if x.agent != "" {
				setting = ", timezone: " + x.agent
			}
			if x.process == west {
				other = east
			}
			agent := write(t, "visits.yaml", fmt.Sprintf(dayAgent, setting))
			n := newNode(t, agent, filepath.Join(t.TempDir(), "store"), "", "TZ="+x.process)
			n.start()
			c := &caller{t: t, urls: []string{n.url}}
			begin := map[string]any{"transport": "text"}
			if x.caller != "" {
				begin["timezone"] = x.caller
			}
			if !c.call(begin) || !c.follow() {
				t.Fatal("the conversation did not begin")
			}
			c.asksTomorrow(x.want)
			n.stop()
			n.env = []string{"TZ=" + other}
			n.start()
			c.comeBack()
			c.asksTomorrow(x.want)
			c.leave()

			resp, err := http.Get(n.url + "/v1/stored/" + c.id + "/trace")
			if err != nil {
				t.Fatal(err)
			}
			trace, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close() // it has been read
			if err != nil {
				t.Fatal(err)
			}
			for _, zone := range []string{east, west} {
				replayedIn(t, zone, write(t, "trace.jsonl", string(trace)))
			}
		})
	}
}

// TestRealtimeTimeZones checks that a client of the OpenAI Realtime protocol that gives its
// time zone in the address decides what "tomorrow" means, also after it has come back with
// another one to a server that was started again.
func TestRealtimeTimeZones(t *testing.T) {
	t.Parallel()
	n := newNode(t, write(t, "trip.yaml", fmt.Sprintf(dayAgent, ", timezone: "+west)), filepath.Join(t.TempDir(), "store"), "", "TZ="+west)
	n.start()
	c := &realtimeClient{t: t, query: "&timezone=" + east}
	if err := c.dial(n.url, ""); err != nil {
		t.Fatal(err)
	}
	c.hears("session.created")
	ask := func() {
		before := tomorrow(t, east)
		c.say("I want a visit tomorrow")
		if said := c.hears("It is 2"); !strings.Contains(said, before) && !strings.Contains(said, tomorrow(t, east)) {
			t.Errorf("%s, expected %s", said, before)
		}
	}
	ask()
	waittest.Until(t, "the checkpoint", nil, func() bool { // it is written asynchronously
		var details struct{ Lines []struct{ Text string } }
		err := (&caller{t: t, urls: []string{n.url}}).get("/v1/stored/"+c.id, &details)
		return err == nil && len(details.Lines) > 0 && strings.HasPrefix(details.Lines[len(details.Lines)-1].Text, "It is ")
	})
	n.kill()
	n.start()
	c.query = "&timezone=" + west
	token := c.back
	waittest.Until(t, "the return", nil, func() bool { return c.dial(n.url, token) == nil })
	c.quiet()
	ask()
}

// replayedIn replays a trace in a process that runs in a time zone.
func replayedIn(t *testing.T, zone, trace string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "replay", trace)
	cmd.Env = append(os.Environ(), mainEnv+"=1", "TZ="+zone)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("in %s: %v: %s", zone, err, out)
	}
}

// TestToday checks that a conversation with --today begins at noon in the agent's time
// zone, in whichever time zone the program runs.
func TestToday(t *testing.T) {
	for _, zone := range []string{east, west, "UTC", "+05:30"} {
		agent := write(t, "visits.yaml", fmt.Sprintf(dayAgent, fmt.Sprintf(", timezone: %q", zone)))
		out := output(t, "I want a visit tomorrow\n", "chat", "--agent", agent, "--today", "2026-12-31")
		if !strings.Contains(out, "It is 2027-01-01.") {
			t.Errorf("%s: %s", zone, out)
		}
	}
}

// TestCheckTimeZone checks that hocket check reports an unknown time zone.
func TestCheckTimeZone(t *testing.T) {
	for name, text := range map[string]string{
		"agent.yaml":  fmt.Sprintf(dayAgent, ", timezone: Berlin"),
		"hocket.yaml": "timezone: Berlin\n",
	} {
		out, stderr, status := run(t, "", "check", write(t, name, text))
		want := `timezone: is "Berlin": expected the name of a time zone in the IANA database, such as Europe/Berlin`
		if status != 2 || !strings.Contains(out+stderr, want) {
			t.Errorf("%s: status %d: %s%s", name, status, out, stderr)
		}
	}
}
