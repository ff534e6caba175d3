package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/app"
	"github.com/hocketvoice/hocket/session"
)

// testCmd holds conversations written in files and compares the answers.
type testCmd struct {
	Agent  string   `required:"" placeholder:"PATH" help:"The agent: a YAML file, or a folder of YAML files."`
	Config string   `placeholder:"FILE" help:"A config file."`
	Today  string   `placeholder:"DATE" help:"The date of the conversations, such as 2026-12-31 (default today)."`
	Files  []string `arg:"" name:"file" placeholder:"FILE" help:"A file with one conversation."`
}

// Help returns the long help.
func (testCmd) Help() string {
	return `Each line of a file is what the person says (> on saturday), words that the agent's answer to it must hold (< from 10 to 2; upper and lower case are the same), or the name of a tool or an action that must have been called for it (! opening_hours). Lines before the first > check the greeting. Empty lines and lines that begin with # are ignored. Exit status 1 if an answer is not as expected.`
}

// Run runs the command.
func (c *testCmd) Run(s *streams) error {
	talks := make([][]talkLine, len(c.Files))
	for i, path := range c.Files {
		var err error
		if talks[i], err = readTalk(path); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	failed := false
	for i, path := range c.Files {
		wrong, err := c.hold(ctx, s, talks[i])
		if err != nil {
			return callError(err)
		}
		line := "ok"
		if wrong != "" {
			line, failed = wrong, true
		}
		if err := s.printf("%s:%s\n", path, strings.TrimPrefix(" "+line, " line ")); err != nil {
			return err
		}
	}
	if failed {
		return errFinding
	}
	return nil
}

// talkLine is a line of a talk.
type talkLine struct {
	number int
	kind   byte // '>', '<' or '!'
	text   string
}

// readTalk reads the file of a talk.
func readTalk(path string) (talk []talkLine, err error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, longestLine)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if line == "" || line[0] == '#' {
			continue
		}
		text := strings.TrimSpace(line[1:])
		if !strings.ContainsRune("><!", rune(line[0])) || text == "" {
			return nil, badInputf("%s:%d: expected > and what the person says, < and words of the answer, or ! and the name of a tool", path, n)
		}
		talk = append(talk, talkLine{n, line[0], text})
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, badInputf("%s: a line has more than %d bytes", path, longestLine)
	case err != nil:
		return nil, badFile(err)
	case len(talk) == 0:
		return nil, badInputf("%s: expected a line that begins with >, < or !", path)
	}
	return talk, nil
}

// hold holds a talk and describes the first line that differs.
func (c *testCmd) hold(ctx context.Context, s *streams, talk []talkLine) (wrong string, err error) {
	clockIn, err := chatClock(c.Today)
	if err != nil {
		return "", err
	}
	text, end, err := app.NewChat(ctx, app.ChatOptions{
		Agent: c.Agent, Config: c.Config, Note: func(note string) { fmt.Fprintln(s.err, "note: "+note) },
	})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, end()) }()
	clock := clockIn(text.Location)
	reply, err := text.Start(ctx, clock())
	var before map[string]bool // calls before the last line of the person
	for _, line := range talk {
		if err != nil {
			return "", err
		}
		if never, failed := text.Model.Failed(); never && len(reply.Notes) > 0 {
			return "", failed
		}
		switch line.kind {
		case '>':
			if text.Over() {
				return fmt.Sprintf("line %d: the agent has hung up: expected that it listens", line.number), nil
			}
			before = calls(text)
			reply, err = text.Say(ctx, clock(), line.text)
		case '<':
			if said := answer(reply); !strings.Contains(strings.ToLower(said), strings.ToLower(line.text)) {
				return fmt.Sprintf("line %d: the agent says %q: expected %q in it", line.number, said, line.text), nil
			}
		case '!':
			if !called(text, before, line.text) {
				return fmt.Sprintf("line %d: %s was not called: expected a call of it", line.number, line.text), nil
			}
		}
	}
	return "", err
}

// calls returns the ids of the calls so far.
func calls(text *app.Chat) map[string]bool {
	ids := make(map[string]bool)
	for _, it := range text.State().History {
		ids[it.CallID] = true
	}
	return ids
}

// called reports whether a tool was called that was not among the calls before.
func called(text *app.Chat, before map[string]bool, name string) bool {
	return slices.ContainsFunc(text.State().History, func(it conv.Item) bool {
		return it.CallID != "" && !before[it.CallID] && it.Name == name
	})
}

// answer returns what the agent has said, and the notes to the person.
func answer(r session.TextReply) string {
	return strings.Join(append(append([]string(nil), r.Said...), r.Notes...), " ")
}
