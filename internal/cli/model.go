package cli

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// command is a command as needed for completion and the manual.
type command struct {
	path      string // the names of the command and its parents, each after a space; "" for the program
	help      string // one sentence
	detail    string
	flags     []commandFlag
	below     []*command
	arguments []argument
}

// commandFlag is a flag of a command.
type commandFlag struct {
	name, help  string
	short       rune
	placeholder string   // of its value; empty if it takes none
	values      []string // possible values; nil if any
	env         []string // environment variables used instead
}

// argument is a positional argument of a command.
type argument struct {
	summary, help string
	file          bool     // names of files
	values        []string // possible values; nil if any
}

// commandLine returns the program and all commands, each before its subcommands.
func commandLine(app *kong.Application) []*command {
	var all []*command
	add(&all, app.Node, "")
	return all
}

func add(all *[]*command, n *kong.Node, path string) *command {
	c := &command{path: path, help: n.Help, detail: n.Detail}
	*all = append(*all, c)
	for _, f := range slices.Concat(n.Flags, inherited(n)) {
		if !f.Hidden {
			c.flags = append(c.flags, flagOf(f))
		}
	}
	for _, p := range n.Positional {
		a := argument{summary: p.Summary(), help: p.Help, file: isFile(p.Summary())}
		if p.Enum != "" {
			a.values = p.EnumSlice()
		}
		c.arguments = append(c.arguments, a)
	}
	for _, child := range n.Children {
		if !child.Hidden {
			c.below = append(c.below, add(all, child, path+" "+child.Name))
		}
	}
	return c
}

// inherited returns the flags of the parent commands.
func inherited(n *kong.Node) []*kong.Flag {
	if n.Parent == nil {
		return nil
	}
	return slices.Concat(n.Parent.Flags, inherited(n.Parent))
}

func flagOf(f *kong.Flag) commandFlag {
	out := commandFlag{name: f.Name, help: f.Help, short: f.Short, env: f.Envs}
	if !f.IsBool() {
		out.placeholder = f.FormatPlaceHolder()
		if f.PlaceHolder == "" {
			out.placeholder = strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		}
	}
	// The tag lists the values of a flag that the command itself validates.
	if values := f.Tag.Get("complete"); values != "" {
		out.values = strings.Split(values, ",")
	}
	return out
}

// file reports whether the flag's value is the name of a file.
func (f commandFlag) file() bool { return isFile(f.placeholder) }

func isFile(placeholder string) bool {
	text := strings.ToUpper(placeholder)
	return strings.Contains(text, "FILE") || strings.Contains(text, "PATH") || strings.Contains(text, "STORE") || strings.Contains(text, "TRACE")
}

// sentence returns the first sentence of a help text without its full stop.
func sentence(help string) string {
	first, _, _ := strings.Cut(help, ". ")
	return strings.TrimSuffix(strings.TrimSpace(first), ".")
}
