package app

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write what the server answers now to docs/server.md")

const serverDocument = "../../docs/server.md"

var (
	sessions = regexp.MustCompile("(?s)```console\n(.*?)```")
	// varies matches what differs between two servers.
	varies = regexp.MustCompile(`(conv|at|rt)_[A-Za-z0-9_-]+|"[0-9a-f]{12}"|"\d{4}-\d\d-\d\dT[^"]*"|"at":[0-9.]+|"speech":(?:true|false)|"voices":\[[^\]]*\]|"turns":\d+|"(durationMs|duration|[a-z_]+_ms)":[0-9.]+`)
	word   = regexp.MustCompile(`(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\])+`)
)

// curl is a command of the document.
type curl struct {
	method string // "": as curl chooses
	url    string
	data   string
	lines  int // that head lets through; 0: all
}

// parseCurl reads a command; vars are the variables of the shell.
func parseCurl(t *testing.T, command string, vars map[string]string) curl {
	t.Helper()
	c := curl{}
	if line, n, ok := strings.Cut(command, " | head -"); ok {
		command = line
		var err error
		if c.lines, err = strconv.Atoi(n); err != nil {
			t.Fatal(err)
		}
	}
	words := word.FindAllString(strings.ReplaceAll(command, "\\\n", " "), -1)
	for i := range words {
		switch w := words[i]; {
		case strings.HasPrefix(w, "'"):
			words[i] = strings.Trim(w, "'")
		default:
			w = strings.NewReplacer(`\"`, `"`).Replace(strings.Trim(w, `"`))
			words[i] = os.Expand(w, func(name string) string { return vars[name] })
		}
	}
	if len(words) == 0 || words[0] != "curl" {
		t.Fatalf("%q is not a curl", command)
	}
	for i := 1; i < len(words); i++ {
		switch words[i] {
		case "-s", "-sN":
		case "-X":
			i++
			c.method = words[i]
		case "-d":
			i++
			c.data = words[i]
		default:
			c.url = words[i]
		}
	}
	return c
}

// run makes the request to a server.
func (c curl) run(t *testing.T, server string) string {
	t.Helper()
	method, body := http.MethodGet, io.Reader(http.NoBody)
	if c.data != "" {
		method, body = http.MethodPost, strings.NewReader(c.data)
	}
	if c.method != "" {
		method = c.method
	}
	r, err := http.NewRequestWithContext(t.Context(), method, strings.Replace(c.url, "http://127.0.0.1:8080", server, 1), body)
	if err != nil {
		t.Fatal(err)
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	var out bytes.Buffer
	lines := bufio.NewScanner(w.Body)
	for n := 0; (c.lines == 0 || n < c.lines) && lines.Scan(); n++ {
		fmt.Fprintln(&out, lines.Text())
	}
	return out.String()
}

// TestServerDocument runs the examples of docs/server.md against a server and
// compares what it answers. -rewrite writes what it answers now.
func TestServerDocument(t *testing.T) {
	r := serve(t, "server: {drain: off}")
	text, err := os.ReadFile(serverDocument)
	if err != nil {
		t.Fatal(err)
	}
	vars := make(map[string]string)
	made := regexp.MustCompile(`"id":"(conv_[^"]+)".*"resume_token":"([^"]+)"`)
	commands, turns := 0, 0
	now := sessions.ReplaceAllStringFunc(string(text), func(block string) string {
		out := "```console\n"
		for _, part := range regexp.MustCompile(`(?m)^\$ `).Split(sessions.FindStringSubmatch(block)[1], -1)[1:] {
			command, shown, _ := strings.Cut(part, "\n")
			for strings.HasSuffix(command, "\\") {
				more, rest, _ := strings.Cut(shown, "\n")
				command, shown = command+"\n"+more, rest
			}
			commands++
			if id := vars["ID"]; id != "" {
				r.eventually("rest", func() bool {
					var d struct {
						Phase string
						Turns int
					}
					r.do("GET", "/v1/conversations/"+id, "", &d)
					return d.Phase == "idle" || d.Phase == "listening.ready" && d.Turns >= turns
				})
			}
			got := parseCurl(t, command, vars).run(t, r.url)
			as := varies.ReplaceAllString(shown, "_")
			if m := made.FindStringSubmatch(got); m != nil {
				vars["ID"], vars["RESUME"] = m[1], m[2]
				turns = 1 // the greeting
			}
			if strings.Contains(command, `"send_text"`) {
				turns += 2 // the line and its answer, which come after the command is taken
			}
			if same := varies.ReplaceAllString(got, "_"); same == as {
				got = shown
			} else if !*rewrite {
				t.Errorf("$ %s\nshown   %s\nanswered %s", command, shown, got)
			}
			out += "$ " + command + "\n" + got
		}
		return out + "```"
	})
	if commands < 9 {
		t.Errorf("there are %d examples", commands)
	}
	http.DefaultClient.CloseIdleConnections()
	if *rewrite && now != string(text) {
		if err := os.WriteFile(serverDocument, []byte(now), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
