package hosted

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hocketvoice/hocket/port"
)

// maxTerm is the length of a term in bytes.
const maxTerm = 100

// Terms returns the likely phrases as plain text, each once, at most the given number: the
// vocabulary that services take as key terms. Phrases with the syntax of JSGF are left out,
// since services have no grammars.
func Terms(e port.Expectation, most int) []string {
	var terms []string
	for _, p := range e.Phrases {
		p = strings.Join(strings.Fields(p), " ")
		if p == "" || len(p) > maxTerm || !utf8.ValidString(p) || strings.ContainsFunc(p, syntax) || slices.Contains(terms, p) {
			continue
		}
		if terms = append(terms, p); len(terms) == most {
			break
		}
	}
	return terms
}

// syntax reports whether a character has a meaning in JSGF or none in a term.
func syntax(r rune) bool { return r < ' ' || strings.ContainsRune(`<>()[]{}|*+/=;$\"`, r) }

// Split splits a text into parts of at most the given number of characters, after spaces if
// it has any. Their concatenation is the text.
func Split(text string, most int) (parts []string) {
	for text != "" {
		end, space, n := len(text), 0, 0
		for i, r := range text {
			if n == most {
				end = i
				break
			}
			if n++; r == ' ' {
				space = i + 1
			}
		}
		if end < len(text) && space > 0 {
			end = space
		}
		parts, text = append(parts, text[:end]), text[end:]
	}
	return parts
}
