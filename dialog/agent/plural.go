package agent

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hocketvoice/hocket/dialog/value"
)

// plural has the forms of a word by number: {count|seat|seats}, or by the plural categories
// of Unicode's CLDR and by exact numbers: {count|=0:no seats|one:one seat|other:# seats}.
type plural struct {
	exact map[float64]string
	forms map[string]string // by category; always has "other"
}

// pluralCategories are the categories of CLDR. Each language uses some of them.
var pluralCategories = []string{"zero", "one", "two", "few", "many", "other"}

// compilePlural parses the forms.
func compilePlural(text string) (*plural, error) {
	parts := strings.Split(text, "|")
	p := &plural{exact: make(map[float64]string), forms: make(map[string]string)}
	for i, part := range parts {
		head, form, named := strings.Cut(part, ":")
		head = strings.TrimSpace(head)
		switch {
		case named && slices.Contains(pluralCategories, head):
			if _, twice := p.forms[head]; twice {
				return nil, fmt.Errorf("the form %q is given twice", head)
			}
			p.forms[head] = form
		case named && strings.HasPrefix(head, "="):
			n, err := strconv.ParseFloat(head[1:], 64)
			if err != nil {
				return nil, fmt.Errorf("%q: expected a number after the equals sign", head)
			}
			p.exact[n] = form
		case len(parts) == 2 && i == 0: // one and other
			p.forms["one"], p.forms["other"] = parts[0], parts[1]
			return p, nil
		default:
			return nil, errors.New("expected {name|one|many}, or {name|=0:..|one:..|other:..}")
		}
	}
	if _, ok := p.forms["other"]; !ok {
		return nil, errors.New("expected a form other: for all other numbers")
	}
	return p, nil
}

// of returns the form for a value, with # replaced by the number.
func (p *plural) of(val any, v value.Voice) string {
	var n float64
	switch x := val.(type) {
	case []any:
		n = float64(len(x))
	case map[string]any:
		n = float64(len(x))
	default:
		f, ok := value.ToNumber(val)
		if !ok {
			return strings.ReplaceAll(p.forms["other"], "#", v.Speak(val, nil, ""))
		}
		n = f
	}
	form, ok := p.exact[n]
	if !ok {
		if form, ok = p.forms[pluralCategory(v.Lang.Tag, n)]; !ok {
			form = p.forms["other"]
		}
	}
	return strings.ReplaceAll(form, "#", v.Speak(value.Number(n), nil, "number"))
}

// pluralCategory returns the category of a number by the rules of CLDR (supplemental,
// plurals.xml): for English and German, "one" is 1 without a fraction.
func pluralCategory(tag string, n float64) string {
	switch tag {
	case "en", "de":
		if math.Abs(n) == 1 {
			return "one"
		}
	}
	return "other"
}
