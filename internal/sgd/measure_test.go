package sgd

import (
	"testing"

	"github.com/hocketvoice/hocket/dialog"
)

// TestSGDMeasure checks the measure on dialogues written here: what it counts must not
// depend on the dataset, which may be absent.
func TestSGDMeasure(t *testing.T) {
	s := &schema{
		ServiceName: "Tables_1",
		Slots: []slot{
			{Name: "city", Description: "city of the restaurant", IsCategorical: true, PossibleValues: []string{"Boston", "Denver"}},
			{Name: "date", Description: "day of the reservation"},
		},
		Intents: []intent{{
			Name: "ReserveTable", Description: "reserve a table in a restaurant", IsTransactional: true, RequiredSlots: []string{"city", "date"},
		}},
	}
	a, err := newService(s, false)
	if err != nil {
		t.Fatal(err)
	}
	user := func(text, intent string, values map[string][]string) turn {
		return turn{Speaker: "USER", Utterance: text, Frames: []frame{{State: &state{ActiveIntent: intent, SlotValues: values}}}}
	}
	system := func(f frame) turn { return turn{Speaker: "SYSTEM", Frames: []frame{f}} }
	boston := map[string][]string{"city": {"Boston"}}
	both := map[string][]string{"city": {"Boston"}, "date": {"2019-03-08"}}
	call := func(city string) turn {
		return system(frame{ServiceCall: &call{Method: "ReserveTable", Parameters: map[string]string{"city": city, "date": "2019-03-08"}}})
	}
	for _, c := range []struct {
		name  string
		turns []turn
		want  harm
		done  int
	}{
		{name: "as it was recorded", done: 1, turns: []turn{
			user("reserve a table in Boston", "ReserveTable", boston), system(frame{}),
			user("on 2019-03-08", "ReserveTable", both), system(frame{}), user("yes", "ReserveTable", both), call("Boston"),
		}},
		{name: "a flow that nobody asked for", want: harm{turns: 1, flows: 1, values: 1}, done: 1, turns: []turn{
			user("reserve a table in Boston", "NONE", nil),
		}},
		{name: "a value that is not the user's", want: harm{turns: 1, values: 1}, done: 1, turns: []turn{
			user("reserve a table in Boston", "ReserveTable", map[string][]string{"city": {"Denver"}}),
		}},
		{name: "a call with other values", want: harm{turns: 1, calls: 1, transactions: 1}, turns: []turn{
			user("reserve a table in Boston", "ReserveTable", boston), system(frame{}),
			user("on 2019-03-08", "ReserveTable", both), system(frame{}), user("yes", "ReserveTable", both), call("Denver"),
		}},
	} {
		got := measure(a, s, dialogue{ID: c.name, Services: []string{s.ServiceName}, Turns: c.turns}, false)
		if got.harm != c.want || got.success != c.done {
			t.Errorf("%s: harm %+v and %d tasks done, expected %+v and %d", c.name, got.harm, got.success, c.want, c.done)
		}
	}
}

// TestSGDNeverGiven checks that a value counts as given if the user said it, and that a call
// which needed no yes is told from one that did.
func TestSGDNeverGiven(t *testing.T) {
	s := &schema{ServiceName: "Tables_1", Intents: []intent{
		{Name: "FindTable", RequiredSlots: []string{"city"}, OptionalSlots: map[string]string{"stars": "3"}},
		{Name: "ReserveTable", IsTransactional: true, RequiredSlots: []string{"city"}},
	}}
	for _, c := range []struct {
		name   string
		call   string
		inputs map[string]any
		want   harm
	}{
		{"said", "FindTable", map[string]any{"city": "Boston", "stars": "3"}, harm{}},
		{"in the annotation", "FindTable", map[string]any{"city": "Denver"}, harm{}},
		{"guessed", "FindTable", map[string]any{"city": "Chicago"}, harm{given: 1, unheard: 1}},
		{"guessed and read back", "ReserveTable", map[string]any{"city": "Chicago"}, harm{given: 1}},
	} {
		w := newWatch(s, nil)
		r := &run{st: dialog.State{Slots: map[string]any{}}, canon: make(canon)}
		w.begin(r)
		r.calls = append(r.calls, &dialog.ActionCall{Name: c.call, Inputs: c.inputs})
		w.end(r, "a table in Boston", &state{SlotValues: map[string][]string{"city": {"Denver"}}})
		if w.harm.given != c.want.given || w.harm.unheard != c.want.unheard {
			t.Errorf("%s: %+v, expected %+v", c.name, w.harm, c.want)
		}
	}
}
