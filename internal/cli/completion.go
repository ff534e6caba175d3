package cli

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCmd prints a shell's completion script.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

// Help returns the long help.
func (completionCmd) Help() string {
	return `Prints a script that lets a shell complete the commands, their flags and their values. In bash: source <(hocket completion bash). In zsh: hocket completion zsh > "${fpath[1]}/_hocket". In fish: hocket completion fish > ~/.config/fish/completions/hocket.fish.`
}

// Run runs the command.
func (c *completionCmd) Run(s *streams, app *kong.Application) error {
	scripts := map[string]func([]*command) string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}
	return s.printf("%s", scripts[c.Shell](commandLine(app)))
}

// word is a completion and its description.
type word struct{ text, help string }

// words returns the subcommands of a command and the values of its arguments.
func (c *command) words() []word {
	var list []word
	for _, b := range c.below {
		list = append(list, word{b.path[strings.LastIndexByte(b.path, ' ')+1:], b.help})
	}
	for _, a := range c.arguments {
		for _, v := range a.values {
			list = append(list, word{v, a.help})
		}
	}
	return list
}

func (c *command) names() []string {
	var list []string
	for _, w := range c.words() {
		list = append(list, w.text)
	}
	return list
}

// options returns the command's flags with their dashes.
func (c *command) options() []string {
	var list []string
	for _, f := range c.flags {
		list = append(list, "--"+f.name)
		if f.short != 0 {
			list = append(list, "-"+string(f.short))
		}
	}
	return list
}

// takesFile reports whether an argument of the command is the name of a file.
func (c *command) takesFile() bool {
	for _, a := range c.arguments {
		if a.file {
			return true
		}
	}
	return false
}

// single quotes a text for a shell.
func single(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// paths returns the paths of all commands as a pattern of a shell's case statement.
func paths(all []*command) string {
	var list []string
	for _, c := range all[1:] {
		list = append(list, single(c.path))
	}
	return strings.Join(list, "|")
}

func bashCompletion(all []*command) string {
	var b strings.Builder
	out := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	out("# Completes the command line of hocket in bash. Written by: hocket completion bash")
	out("_hocket_files() {")
	out("\tlocal IFS=$'\\n'")
	out("\tcompopt -o filenames 2>/dev/null")
	out("\tCOMPREPLY=($(compgen -f -- \"$1\"))")
	out("}")
	out("_hocket() {")
	out("\tlocal current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= i words=")
	out("\tCOMPREPLY=()")
	out("\tfor ((i = 1; i < COMP_CWORD; i++)); do")
	out("\t\tcase \"$command ${COMP_WORDS[i]}\" in %s) command+=\" ${COMP_WORDS[i]}\" ;; esac", paths(all))
	out("\tdone")
	out("\tcase \"$command $before\" in")
	for _, c := range all {
		for _, f := range c.flags {
			if f.placeholder == "" {
				continue
			}
			out("\t%s)", single(c.path+" --"+f.name))
			switch {
			case len(f.values) > 0:
				out("\t\tCOMPREPLY=($(compgen -W %s -- \"$current\"))", single(strings.Join(f.values, " ")))
			case f.file():
				out("\t\t_hocket_files \"$current\"")
			}
			out("\t\treturn ;;")
		}
	}
	out("\tesac")
	out("\tcase \"$command\" in")
	for _, c := range all {
		out("\t%s)", single(c.path))
		out("\t\twords=%s", single(strings.Join(c.names(), " ")))
		out("\t\t[[ $current != -* ]] || words=%s", single(strings.Join(c.options(), " ")))
		if c.takesFile() {
			out("\t\t[[ $current == -* ]] || { _hocket_files \"$current\"; return; }")
		}
		out("\t\t;;")
	}
	out("\tesac")
	out("\tCOMPREPLY=($(compgen -W \"$words\" -- \"$current\"))")
	out("}")
	out("complete -F _hocket hocket")
	return b.String()
}

func zshCompletion(all []*command) string {
	var b strings.Builder
	out := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	// A colon in a description would end the word for _describe.
	item := func(word, help string) string {
		return single(strings.ReplaceAll(word, ":", `\:`) + ":" + sentence(help))
	}
	out("#compdef hocket")
	out("# Completes the command line of hocket in zsh. Written by: hocket completion zsh")
	out("_hocket() {")
	out("\tlocal command= word")
	out("\tlocal -a commands options")
	out("\tfor word in \"${(@)words[2,CURRENT-1]}\"; do")
	out("\t\tcase \"$command $word\" in (%s) command+=\" $word\" ;; esac", paths(all))
	out("\tdone")
	out("\tcase \"$command ${words[CURRENT-1]}\" in")
	for _, c := range all {
		for _, f := range c.flags {
			switch {
			case f.placeholder == "":
			case len(f.values) > 0:
				out("\t(%s) compadd -- %s; return ;;", single(c.path+" --"+f.name), strings.Join(f.values, " "))
			case f.file():
				out("\t(%s) _files; return ;;", single(c.path+" --"+f.name))
			default:
				out("\t(%s) _message %s; return ;;", single(c.path+" --"+f.name), single(f.placeholder))
			}
		}
	}
	out("\tesac")
	out("\tcase \"$command\" in")
	for _, c := range all {
		out("\t(%s)", single(c.path))
		out("\t\tcommands=(")
		for _, w := range c.words() {
			out("\t\t\t%s", item(w.text, w.help))
		}
		out("\t\t)")
		out("\t\toptions=(")
		for _, f := range c.flags {
			out("\t\t\t%s", item("--"+f.name, f.help))
		}
		out("\t\t)")
		if c.takesFile() {
			out("\t\t[[ $PREFIX == -* ]] || _files")
		}
		out("\t\t;;")
	}
	out("\tesac")
	out("\t(( $#commands )) && _describe 'command' commands")
	out("\t_describe -o 'option' options")
	out("}")
	out("if [[ ${funcstack[1]} == _hocket ]]; then _hocket \"$@\"; else compdef _hocket hocket; fi")
	return b.String()
}

func fishCompletion(all []*command) string {
	var b strings.Builder
	out := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	var list []string
	for _, c := range all[1:] {
		list = append(list, single(c.path))
	}
	out("# Completes the command line of hocket in fish. Written by: hocket completion fish")
	out("function __hocket_is")
	out("\tset -l command ''")
	out("\tfor word in (commandline -opc)[2..-1]")
	out("\t\tcontains -- \"$command $word\" %s; and set command \"$command $word\"", strings.Join(list, " "))
	out("\tend")
	out("\ttest \"$command\" = \"$argv[1]\"")
	out("end")
	out("complete -c hocket -f")
	for _, c := range all {
		is := "-n " + single(`__hocket_is "`+c.path+`"`)
		for _, w := range c.words() {
			out("complete -c hocket %s -a %s -d %s", is, w.text, single(sentence(w.help)))
		}
		if c.takesFile() {
			out("complete -c hocket %s -F", is)
		}
		for _, f := range c.flags {
			more := ""
			if f.short != 0 {
				more += " -s " + string(f.short)
			}
			switch {
			case f.placeholder == "":
			case len(f.values) > 0:
				more += " -x -a " + single(strings.Join(f.values, " "))
			case f.file():
				more += " -r -F"
			default:
				more += " -x"
			}
			out("complete -c hocket %s -l %s%s -d %s", is, f.name, more, single(sentence(f.help)))
		}
	}
	return b.String()
}
