package sgd

import "testing"

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
