package rasa

import (
	"regexp"
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
)

// conditionPart is a text in quotes, or what becomes something else.
var conditionPart = regexp.MustCompile(`"[^"]*"|'[^']*'|(?i:\bis\s+not\s+defined\b|\bis\s+undefined\b|\bis\s+defined\b|\bis\s+not\b|\bis\b)|\bslots\.|\bcontext\.|[!=<>]=|=`)

// condition turns a condition of Rasa (pypred) into an expression, and gives the names that
// it reads. It is not ok if the expressions of an agent cannot say it.
func condition(text string) (expr string, names []string, ok bool) {
	ok = true
	expr = conditionPart.ReplaceAllStringFunc(text, func(part string) string {
		switch words := strings.ToLower(strings.Join(strings.Fields(part), " ")); words {
		case "is not defined", "is undefined":
			return "== null"
		case "is defined":
			return "!= null"
		case "is not":
			return "!="
		case "is", "=":
			return "=="
		case "slots.":
			return ""
		case "context.":
			ok = false
			return part
		default:
			return part
		}
	})
	t, err := agent.CompileTemplate("{" + expr + "}")
	if err != nil || !ok || strings.ContainsAny(expr, "{}|:") {
		return "", nil, false
	}
	for _, name := range t.Names {
		if !agent.Identifier(name) {
			return "", nil, false
		}
	}
	return expr, t.Names, true
}
