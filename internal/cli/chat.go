package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/internal/app"
	"github.com/hocketvoice/hocket/session"
)

// chatCmd holds a conversation by text.
type chatCmd struct {
	Agent  string `required:"" placeholder:"PATH" help:"The agent: a YAML file, or a folder of them."`
	Config string `placeholder:"FILE" help:"A config file."`
	JSON   bool   `name:"json" help:"Print the dialogue's state as a JSON line after the greeting and after each line."`
	Today  string `placeholder:"DATE" help:"The date of the conversation (2026-12-31); today's if absent."`
	Store  string `env:"HOCKET_STORE" placeholder:"STORE" help:"Keep the conversation there, so that it can go on if the program ends: in a file, in postgres://..., or what $${NAME} holds."`
	Resume string `placeholder:"ID" help:"Go on with a conversation of the store."`
}

// Help is the long help.
func (chatCmd) Help() string {
	return `Each line of the input is one turn of the user's. The end of the input ends the conversation.`
}

// longestLine bounds a line of the user's, in bytes.
const longestLine = 64 << 10

// Run is the command.
func (c *chatCmd) Run(s *streams) (err error) {
	clock, err := chatClock(c.Today)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	text, end, err := app.NewChat(ctx, app.ChatOptions{
		Agent: c.Agent, Config: c.Config, Store: c.Store, Resume: c.Resume,
		Note: func(note string) { fmt.Fprintln(s.err, "note: "+note) },
	})
	if err != nil {
		return callError(err)
	}
	defer func() { err = errors.Join(err, end()) }()
	begin := text.Start
	if text.Resumed {
		begin = text.Resume
	}
	if c.Store != "" {
		fmt.Fprintf(s.err, "note: the conversation is %s in %s\n", text.ID, app.StoreName(c.Store))
	}
	reply, err := begin(ctx, clock())
	if err != nil {
		return callError(err)
	}
	if err := c.tell(s, text, reply); err != nil {
		return err
	}
	lines := bufio.NewScanner(s.in)
	lines.Buffer(nil, longestLine)
	for !text.Over() && !reply.Handoff && lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		if reply, err = text.Say(ctx, clock(), line); err != nil {
			return callError(err)
		}
		if err := c.tell(s, text, reply); err != nil {
			return err
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return badInputf("the line is too long: at most %d bytes are allowed", longestLine)
	case err != nil:
		return badInputf("read the input: %w", err)
	}
	return text.End(ctx)
}

// tell prints what came of a line.
func (c *chatCmd) tell(s *streams, text *app.Chat, r session.TextReply) error {
	never, failed := text.Model.Failed()
	if never && len(r.Notes) > 0 {
		return failed // a wrong key, no such model, no server: the next line would go no better
	}
	for _, code := range r.Notes {
		fmt.Fprintln(s.err, "note: "+code)
	}
	if failed != nil {
		fmt.Fprintln(s.err, "note: "+failed.Error())
	}
	if c.JSON {
		return s.writeLine(text.Dialogue())
	}
	if len(r.Said) == 0 {
		return nil
	}
	return s.printf("%s\n", strings.Join(r.Said, " "))
}

// chatClock tells the time of each line: the clock's, or with a date that day's
// from noon, a second apart, so that the same lines give the same output.
func chatClock(today string) (func() time.Time, error) {
	if today == "" {
		return time.Now, nil
	}
	now, err := noon(today)
	if err != nil {
		return nil, err
	}
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}, nil
}
