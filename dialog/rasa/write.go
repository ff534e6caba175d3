package rasa

import (
	"bytes"
	"encoding/json"
	"strings"
)

// quote formats a text as a quoted YAML scalar. The quotes of JSON are valid in YAML.
func quote(text string) string { return quoteAny(text) }

// quoteList formats texts as a YAML list.
func quoteList(texts []string) string {
	list := make([]string, len(texts))
	for i, text := range texts {
		list[i] = quote(text)
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// quoteAny formats a value as YAML.
func quoteAny(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "null" // infinity and NaN
	}
	return strings.TrimSpace(b.String())
}

// mapping formats alternating keys and values, which are YAML already, as a YAML mapping on
// one line.
func mapping(fields []string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := 0; i+1 < len(fields); i += 2 {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(fields[i] + ": " + fields[i+1])
	}
	b.WriteByte('}')
	return b.String()
}
