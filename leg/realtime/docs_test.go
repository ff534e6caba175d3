package realtime_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// clientEvents lists the events that a client can send, and what they do on this
// server.
var clientEvents = []struct{ name, does string }{
	{"session.update", "merges the [members](#members-of-a-session)"},
	{"transcription_session.update", "the older form of `session.update`, in the beta dialect"},
	{"input_audio_buffer.append", "up to 15 MiB at once; time is the sound appended"},
	{"input_audio_buffer.commit", "at least 100 ms; ends the person's turn where turns are detected"},
	{"input_audio_buffer.clear", "drops what was not committed"},
	{"conversation.item.create", "messages of text and `input_audio`, calls and their outputs; images and repeated ids are refused"},
	{"conversation.item.retrieve", "without the sound, which is not kept"},
	{"conversation.item.truncate", "cuts the words, also in the history, to those heard; cancels an answer that is being spoken"},
	{"conversation.item.delete", "the model is no longer told of it"},
	{"response.create", "all overrides; `conversation: \"none\"`; `input` with references"},
	{"response.cancel", "the active response; one beside the conversation runs to its end"},
	{"output_audio_buffer.clear", "ends the answer over WebRTC; an error over WebSocket, where the client plays"},
}

const noMCP = "tools of type `mcp` are refused"

// sentNever lists the server events that this server does not send, and the reasons.
var sentNever = map[string]string{
	"conversation.created":                                "OpenAI does not send it either",
	"conversation.item.input_audio_transcription.segment": "speakers are not told apart",
	"input_audio_buffer.dtmf_event_received":              "telephone calls come another way",
	"mcp_list_tools.in_progress":                          noMCP,
	"mcp_list_tools.completed":                            noMCP,
	"mcp_list_tools.failed":                               noMCP,
	"response.mcp_call_arguments.delta":                   noMCP,
	"response.mcp_call_arguments.done":                    noMCP,
	"response.mcp_call.in_progress":                       noMCP,
	"response.mcp_call.completed":                         noMCP,
	"response.mcp_call.failed":                            noMCP,
}

// documentation compares docs/realtime.md and CHECKS.md with the results of this run.
// With -rewrite, it writes the files instead.
func documentation(t *testing.T) {
	for _, c := range slices.Concat(append(lists(), wholeChecks)...) {
		for _, w := range waysOf(&c) {
			switch results.of[w+" "+c.id] {
			case "":
				t.Skip("not all checks were run: the documents are not compared")
			case "not run":
				t.Skipf("%s was not run: the documents are not compared", c.id)
			}
		}
	}
	page, received := matrix(t)
	compare(t, filepath.Join("..", "..", "docs", "realtime.md"), page)
	compare(t, "CHECKS.md", checked()+received)
}

// compare compares a document with its expected content. With -rewrite, it writes it.
func compare(t *testing.T, path, want string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	written := strings.Split(string(got), "\n")
	for i, line := range strings.Split(want, "\n") {
		if i >= len(written) || written[i] != line {
			t.Fatalf("%s differs from this run at line %d, expected:\n%s\n(go test ./leg/realtime -run Conformance -rewrite)", path, i+1, line)
		}
	}
	if len(got) > len(want) {
		t.Errorf("%s has more text than expected: %q", path, got[len(want):])
	}
}

// matrix returns the expected content of docs/realtime.md, and the end of CHECKS.md: the
// server events that the checks received.
func matrix(t *testing.T) (page, received string) {
	run.mu.Lock()
	defer run.mu.Unlock()
	var b strings.Builder
	head, err := os.ReadFile(filepath.Join("testdata", "realtime-head.md"))
	if err != nil {
		t.Fatal(err)
	}
	b.Write(head)
	b.WriteString("\n## Client events\n\n| event | |\n|---|---|\n")
	for _, e := range clientEvents {
		fmt.Fprintf(&b, "| `%s` | %s%s |\n", e.name, e.does, untried(run.sent[e.name]))
	}
	known, err := schemas()
	if err != nil {
		t.Fatal(err)
	}
	events := make(map[string][]string) // by what is said of them
	for _, name := range slices.Sorted(maps.Keys(known)) {
		said := "**not seen**"
		switch why := sentNever[name]; {
		case strings.HasPrefix(name, "output_audio_buffer."):
			said = "only over WebRTC; the client in Chromium receives it"
		case run.types[name] && why != "":
			t.Errorf("%s is sent, but listed as not sent", name)
		case run.types[name]:
			said = "received by a check"
		case run.beta[name]:
			said = "received by a check in the beta dialect"
		case why != "":
			said = "not sent: " + why
		}
		events[said] = append(events[said], "`"+name+"`")
	}
	fmt.Fprintf(&b, "\n## Server events\n\nThe %d that npm `openai` knows, except:\n\n| not sent | events |\n|---|---|\n", len(known))
	var r strings.Builder
	r.WriteString("\n## Server events\n\nWhat a check receives must fit the types of npm `openai`.\n\n| | events |\n|---|---|\n")
	for _, said := range slices.Sorted(maps.Keys(events)) {
		if why, never := strings.CutPrefix(said, "not sent: "); never {
			fmt.Fprintf(&b, "| %s | %s |\n", why, strings.Join(events[said], ", "))
		} else {
			fmt.Fprintf(&r, "| %s | %s |\n", said, strings.Join(events[said], ", "))
		}
	}
	return b.String(), r.String()
}

// waysOf returns the ways in which a check is run.
func waysOf(c *check) []string {
	if slices.ContainsFunc(wholeChecks, func(w check) bool { return w.id == c.id }) {
		return []string{"all"}
	}
	var names []string
	for _, w := range ways {
		names = append(names, w.name)
	}
	return names
}

// checked returns CHECKS.md without the list of events.
func checked() string {
	all := slices.Concat(append(lists(), wholeChecks)...)
	slices.SortFunc(all, func(a, b check) int { return strings.Compare(a.id, b.id) })
	passed, total := 0, 0
	var rows, never strings.Builder
	for _, c := range all {
		var failed []string
		for _, w := range waysOf(&c) {
			total++
			switch result := results.of[w+" "+c.id]; result {
			case "passed":
				passed++
			case "failed":
				failed = append(failed, w)
			default:
				total--
				fmt.Fprintf(&never, "| %s | %s | %s |\n", c.id, w, result)
			}
		}
		fmt.Fprintf(&rows, "- %s: %s", c.id, c.what)
		if failed != nil {
			fmt.Fprintf(&rows, " **(failed: %s)**", strings.Join(failed, ", "))
		}
		rows.WriteByte('\n')
	}
	return fmt.Sprintf("# The checks of the Realtime protocol\n\nWritten by `go test ./leg/realtime -run Conformance -rewrite`, from a run over real sockets with real\nspeech. The %d checks are run against a server of a language model, one whose agent greets, and one of\nflows without a model: %d of %d passed. C72 to C74 are about every event of the run.\n\n%s\n## Checks that cannot apply\n\nThey are run too, and must fail.\n\n| check | to | because |\n|---|---|---|\n%s", len(all), passed, total, rows.String(), never.String())
}

// untried returns a remark about an event that no check sends.
func untried(sent bool) string {
	if sent {
		return ""
	}
	return " **(not tried)**"
}
