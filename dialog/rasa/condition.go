package rasa

import (
	"regexp"
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
)

// conditionPart matches quoted text, which stays, and the parts of a condition that are
// replaced.
var conditionPart = regexp.MustCompile(`"[^"]*"|'[^']*'|(?i:\bis\s+not\s+defined\b|\bis\s+undefined\b|\bis\s+defined\b|\bis\s+not\b|\bis\b)|\bslots\.|\bcontext\.|[!=<>]=|=`)

// condition converts a condition of Rasa (pypred) to an expression, and returns the names
// that the expression reads. It reports false if an agent's expression cannot express the
// condition.
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
