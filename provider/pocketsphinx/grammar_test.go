package pocketsphinx

import (
	"slices"
	"strings"
	"testing"
)

// forms returns the forms accepted by a graph, up to a number of words.
func forms(g *graph, limit int) []string {
	found := map[string]bool{}
	type item struct {
		state int
		words string
		n     int
		steps int
	}
	queue := []item{{state: g.start}}
	for len(queue) > 0 {
		it := queue[0]
		queue = queue[1:]
		if it.state == g.final {
			found[strings.TrimSpace(it.words)] = true
		}
		if it.steps > 40 {
			continue
		}
		for _, a := range g.arcs {
			switch {
			case a.from != it.state:
			case a.word < 0:
				queue = append(queue, item{a.to, it.words, it.n, it.steps + 1})
			case it.n < limit:
				queue = append(queue, item{a.to, it.words + " " + g.words[a.word], it.n + 1, it.steps + 1})
			}
		}
	}
	var out []string
	for f := range found {
		out = append(out, f)
	}
	slices.Sort(out)
	return out
}

func allKnown(string) bool { return true }

func TestCompile(t *testing.T) {
	for _, tc := range []struct {
		name    string
		phrases []string
		want    string
	}{
		{"plain words", []string{"yes", "no"}, "no|yes"},
		{"a plain phrase, case and punctuation ignored", []string{"New York, please!"}, "new york please"},
		{"alternatives", []string{"a | b c"}, "a|b c"},
		{"groups and options", []string{"[please] (stop | go) now"}, "go now|please go now|please stop now|stop now"},
		{"star and plus", []string{"a* b", "c+"}, "a a b|a b|b|c|c c|c c c"},
		{"a loop does not leak into its neighbours", []string{"(a+ | b) c"}, "a a c|a c|b c"},
		{"weights and tags", []string{"/0.8/ small {S} | /0.2/ large {L}"}, "large|small"},
		{"quotes and apostrophes", []string{`"I don’t know"`}, "i don't know"},
		{"dotted words", []string{"a.m."}, "a.m"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g, dropped := compile(tc.phrases, allKnown)
			if len(dropped) > 0 || g == nil {
				t.Fatalf("dropped %v", dropped)
			}
			if got := strings.Join(forms(g, 3), "|"); got != tc.want {
				t.Errorf("%q accepts %q, want %q", tc.phrases, got, tc.want)
			}
		})
	}
}

func TestCompileDropsWhatCannotBeHeard(t *testing.T) {
	known := func(w string) bool { return !strings.HasPrefix(w, "x") }
	for _, tc := range []struct {
		phrases []string
		want    string
		dropped string // a text in the report
	}{
		{[]string{"yes", "xylo"}, "yes", "xylo"},
		{[]string{"a | xa b | c"}, "a|c", "xa"},
		{[]string{"[xa] b"}, "b", "xa"},
		{[]string{"xa* b"}, "b", "xa"},
		{[]string{"fly to (xa | xb)", "no"}, "no", "xa, xb"},
		{[]string{"(a", "b"}, "b", "not closed"},
		{[]string{"a <city>", "b"}, "b", "rule reference"},
		{[]string{"a)", "b"}, "b", "unexpected"},
		{[]string{"* a", "b"}, "b", "has nothing to repeat"},
		{[]string{"[a]", "b"}, "a|b", ""},
		{[]string{"...", "", "b"}, "b", "no word"},
		{[]string{strings.Repeat("(", 100) + "a" + strings.Repeat(")", 100), "b"}, "b", "deeper"},
		{[]string{strings.Repeat("a ", 4000), "b"}, "b", "bytes"},
	} {
		g, dropped := compile(tc.phrases, known)
		if g == nil {
			t.Fatalf("%q: nothing is left: %v", tc.phrases, dropped)
		}
		got := slices.DeleteFunc(forms(g, 3), func(f string) bool { return f == "" })
		if strings.Join(got, "|") != tc.want {
			t.Errorf("%q accepts %q, want %q", tc.phrases, got, tc.want)
		}
		report := ""
		for _, d := range dropped {
			report += d.String()
		}
		if !strings.Contains(report, tc.dropped) {
			t.Errorf("%q: the report %q does not mention %q", tc.phrases, report, tc.dropped)
		}
	}
	if g, dropped := compile([]string{"xa"}, known); g != nil || len(dropped) != 1 {
		t.Errorf("nothing speakable: graph %v, dropped %v", g, dropped)
	}
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{"a", "[a] (b | c)* d+", "/1.0/ a {x}", "((", "a|", "<x>", "\"", "a.b.c", "’", "[[[a]]]", "a**", "|||", "{", "/"} {
		f.Add(s, "x")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		g, dropped := compile([]string{a, b}, func(w string) bool { return len(w)%3 != 0 })
		if g == nil {
			if len(dropped) == 0 {
				t.Fatalf("%q, %q: no graph and no reason", a, b)
			}
			return
		}
		for _, c := range g.arcs {
			if c.from < 0 || c.from >= g.states || c.to < 0 || c.to >= g.states || c.word < -1 || c.word >= len(g.words) || c.prob <= 0 || c.prob > 1 {
				t.Fatalf("%q, %q: arc %+v outside the graph", a, b, c)
			}
		}
		for _, w := range g.words {
			if w == "" || strings.ContainsAny(w, " \t\n()[]{}|<>*+/\"") {
				t.Fatalf("%q, %q: word %q", a, b, w)
			}
		}
	})
}
