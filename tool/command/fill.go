package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hocketvoice/hocket/internal/toolset"
)

// fill inserts a call's arguments into the program's arguments and standard input.
// It refuses values that the program could misinterpret.
func (p *Program) fill(arguments string) (args []string, stdin string, err error) {
	values, err := toolset.Arguments(arguments)
	if err != nil {
		return nil, "", err
	}
	free := false // after "--" nothing is an option
	for _, a := range p.Args {
		text, there := fillText(a, values)
		if !there {
			continue
		}
		if strings.ContainsRune(text, 0) {
			return nil, "", fmt.Errorf("the value of %s must not contain a zero byte", a)
		}
		if !free && strings.HasPrefix(a, "{") && strings.HasPrefix(text, "-") && !number(text) {
			return nil, "", fmt.Errorf("the value of %s must not begin with -: the program would take it for an option", a)
		}
		free = free || a == "--"
		args = append(args, text)
	}
	switch p.Stdin {
	case "none":
	case "json":
		line, err := json.Marshal(values)
		if err != nil {
			return nil, "", errors.New("the arguments are not a JSON object")
		}
		stdin = string(line) + "\n"
	default:
		stdin, _ = fillText(p.Stdin, values)
	}
	return args, stdin, nil
}

// fillText replaces {name}. there is false if the text has names and none has a
// value.
func fillText(text string, values map[string]any) (filled string, there bool) {
	names, given := 0, 0
	filled = place.ReplaceAllStringFunc(text, func(m string) string {
		v := values[m[1:len(m)-1]]
		names++
		if v != nil {
			given++
		}
		return plain(v)
	})
	return filled, names == 0 || given > 0
}

// plain returns a value as it appears in a text.
func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	default:
		b, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return string(b)
	}
}

// number reports whether a text is a JSON number. Negative numbers are not options.
func number(text string) bool {
	var n json.Number
	return json.Unmarshal([]byte(text), &n) == nil && n != ""
}
