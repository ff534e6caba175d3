package cli

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// command is a command as completion and manual see it.
type command struct {
	path      string // below the program, with a space before each word; the program's own is ""
	help      string // one sentence
	detail    string
	flags     []commandFlag
	below     []*command
	arguments []argument
}

// commandFlag is one of a command's flags.
type commandFlag struct {
	name, help  string
	short       rune
	placeholder string   // of its value; empty if it takes none
	values      []string // that it takes, if they are few
	env         []string // variables that stand for it
}

// argument is what a command takes beside flags and commands.
type argument struct {
	summary, help string
	file          bool     // the names of files
	values        []string // that it takes, if they are few
}

// commandLine reads the description of the command line: the program, and all commands with
// it, each before those below it.
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

// inherited are the flags of the commands above.
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
	// The tag is for a flag whose command itself says what is wrong with a value.
	if values := f.Tag.Get("complete"); values != "" {
		out.values = strings.Split(values, ",")
	}
	return out
}

// file reports whether the flag takes the name of a file.
func (f commandFlag) file() bool { return isFile(f.placeholder) }

func isFile(placeholder string) bool {
	text := strings.ToUpper(placeholder)
	return strings.Contains(text, "FILE") || strings.Contains(text, "PATH") || strings.Contains(text, "STORE") || strings.Contains(text, "TRACE")
}

// sentence is the first sentence of a help, without its full stop.
func sentence(help string) string {
	first, _, _ := strings.Cut(help, ". ")
	return strings.TrimSuffix(strings.TrimSpace(first), ".")
}
