package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/app"
	"github.com/hocketvoice/hocket/session"
)

// chatCmd holds a conversation by text.
type chatCmd struct {
	Agent  string `required:"" placeholder:"PATH" help:"The agent: a YAML file, or a folder of YAML files."`
	Config string `placeholder:"FILE" help:"A config file."`
	JSON   bool   `name:"json" help:"Print the state of the dialogue as a JSON line after the greeting and after each line."`
	Today  string `placeholder:"DATE" help:"The date of the conversation, such as 2026-12-31 (default today)."`
	Store  string `env:"HOCKET_STORE" placeholder:"STORE" help:"Save the conversation in this store, so that it can continue after the program has ended: a file, postgres://..., or $${NAME} for a variable that holds one of them."`
	Resume string `placeholder:"ID" help:"Continue this conversation of the store."`
}

// Help returns the long help.
func (chatCmd) Help() string {
	return `Each line of the input is a turn of the user. The end of the input ends the conversation. Ctrl-C stops an answer; while the agent is not answering, it ends the conversation with exit status 130. On a terminal, lines can be edited, the arrow keys recall earlier lines, and /help lists the commands of the chat.`
}

// longestLine limits the length of the user's lines, in bytes.
const longestLine = 64 << 10

// Run runs the command.
func (c *chatCmd) Run(s *streams) (err error) {
	clockIn, err := chatClock(c.Today)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	text, end, err := app.NewChat(ctx, app.ChatOptions{
		Agent: c.Agent, Config: c.Config, Store: c.Store, Resume: c.Resume,
		Note: func(note string) { fmt.Fprintln(s.err, "note: "+note) },
	})
	if err != nil {
		return callError(err)
	}
	defer func() { err = errors.Join(err, end()) }()
	clock := clockIn(text.Location)
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
	return c.converse(ctx, s, text, clock, reply)
}

// converse answers the lines of the input until it or the conversation ends. reply is the agent's
// last one.
func (c *chatCmd) converse(ctx context.Context, s *streams, text *app.Chat, clock func() time.Time, reply session.TextReply) error {
	in := c.input(s)
	defer in.close()
	for !text.Over() && !reply.Handoff {
		line, err := in.read(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return text.End(ctx)
		case errors.Is(err, errInterrupted):
			return errors.Join(told{statusInterrupted}, text.End(context.WithoutCancel(ctx)))
		case err != nil:
			return err
		}
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if in.terminal() && strings.HasPrefix(line, "/") {
			if c.order(s, text, line) {
				return text.End(ctx)
			}
			continue
		}
		if reply, err = c.say(ctx, s, text, clock, line); err != nil {
			return callError(err)
		}
		if err := c.tell(s, text, reply); err != nil {
			return err
		}
	}
	return text.End(ctx)
}

// say sends a line to the agent and returns the answer. An interrupt stops the answer.
func (c *chatCmd) say(ctx context.Context, s *streams, text *app.Chat, clock func() time.Time, line string) (session.TextReply, error) {
	answering, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	reply, err := text.Say(answering, clock(), line)
	if err != nil && answering.Err() != nil && ctx.Err() == nil {
		stop() // the next interrupt ends the program
		if s.terminal() != nil {
			fmt.Fprintln(s.out) // after the ^C
		}
		return text.Interrupt(ctx, clock())
	}
	return reply, err
}

// order handles a line of a terminal that begins with a slash, and reports whether it
// ends the chat.
func (c *chatCmd) order(s *streams, text *app.Chat, line string) (quit bool) {
	var err error
	switch line {
	case "/quit", "/exit":
		return true
	case "/state":
		enc := json.NewEncoder(s.out)
		enc.SetIndent("", "  ")
		err = enc.Encode(text.Dialogue())
	case "/why":
		err = c.why(s, text)
	case "/help", "/?":
		err = s.printf("/state  print the state of the dialogue as JSON\n/why    explain the last answer\n/quit   end the chat, like Ctrl-D and Ctrl-C\n")
	default:
		err = s.printf("unknown command %s: expected one of /state, /why, /quit, /help\n", line)
	}
	return err != nil
}

// why prints how the flows handled the last line.
func (c *chatCmd) why(s *streams, text *app.Chat) error {
	trace := text.Dialogue().Trace
	begin := 0
	for i, e := range trace {
		if e.Event == "user_message" {
			begin = i
		}
	}
	for _, e := range trace[begin:] {
		b, err := json.Marshal(e.Data)
		if err != nil {
			return err
		}
		if err := s.printf("%-20s %s\n", e.Event, b); err != nil {
			return err
		}
	}
	history := text.State().History
	last := 0
	for i := range history {
		if history[i].Role == conv.RoleUser {
			last = i
		}
	}
	for _, it := range history[min(last, len(history)):] {
		if it.CallID != "" {
			if err := s.printf("%-20s %s -> %s\n", "call", it.Name+" "+it.Arguments, it.Text); err != nil {
				return err
			}
		}
	}
	return nil
}

// tell prints the answer to a line.
func (c *chatCmd) tell(s *streams, text *app.Chat, r session.TextReply) error {
	never, failed := text.Model.Failed()
	if never && len(r.Notes) > 0 {
		return failed // a wrong key, an unknown model or a missing server: the next line would fail too
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
	return s.printf("%s%s\n", s.speaker(), strings.Join(r.Said, " "))
}

// chatClock checks a date, and returns a function that makes the clock for the lines of a
// chat in a time zone. With a date, the clock starts at noon of that day and advances by one
// second per line, so that the same lines give the same output.
func chatClock(today string) (func(*time.Location) func() time.Time, error) {
	if today == "" {
		return func(*time.Location) func() time.Time { return time.Now }, nil
	}
	date, err := day(today)
	if err != nil {
		return nil, err
	}
	return func(location *time.Location) func() time.Time {
		now := app.Noon(date, location)
		return func() time.Time {
			now = now.Add(time.Second)
			return now
		}
	}, nil
}
