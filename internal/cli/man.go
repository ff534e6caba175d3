package cli

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// manCmd prints the manual page.
type manCmd struct{}

// Help returns the long help.
func (manCmd) Help() string {
	return `Prints the manual page. To read it: hocket man > hocket.1; man -l hocket.1.`
}

// Run runs the command.
func (c *manCmd) Run(s *streams, app *kong.Application) error {
	return s.printf("%s", manual(commandLine(app)))
}

// manual returns the page in the format of man(7).
func manual(all []*command) string {
	var b strings.Builder
	out := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	out(`.TH HOCKET 1`)
	out(".SH NAME\nhocket \\- %s", roff(strings.TrimSuffix(all[0].help, ".")))
	out(".SH SYNOPSIS\n.B hocket\n.I COMMAND\n.RI [ ARGUMENT ]...")
	out(".SH DESCRIPTION\nhocket holds spoken conversations between a person and an agent.\nEach command answers\n.BR \\-\\-help .")
	out(".SH COMMANDS")
	for _, c := range all[1:] {
		if len(c.below) > 0 {
			continue // its subcommands follow
		}
		out(".SS hocket %s%s", roff(c.path), summary(c))
		out("%s", roff(c.help))
		if c.detail != "" {
			out(".PP\n%s", roff(c.detail))
		}
		for _, a := range c.arguments {
			out(".TP\n.I %s\n%s", roff(a.summary), roff(a.help))
		}
		for _, f := range c.flags {
			out("%s", manFlag(f))
		}
	}
	out(".SH EXIT STATUS")
	out(".TP\n.B 0\nSuccess.")
	out(".TP\n.B 1\nThe command found a violation or a difference, or it failed.")
	out(".TP\n.B 2\nThe input or the arguments are wrong. One line on the standard error says what was expected.")
	return b.String()
}

// summary returns the command's arguments.
func summary(c *command) string {
	text := ""
	for _, a := range c.arguments {
		text += " " + roff(a.summary)
	}
	return text
}

func manFlag(f commandFlag) string {
	name := ".TP\n.B \\-\\-" + roff(f.name)
	if f.short != 0 {
		name = ".TP\n.BR \\-" + string(f.short) + " , \" \" \\-\\-" + roff(f.name)
	}
	if f.placeholder != "" {
		name = ".TP\n.BI \\-\\-" + roff(f.name) + " \" " + roff(f.placeholder) + "\""
	}
	help := roff(f.help)
	if len(f.env) > 0 {
		help += "\nThe variable " + roff("$"+strings.Join(f.env, ", $")) + " stands for it."
	}
	return name + "\n" + help
}

// roff escapes the special characters of roff.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, `"`, `\(dq`, "'", `\(aq`).Replace(strings.TrimSpace(text))
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return strings.ReplaceAll(text, "\n.", "\n\\&.")
}
