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
	{"session.update", "merges; see the table of members above"},
	{"transcription_session.update", "the older form of `session.update`, in the beta dialect"},
	{"input_audio_buffer.append", "up to 15 MiB at once; time is the sound appended, which is neither dropped nor filled with silence"},
	{"input_audio_buffer.commit", "at least 100 ms; ends the person's turn where turns are detected"},
	{"input_audio_buffer.clear", "drops what was not committed"},
	{"conversation.item.create", "messages of text and `input_audio`, calls and their outputs; an image is refused by the name of its part; a repeated id is refused"},
	{"conversation.item.retrieve", "without the sound, which is not kept"},
	{"conversation.item.truncate", "cuts the words to those that had been heard, here and in the conversation's history; an answer that is being spoken stops, and its response is cancelled"},
	{"conversation.item.delete", "the model is not told of it any more"},
	{"response.create", "all overrides; `conversation: \"none\"`; `input` with references"},
	{"response.cancel", "the active response; one beside the conversation runs to its end"},
	{"output_audio_buffer.clear", "over WebRTC it ends the answer; over WebSocket it is an error, as the client plays"},
}

// sentNever lists the server events that this server does not send, and the reasons.
var sentNever = map[string]string{
	"conversation.created":                                "not sent by OpenAI either; some clients do not know it",
	"conversation.item.input_audio_transcription.segment": "speakers are not told apart",
	"input_audio_buffer.dtmf_event_received":              "of telephone calls, which come by another way",
	"mcp_list_tools.in_progress":                          "tools of type `mcp` are refused",
	"mcp_list_tools.completed":                            "the same",
	"mcp_list_tools.failed":                               "the same",
	"response.mcp_call_arguments.delta":                   "the same",
	"response.mcp_call_arguments.done":                    "the same",
	"response.mcp_call.in_progress":                       "the same",
	"response.mcp_call.completed":                         "the same",
	"response.mcp_call.failed":                            "the same",
}

// documentation compares docs/realtime.md with the results of this run. With -rewrite,
// it writes the file instead.
func documentation(t *testing.T) {
	for _, c := range slices.Concat(append(lists(), wholeChecks)...) {
		for _, w := range waysOf(&c) {
			switch results.of[w+" "+c.id] {
			case "":
				t.Skip("not all checks were run: docs/realtime.md is not compared")
			case "not run":
				t.Skipf("%s was not run: docs/realtime.md is not compared", c.id)
			}
		}
	}
	path := filepath.Join("..", "..", "docs", "realtime.md")
	want := matrix(t)
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
			t.Fatalf("docs/realtime.md differs from this run at line %d, expected:\n%s\n(go test ./leg/realtime -run Conformance -rewrite)", i+1, line)
		}
	}
	if len(got) > len(want) {
		t.Errorf("docs/realtime.md has more text than expected: %q", got[len(want):])
	}
}

// matrix returns the expected content of docs/realtime.md.
func matrix(t *testing.T) string {
	run.mu.Lock()
	defer run.mu.Unlock()
	var b strings.Builder
	head, err := os.ReadFile(filepath.Join("testdata", "realtime-head.md"))
	if err != nil {
		t.Fatal(err)
	}
	b.Write(head)
	b.WriteString("\n## Client events\n\n| event | tried | what it does here |\n|---|---|---|\n")
	for _, e := range clientEvents {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", e.name, yes(run.sent[e.name]), e.does)
	}
	known, err := schemas()
	if err != nil {
		t.Fatal(err)
	}
	b.WriteString("\n## Server events\n\nThe 46 that npm `openai` knows. *Seen* means that a check received it and that it\nfits the types.\n\n| event | |\n|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(known)) {
		switch why := sentNever[name]; {
		case strings.HasPrefix(name, "output_audio_buffer."):
			fmt.Fprintf(&b, "| `%s` | over WebRTC alone; seen by the client in Chromium |\n", name)
		case run.types[name] && why != "":
			t.Errorf("%s is sent, but listed as not sent", name)
		case run.types[name]:
			fmt.Fprintf(&b, "| `%s` | seen |\n", name)
		case run.beta[name]:
			fmt.Fprintf(&b, "| `%s` | seen in the beta dialect |\n", name)
		case why != "":
			fmt.Fprintf(&b, "| `%s` | not sent: %s |\n", name, why)
		default:
			fmt.Fprintf(&b, "| `%s` | not seen |\n", name)
		}
	}
	writeChecks(&b)
	return b.String()
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

// writeChecks writes the tables of the checks and of those that cannot apply.
func writeChecks(b *strings.Builder) {
	b.WriteString("\n## The checks\n\nEach is run against a server of a language model, one whose agent greets, and one of flows without\na model; C72 to C74 are about every event of the run. A check that cannot apply is run too: it has\nto fail.\n\n| | | model | greets | flows |\n|---|---|---|---|---|\n")
	all := slices.Concat(append(lists(), wholeChecks)...)
	slices.SortFunc(all, func(a, b check) int { return strings.Compare(a.id, b.id) })
	passed, total := 0, 0
	var never []string
	for _, c := range all {
		fmt.Fprintf(b, "| %s | %s |", c.id, c.what)
		for _, w := range waysOf(&c) {
			result := results.of[w+" "+c.id]
			total++
			switch result {
			case "passed":
				passed++
			case "failed":
			default:
				total--
				never = append(never, fmt.Sprintf("| %s | %s | %s |\n", c.id, w, result))
				result = "cannot apply"
			}
			if w == "all" {
				result += " | " + result + " | " + result
			}
			fmt.Fprintf(b, " %s |", result)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "\n%d of %d passed.\n\n| cannot apply | to | because |\n|---|---|---|\n%s", passed, total, strings.Join(never, ""))
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
