package agent

import (
	"reflect"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/dialog/value"
)

func TestExpressions(t *testing.T) {
	values := map[string]any{
		"amount": int64(1200), "rate": 2.5, "status": "approved", "ok": true, "no": false, "text": "12", "empty": "",
		"list": []any{"a", int64(2), map[string]any{"x": int64(7)}}, "map": map[string]any{"a": map[string]any{"b": "deep"}}, "date": "2025-12-12",
	}
	lookup := func(n string) any { return values[n] }
	for _, c := range []struct {
		expr string
		want any // "!" precedes a part of an error
	}{
		{"1 + 2 * 3", int64(7)},
		{"(1 + 2) * 3", int64(9)},
		{"7 / 2", 3.5},
		{"7 % 4", int64(3)},
		{"-amount + 200", int64(-1000)},
		{"amount * rate", int64(3000)},
		{"amount > 1000", true},
		{"amount >= 1200 and amount <= 1200", true},
		{"amount < 1000 or status == 'approved'", true},
		{"amount > 1000 AND status == \"approved\" OR no", true},
		{"not ok", false},
		{"not ok or ok", true},
		{"!(amount == 1200)", false},
		{"status != 'approved'", false},
		{"status = 'approved'", true},
		{"missing", nil},
		{"missing == none", true},
		{"missing > 3", false},
		{"missing < 3", false},
		{"text == 12", true},
		{"text > 9", true},
		{"date > '2025-12-01'", true},
		{"status in ['approved', 'open']", true},
		{"status not in ['open']", true},
		{"2 in list", true},
		{"'pro' in status", true},
		{"'a' in map", true},
		{"map.a.b", "deep"},
		{"map.a.c", nil},
		{"list.0", "a"},
		{"list.2.x", int64(7)},
		{"list.9", nil},
		{"status.length", nil},
		{"len(list) == 3", true},
		{"len(status)", int64(8)},
		{"'a' + 'b'", "ab"},
		{"true and false", false},
		{"null == none", true},
		{"[1, 2] == [1, 2]", true},
		{"0.1 + 0.2 > 0.3", true},
		{"1 <> 2", true},
		{"+3", int64(3)},
		{"1 / 0", "!division by zero"},
		{"status + 1", "!needs numbers, got text"},
		{"-status", "!text is not a number"},
		{"map + 1", "!got a map"},
		{"list * 2", "!got a list"},
		{"missing + 1", "!got nothing"},
		{"", "!expected a value"},
		{"1 +", "!found the end: expected a value"},
		{"(1", `!expected ")"`},
		{"[1, 2", `!expected "," or "]"`},
		{"1 2", "!expected an operator or the end"},
		{"'open", "!the quote is not closed"},
		{"a @ b", "!unexpected character"},
		{"1 < 2 < 3", "!comparisons do not chain"},
		{"exec('x')", `!unknown function "exec"`},
		{"a not b", `!expected "in"`},
		{"len(1", `!expected ")"`},
		{strings.Repeat("(", 100) + "1" + strings.Repeat(")", 100), "!nested too deep"},
		{strings.Repeat("not ", 100) + "1", "!nested too deep"},
		{strings.Repeat("-", 100) + "1", "!nested too deep"},
		{strings.Repeat("1+", 300) + "1", "!too many parts"},
		{strings.Repeat("x", 3000), "!expected at most"},
		{"1.2.3", "!expected a number"},
	} {
		var got any
		e, err := compileExpr(c.expr)
		if err == nil {
			got, err = e.Eval(lookup)
		}
		if want, ok := c.want.(string); ok && strings.HasPrefix(want, "!") {
			if err == nil || !strings.Contains(err.Error(), want[1:]) {
				t.Errorf("%s: error %v, want %q", value.CutText(c.expr, 40), err, want[1:])
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %v (%T), %v; want %v (%T)", c.expr, got, got, err, c.want, c.want)
		}
	}
}

func TestExpressionNames(t *testing.T) {
	e, err := compileExpr("a > b.c and len(a) < 3 or not d")
	if err != nil || strings.Join(e.names, " ") != "a b d" {
		t.Errorf("names %v, %v", e.names, err)
	}
}

func TestCases(t *testing.T) {
	for _, c := range []struct {
		value   any
		pattern string
		want    bool
	}{
		{int64(1500), ">1000", true},
		{int64(500), ">1000", false},
		{int64(1000), ">=1000", true},
		{1.5, "< 2", true},
		{"approved", "approved", true},
		{"Approved", "approved", true},
		{"x", "!=y", true},
		{"y", "==y", true},
		{true, "true", true},
		{true, "yes", true},
		{false, "no", true},
		{false, "true", false},
		{"yes", "true", true},
		{"no", "false", true},
		{nil, ">1", false},
		{nil, "none", true},
		{nil, "x", false},
		{int64(3), "3", true},
		{2.5, "2.5", true},
		{"3", "3", true},
	} {
		if got := CaseMatches(c.value, c.pattern); got != c.want {
			t.Errorf("%v fits %q: %v, want %v", c.value, c.pattern, got, c.want)
		}
	}
}

// FuzzExpression checks that parsing and evaluating any text never panics.
func FuzzExpression(f *testing.F) {
	for _, s := range []string{"a + b", "not (a == 'x') and len(b) > 2", "[1, [2]] in c", "a.b.0.c", "((((", "1e9", "-'a'", "a..b", "\xff"} {
		f.Add(s)
	}
	values := map[string]any{"a": int64(1), "b": "text", "c": []any{1.5, nil}}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := compileExpr(text)
		if err != nil {
			return
		}
		if _, err := e.Eval(func(n string) any { return values[n] }); err != nil && err.Error() == "" {
			t.Error("an error without words")
		}
	})
}
