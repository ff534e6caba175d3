package agent

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/hocketvoice/hocket/dialog/value"
)

// A template is a message with values in braces:
//
//	{origin}                    the value as it is spoken
//	{departure_date:iso}        in a format: raw, number, spell, date, time, money, list,
//	                            relative ("tomorrow"), or a currency (EUR)
//	{count} {count|seat|seats}  the first word for one, the second for other numbers
//	{count|=0:no seats|one:a seat|other:# seats}  by number or category, # is the number
//	{total * 2}                 an expression
//	{{origin}}                  the same as {origin}
//	\{                          a brace

// Template is a compiled message. It is immutable.
type Template struct {
	text  string
	parts []templatePart
	Names []string
}

type templatePart struct {
	text   string // literal text if value is nil
	value  *expr
	format string
	plural *plural // forms by number, or nil
}

var templateFormats = []string{"raw", "iso", "number", "spell", "date", "time", "money", "list", "relative"}

// CompileTemplate parses a message.
func CompileTemplate(text string) (*Template, error) {
	t := &Template{text: text}
	var lit strings.Builder
	flush := func() {
		if lit.Len() > 0 {
			t.parts = append(t.parts, templatePart{text: lit.String()})
			lit.Reset()
		}
	}
	for i := 0; i < len(text); {
		switch {
		case text[i] == '\\' && i+1 < len(text) && (text[i+1] == '{' || text[i+1] == '}'):
			lit.WriteByte(text[i+1])
			i += 2
		case text[i] == '{':
			open, end := 1, "}"
			if strings.HasPrefix(text[i:], "{{") {
				open, end = 2, "}}"
			}
			n := strings.Index(text[i+open:], end)
			if n < 0 {
				return nil, fmt.Errorf("%q: the brace is not closed; write \\{ for a brace", value.CutText(text[i:], 40))
			}
			part, err := compilePlaceholder(strings.TrimSpace(text[i+open : i+open+n]))
			if err != nil {
				return nil, err
			}
			flush()
			t.parts = append(t.parts, part)
			for _, name := range part.value.names {
				if !slices.Contains(t.Names, name) {
					t.Names = append(t.Names, name)
				}
			}
			i += open + n + len(end)
		default:
			lit.WriteByte(text[i])
			i++
		}
	}
	flush()
	return t, nil
}

func compilePlaceholder(content string) (templatePart, error) {
	if content == "" {
		return templatePart{}, errors.New("the braces are empty: expected the name of a slot")
	}
	var part templatePart
	if head, rest, ok := strings.Cut(content, "|"); ok {
		forms, err := compilePlural(rest)
		if err != nil {
			return part, fmt.Errorf("{%s}: %w", content, err)
		}
		part.plural = forms
		content = strings.TrimSpace(head)
	}
	if head, format, ok := strings.Cut(content, ":"); ok && !strings.ContainsAny(format, `'"`) {
		part.format = strings.TrimSpace(format)
		if !slices.Contains(templateFormats, part.format) && !(len(part.format) == 3 && value.UpperLetters(part.format)) {
			return part, fmt.Errorf("{%s}: unknown format %q: expected one of %s, or a currency such as EUR", content, part.format, strings.Join(templateFormats, ", "))
		}
		content = strings.TrimSpace(head)
	}
	e, err := compileExpr(content)
	if err != nil {
		return part, fmt.Errorf("{%s}: %w", content, err)
	}
	part.value = e
	return part, nil
}

// constant returns the text of a template without placeholders and reports whether it is
// one.
func (t *Template) constant() (string, bool) {
	switch {
	case len(t.parts) == 0:
		return "", true
	case len(t.parts) == 1 && t.parts[0].value == nil:
		return t.parts[0].text, true
	}
	return "", false
}

// Variants are templates of which one is used at a time.
type Variants []*Template

// Pick returns the variant for a counter, so that the choice is deterministic. It returns
// nil if there are none.
func (v Variants) Pick(turn int) *Template {
	if len(v) == 0 {
		return nil
	}
	if turn < 0 {
		turn = 0
	}
	return v[turn%len(v)]
}

// Key returns a key for the variants in a state, derived from the text of the first one.
func (v Variants) Key() string {
	return strconv.FormatUint(uint64(value.Hash(v[0].text, 2166136261)), 36)
}

// names returns all slots and variables that the variants read.
func (v Variants) names() []string {
	var out []string
	for _, t := range v {
		for _, n := range t.Names {
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

// Scope provides the values for templates and expressions.
type Scope struct {
	Get  func(name string) any
	Slot func(name string) *Slot // nil for variables
	value.Voice
}

// Render renders a template. A sentence with a value that is not set is left out.
func (t *Template) Render(s Scope) (string, error) {
	text, _, err := t.Fill(s)
	return text, err
}

// Lacks reports whether a value of the template is not set.
func (t *Template) Lacks(s Scope) bool {
	return slices.ContainsFunc(t.parts, func(p templatePart) bool {
		if p.value == nil {
			return false
		}
		v, err := p.value.Eval(s.Get)
		return err == nil && v == nil
	})
}

// Fill renders a template like Render. It also returns the number of bytes after the last
// value, or -1 if there is no value.
func (t *Template) Fill(s Scope) (text string, behind int, err error) {
	if text, ok := t.constant(); ok {
		return text, -1, nil
	}
	f := filling{end: -1, before: -1}
	for _, p := range t.parts {
		if p.value == nil {
			f.literal(p.text)
			continue
		}
		v, err := p.value.Eval(s.Get)
		if err != nil {
			return "", -1, err
		}
		if v == nil {
			f.hole = true
			continue
		}
		if p.plural != nil {
			f.text = append(f.text, p.plural.of(v, s.Voice)...)
			f.end = len(f.text)
			continue
		}
		var of *value.Spec
		if n := p.value.root; n.op == "name" && len(n.path) == 1 {
			of = s.Slot(n.path[0]).Form()
		}
		if spoken := s.Speak(v, of, p.format); spoken != "" {
			f.text = append(f.text, spoken...)
			f.end = len(f.text)
		}
		if len(f.text) > maxExprValue {
			return "", -1, errors.New("the message is too long")
		}
	}
	f.endSentence()
	text, behind = strings.TrimRightFunc(string(f.text), unicode.IsSpace), -1
	if f.end >= 0 {
		behind = max(0, len(text)-f.end)
	}
	return strings.TrimSpace(text), behind, nil
}

// filling is a template that is being filled.
type filling struct {
	text   []byte
	start  int  // where the current sentence begins
	end    int  // the end of the last value, or -1
	before int  // end at the beginning of the sentence
	hole   bool // whether a value of the sentence is not set
}

// literal appends text of the template. A sentence ends at a mark with a space behind it.
func (f *filling) literal(text string) {
	for i := 0; i < len(text); i++ {
		f.text = append(f.text, text[i])
		if i+1 < len(text) && strings.IndexByte(".!?", text[i]) >= 0 && (text[i+1] == ' ' || text[i+1] == '\n') {
			f.endSentence()
		}
	}
}

// endSentence removes the sentence if it has a hole.
func (f *filling) endSentence() {
	if f.hole {
		f.text, f.end = f.text[:f.start], f.before
	}
	f.start, f.before, f.hole = len(f.text), f.end, false
}
