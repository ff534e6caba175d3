//go:build unix

package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/examples/airline"
	"github.com/hocketvoice/hocket/internal/pgtest"
)

// mainEnv makes the test's program run as hocket.
const mainEnv = "HOCKET_CLI_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(mainEnv) != "" {
		os.Exit(Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	if err := os.Unsetenv("HOCKET_STORE"); err != nil { // the tester's own store must not be used
		panic(err)
	}
	os.Exit(server.Tests(m).Run())
}

// server is the PostgreSQL server of the tests.
var server pgtest.Server //nolint:gochecknoglobals // TestMain stops it

// eachStore runs a test with a new store of each kind.
func eachStore(t *testing.T, test func(t *testing.T, store string)) {
	t.Helper()
	t.Run("file", func(t *testing.T) { test(t, filepath.Join(t.TempDir(), "chats.db")) })
	t.Run("postgres", func(t *testing.T) { test(t, server.Database(t)) })
}

// chatter is a process that holds a conversation by text.
type chatter struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan dialog.State // closed when the process writes no more
	id    string
	note  *strings.Builder
}

// chatting starts a process. resume is the id of a conversation to continue, or "".
func chatting(t *testing.T, store, resume, url string, more ...string) *chatter {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"chat", "--agent", flights, "--json", "--store", store}, more...)
	if resume != "" {
		args = append(args, "--resume", resume)
	}
	c := &chatter{t: t, cmd: exec.CommandContext(t.Context(), program, args...), lines: make(chan dialog.State), id: resume, note: &strings.Builder{}}
	c.cmd.Env = append(os.Environ(), mainEnv+"=1", "HOCKET_AIRLINE_URL="+url)
	c.cmd.Stderr = c.note
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.lines)
		scan := bufio.NewScanner(out)
		scan.Buffer(nil, 1<<20)
		for scan.Scan() {
			var st dialog.State
			if json.Unmarshal(scan.Bytes(), &st) != nil {
				return // an incomplete line does not count
			}
			c.lines <- st
		}
	}()
	return c
}

// say writes a line. A process that has ended does not receive it.
func (c *chatter) say(text string) { _, _ = io.WriteString(c.in, text+"\n") }

// kill ends the process like a power failure and returns the last state that it has
// written.
func (c *chatter) kill() (last *dialog.State) {
	if err := c.cmd.Process.Kill(); err != nil { // by its id
		c.t.Fatal(err)
	}
	for st := range c.lines {
		last = &st
	}
	_ = c.cmd.Wait() // the process was killed
	return last
}

// bye ends the input and waits for the process.
func (c *chatter) bye() {
	c.t.Helper()
	if err := c.in.Close(); err != nil {
		c.t.Fatal(err)
	}
	for range c.lines {
		continue
	}
	if err := c.cmd.Wait(); err != nil {
		c.t.Fatalf("%v: %s", err, c.note)
	}
}

// wish returns what a person who books a flight says next. done is true if there is
// nothing more to say.
func wish(st dialog.State) (text string, done bool) {
	switch st.ConversationState {
	case dialog.Confirming:
		return "yes", false
	case dialog.Error:
		return "try again", false
	case dialog.WaitingForSlot:
		return map[string]string{"origin": "from Boston", "destination": "to Denver", "departure_date": "next friday"}[st.WaitingForSlot], false
	case dialog.Completed:
		return "", true
	default:
		return "I want to book a flight", false
	}
}

// firstID returns the id of the store's only conversation, or "" if there is none.
func firstID(t *testing.T, store string) string {
	t.Helper()
	out, _, status := run(t, "", "conversations", "list", "--store", store)
	if status != 0 {
		return ""
	}
	id, _, _ := strings.Cut(out, " ")
	return id
}

// TestKilledChats kills processes at random moments. Their conversations must continue
// in another process with everything that was printed, and every action must be done
// once.
func TestKilledChats(t *testing.T) {
	t.Parallel()
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		killChats(t, 20, func(t *testing.T) string { return filepath.Join(t.TempDir(), "chats.db") })
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		killChats(t, 5, func(t *testing.T) string { return server.Database(t) })
	})
}

