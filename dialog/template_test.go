package dialog

import (
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

const templateSlots = `
slots:
  city: {type: city, prompt: "Which city?", values: [New York, Boston, {value: Los Angeles, synonyms: [LA, L.A.]}, San Francisco, Köln, München, Denver, Austin]}
  size: {type: enum, values: [small, medium, {value: extra large, synonyms: [XL]}]}
  place: {type: city}
  date: {type: date}
  birth: {type: date, past: true}
  time: {type: time}
  morning: {type: time, min: "06:00", max: "12:00"}
  int: {type: integer}
  num: {type: number}
  yes: {type: boolean}
  digits: {type: digits}
  code: {type: code}
  email: {type: email}
  phone: {type: phone}
  money: {type: money}
  euro: {type: money, currency: EUR, prompt: "How much do you want to send?"}
  name: {type: name}
  text: {type: string}
flows:
  f:
    trigger: {intents: [go]}
    steps:
      - {step: a, type: collect, slot: city}
`

func templateAgent(t testing.TB, language string) *Agent {
	t.Helper()
	a, problems := Parse([]agent.File{{Name: "a.yaml", Data: []byte("settings: {language: " + language + "}" + templateSlots)}})
	if a == nil {
		t.Fatal(problems)
	}
	return a
}

// TestTemplates renders messages with values as they are spoken.
func TestTemplates(t *testing.T) {
	for language, cases := range map[string][]struct{ text, want string }{
		"en": {
			{"From {city}.", "From Boston."},
			{"On {date}.", "On Friday, December 12."},
			{"On {birth}.", "On Thursday, May 3, 1984."},
			{"Then {later}.", "Then Tuesday, December 1, 2026."},
			{"At {time} or {clock:time} or {half:time}.", "At 3:30 pm or noon or 12 am."},
			{"{money} and {euro} and {one:EUR} and {cents:USD}", "12.5 and 1000 euros and 1 euro and 0 dollars and 1 cent"},
			{"{digits}", "0 0 7"},
			{"{phone}", "4 1 5, 5 5 5, 0 1 2 3"},
			{"{code}", "B K, 9 8"},
			{"{email}", "j dot doe at example dot com"},
			{"{yes}", "yes"},
			{"{int} {int|ticket|tickets}, {one} {one|ticket|tickets}, {list|thing|things}", "3 tickets, 1 ticket, things"},
			{"{list}", "a, b and 3"},
			{"{map}", "from Boston, seats 2"},
			{"{int * 2 + 1}", "7"},
			{"{date:iso} {money:raw} {city:spell}", "2025-12-12 12.5 B o s, t o n"},
			{"{num}", "2.5"},
			{"{{city}} and { city }", "Boston and Boston"},
			{`\{city\} {city}.`, "{city} Boston."},
			{"To {city}. For {missing}! At {missing|none|some}.", "To Boston."},
			{"For {missing} in {city}. In {city}, {num} hours.", "In Boston, 2.5 hours."},
			{"For {missing}", ""},
			{"{soon}", "Friday, December 12"}, // a text in the form of a date
			{"no braces", "no braces"},
			{"{map.seats} {list.0}", "2 a"},
		},
		"de": {
			{"Am {date}.", "Am Freitag, 12. Dezember."},
			{"Um {time}.", "Um 15 Uhr 30."},
			{"{clock:time}", "12 Uhr"},
			{"{euro}", "1000 Euro"},
			{"{num}", "2,5"},
			{"{yes}", "ja"},
			{"{list}", "a, b und 3"},
			{"{email}", "j Punkt doe at example Punkt com"},
		},
	} {
		a := templateAgent(t, language)
		st := State{Slots: map[string]any{
			"city": "Boston", "date": "2025-12-12", "birth": "1984-05-03", "later": "2026-12-01", "time": "15:30", "clock": "12:00", "half": "00:00",
			"money": 12.5, "euro": int64(1000), "digits": "007", "phone": "4155550123", "code": "BK-98", "email": "j.doe@example.com", "yes": true,
			"int": int64(3), "one": int64(1), "cents": 0.01, "list": []any{"a", "b", int64(3)}, "map": map[string]any{"seats": int64(2), "from": "Boston"},
			"num": 2.5, "soon": "2025-12-12",
		}}
		tn := a.turn(&st, tuesday)
		for _, c := range cases {
			tpl, err := agent.CompileTemplate(c.text)
			if err != nil {
				t.Errorf("%s: %v", c.text, err)
				continue
			}
			got, err := tpl.Render(tn.scope())
			if want := strings.ReplaceAll(c.want, "12 am", midnight(a.def.Lang)); err != nil || got != want {
				t.Errorf("%s %q: got %q, %v; want %q", language, c.text, got, err, want)
			}
		}
	}
}

func midnight(l *value.Language) string {
	if l.Data.Render.Midnight != "" {
		return l.Data.Render.Midnight
	}
	return "0 Uhr"
}

// TestOwnPhrases replaces phrases of the engine.
func TestOwnPhrases(t *testing.T) {
	a, problems := Parse([]agent.File{{Name: "a.yaml", Data: []byte(`
messages:
  invalid: "That is no {label}!"
  not_understood: ["Pardon?", "What?"]
  greting: hm
slots: {n: {type: integer, prompt: "N?"}}
flows: {f: {trigger: {intents: [start it]}, steps: [{step: a, type: collect, slot: n}, {step: b, type: say, message: ok}]}}
`)}})
	if a == nil || len(problems) != 1 || problems[0].Suggestion != "greeting" {
		t.Fatal(problems)
	}
	var st State
	a.Start(&st, tuesday)
	a.Handle(&st, tuesday, Message{Text: "start it"})
	if out := a.Handle(&st, tuesday, Message{Text: "blue"}); joinLines(out.Say) != "That is no n!" {
		t.Errorf("said %q", joinLines(out.Say))
	}
}

// TestPlurals checks the forms of a word by CLDR's categories and by exact numbers, with
// the number in them.
func TestPlurals(t *testing.T) {
	for _, c := range []struct {
		lang, text string
		value      any
		want       string
	}{
		{"en", "{n} {n|seat|seats}", int64(1), "1 seat"},
		{"en", "{n} {n|seat|seats}", int64(2), "2 seats"},
		{"en", "{n} {n|seat|seats}", int64(0), "0 seats"},
		{"en", "{n} {n|degree|degrees}", int64(-1), "-1 degree"},
		{"en", "{n} {n|mile|miles}", 1.5, "1.5 miles"},
		{"en", "{n|=0:no seats|one:one seat|other:# seats}", int64(0), "no seats"},
		{"en", "{n|=0:no seats|one:one seat|other:# seats}", int64(1), "one seat"},
		{"en", "{n|=0:no seats|one:one seat|other:# seats}", int64(12), "12 seats"},
		{"en", "{n|one:# flight|few:# few|other:# flights}", []any{"a", "b"}, "2 flights"},
		{"de", "{n|=0:kein Platz|one:ein Platz|other:# Plätze}", int64(1), "ein Platz"},
		{"de", "{n|=0:kein Platz|one:ein Platz|other:# Plätze}", 2.5, "2,5 Plätze"},
		{"de", "{n|Platz|Plätze}", int64(0), "Plätze"},
	} {
		l, err := value.Load(c.lang)
		if err != nil {
			t.Fatal(err)
		}
		tpl, err := agent.CompileTemplate(c.text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := tpl.Render(agent.Scope{
			Get: func(string) any { return c.value }, Slot: func(string) *agent.Slot { return nil }, Voice: value.Voice{Lang: l, Today: value.DateOf(tuesday)},
		})
		if err != nil || got != c.want {
			t.Errorf("%s of %v: %q, %v, want %q", c.text, c.value, got, err, c.want)
		}
	}
}

// TestRelativeDates checks that a day near today is called by its relative name.
func TestRelativeDates(t *testing.T) {
	for _, lang := range value.Languages() {
		l, err := value.Load(lang)
		if err != nil {
			t.Fatal(err)
		}
		v := value.Voice{Lang: l, Today: value.DateOf(tuesday)}
		for date, want := range map[string]string{
			"2025-12-01": l.Data.Render.Near[0], "2025-12-02": l.Data.Render.Near[1], "2025-12-03": l.Data.Render.Near[2],
			"2025-12-12": v.Speak("2025-12-12", nil, "date"),
		} {
			if got := v.Speak(date, nil, "relative"); got != want {
				t.Errorf("%s: %s is %q, want %q", lang, date, got, want)
			}
		}
	}
}

// TestNeverTwiceInARow checks that a variant is not repeated at once, whatever is said in
// between, and that the same dialogue always says the same.
func TestNeverTwiceInARow(t *testing.T) {
	a, problems := Parse([]agent.File{{Name: "a.yaml", Data: []byte(`
slots: {n: {type: integer, prompt: ["One?", "Two?", "Three?"]}}
flows: {f: {trigger: {intents: [go]}, steps: [{step: a, type: collect, slot: n}]}}
settings: {handoff: false}
`)}})
	if a == nil {
		t.Fatal(problems)
	}
	talk := func() []string {
		var st State
		a.Start(&st, tuesday)
		a.Handle(&st, tuesday, Message{Text: "go"})
		var said []string
		for i := range 40 {
			text := []string{"purple", "help", "what do you mean", "hello", "purple", "cancel", "go"}[i%7]
			for _, l := range a.Handle(&st, tuesday, Message{Text: text}).Say {
				if l.Text == "One?" || l.Text == "Two?" || l.Text == "Three?" {
					said = append(said, l.Text)
				}
			}
		}
		return said
	}
	said := talk()
	for i := 1; i < len(said); i++ {
		if said[i] == said[i-1] {
			t.Fatalf("%q twice in a row: %q", said[i], said)
		}
	}
	if len(said) < 15 || strings.Join(said, "") != strings.Join(talk(), "") {
		t.Errorf("%q, and then something else", said)
	}
}
