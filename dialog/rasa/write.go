package rasa

import (
	"bytes"
	"encoding/json"
	"strings"
)

// quote writes a text as a YAML scalar in quotes. JSON's quotes are YAML's too.
func quote(text string) string { return quoteAny(text) }

// quoteList writes texts as a YAML list.
func quoteList(texts []string) string {
	list := make([]string, len(texts))
	for i, text := range texts {
		list[i] = quote(text)
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// quoteAny writes a value of a YAML file.
func quoteAny(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "null" // infinity and the like
	}
	return strings.TrimSpace(b.String())
}

// mapping writes keys and values, which are written already, on one line.
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