// killChats runs a number of conversations.
func killChats(t *testing.T, chats int, newStore func(*testing.T) string) {
	kills, repeated := 0, 0
	for seed := range uint64(chats) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(1, seed))
			service := airline.New()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer := httptest.NewRecorder()
				service.ServeHTTP(answer, r) // the action is done, but not answered yet
				<-time.After(2 * time.Millisecond)
				w.WriteHeader(answer.Code)
				_, _ = w.Write(answer.Body.Bytes())
			}))
			defer server.Close()
			store := newStore(t)
			var told dialog.State // the last printed state
			c := chatting(t, store, "", server.URL)
			budget := 1 + rnd.IntN(4) // number of kills
			for steps := 0; ; steps++ {
				if steps > 100 {
					t.Fatalf("it comes to no end: %+v", told)
				}
				wait := time.Hour
				// At a random moment, and most often during the booking.
				if budget > 0 && (rnd.IntN(2) == 0 || told.ConversationState == dialog.Confirming) {
					wait = time.Duration(rnd.IntN(6_000)) * time.Microsecond
				}
				st, alive := c.next(wait)
				if alive && budget > 0 && told.ConversationState == dialog.Confirming {
					told, alive = *st, false // the process was faster: kill it after the answer
					c.kill()
					st = nil
				}
				if !alive {
					budget--
					kills++
					if st != nil {
						told = *st
					}
					c = chatting(t, store, firstID(t, store), server.URL)
					again, alive := c.next(time.Hour)
					if !alive {
						t.Fatalf("it does not go on: %s", c.note)
					}
					lostNothing(t, told, *again)
					st = again
				}
				told = *st
				text, done := wish(told)
				if done {
					break
				}
				c.say(text)
			}
			c.bye()
			if n := service.Counts(); n.Bookings != 1 {
				t.Errorf("%d bookings, expected one: %+v", n.Bookings, n)
			} else {
				repeated += n.Repeated
			}
			if ref := told.Slots["booking_ref"]; ref != "BK-40001" {
				t.Errorf("the user was told %v", ref)
			}
		})
	}
	t.Logf("%d processes killed, %d requests made again under their keys", kills, repeated)
	if kills < chats {
		t.Errorf("%d processes were killed, expected one for each conversation at least", kills)
	}
}

// next returns the state of the next line, or kills the process if none arrives in
// time. Then alive is false, and the state is the last one that was printed.
func (c *chatter) next(wait time.Duration) (st *dialog.State, alive bool) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case st, ok := <-c.lines:
		if !ok {
			c.t.Fatalf("the process has ended: %s", c.note)
		}
		return &st, true
	case <-timer.C:
		return c.kill(), false
	}
}

// lostNothing compares a printed state with the one with which the conversation
// continues.
func lostNothing(t *testing.T, told, now dialog.State) {
	t.Helper()
	for _, name := range []string{"origin", "destination", "departure_date", "flight_number", "booking_ref"} {
		if v := told.Slots[name]; v != nil && !reflect.DeepEqual(v, now.Slots[name]) {
			t.Errorf("%s was %v and is %v", name, v, now.Slots[name])
		}
	}
	if now.TurnCount < told.TurnCount || len(now.Messages) < len(told.Messages) {
		t.Errorf("it had %d turns and has %d", told.TurnCount, now.TurnCount)
	}
	if told.CurrentFlow != now.CurrentFlow && now.ConversationState != dialog.Completed && told.CurrentFlow != "" && told.CurrentFlow != "none" {
		t.Errorf("it was in flow %s and is in %s", told.CurrentFlow, now.CurrentFlow)
	}
}

// TestResumedTwice checks that a second process that continues the same conversation
// receives one clear error, and that another can continue when the first was killed.
func TestResumedTwice(t *testing.T) {
	t.Parallel()
	eachStore(t, resumeTwice)
}

func resumeTwice(t *testing.T, store string) {
	t.Parallel()
	first := chatting(t, store, "", "http://127.0.0.1:1")
	if _, ok := <-first.lines; !ok {
		t.Fatal(first.note)
	}
	id := firstID(t, store)
	stdout, stderr, status := run(t, "", "chat", "--agent", flights, "--store", store, "--resume", id)
	if status != statusInput || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "the conversation "+id+" is in use: another process holds it") {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
	first.say("book a flight from Boston to Denver")
	if st, ok := <-first.lines; !ok || st.Slots["destination"] != "Denver" {
		t.Errorf("the first does not go on: %s", first.note)
	}
	first.kill()
	second := chatting(t, store, id, "http://127.0.0.1:1")
	if st, ok := <-second.lines; !ok || st.Slots["destination"] != "Denver" {
		t.Errorf("nobody goes on: %s", second.note)
	}
	second.bye()
}
