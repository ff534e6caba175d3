package sgd

import "testing"

// TestSGDMeasure holds the measure against dialogues that are written here: what it counts
// does not depend on the data, which may be absent.
func TestSGDMeasure(t *testing.T) {
	s := &sgdSchema{
		ServiceName: "Tables_1",
		Slots: []sgdSlot{
			{Name: "city", Description: "city of the restaurant", IsCategorical: true, PossibleValues: []string{"Boston", "Denver"}},
			{Name: "date", Description: "day of the reservation"},
		},
		Intents: []sgdIntent{{
			Name: "ReserveTable", Description: "reserve a table in a restaurant", IsTransactional: true, RequiredSlots: []string{"city", "date"},
		}},
	}
	a, err := sgdAgent(s, false)
	if err != nil {
		t.Fatal(err)
	}
	user := func(text, intent string, values map[string][]string) sgdTurn {
		return sgdTurn{Speaker: "USER", Utterance: text, Frames: []sgdFrame{{State: &sgdState{ActiveIntent: intent, SlotValues: values}}}}
	}
	system := func(f sgdFrame) sgdTurn { return sgdTurn{Speaker: "SYSTEM", Frames: []sgdFrame{f}} }
	boston := map[string][]string{"city": {"Boston"}}
	both := map[string][]string{"city": {"Boston"}, "date": {"2019-03-08"}}
	call := func(city string) sgdTurn {
		return system(sgdFrame{ServiceCall: &sgdCall{Method: "ReserveTable", Parameters: map[string]string{"city": city, "date": "2019-03-08"}}})
	}
	for _, c := range []struct {
		name  string
		turns []sgdTurn
		want  sgdHarm
		done  int
	}{
		{name: "as it was recorded", done: 1, turns: []sgdTurn{
			user("reserve a table in Boston", "ReserveTable", boston), system(sgdFrame{}),
			user("on 2019-03-08", "ReserveTable", both), system(sgdFrame{}), user("yes", "ReserveTable", both), call("Boston"),
		}},
		{name: "a flow that nobody asked for", want: sgdHarm{turns: 1, flows: 1, values: 1}, done: 1, turns: []sgdTurn{
			user("reserve a table in Boston", "NONE", nil),
		}},
		{name: "a value that is not the user's", want: sgdHarm{turns: 1, values: 1}, done: 1, turns: []sgdTurn{
			user("reserve a table in Boston", "ReserveTable", map[string][]string{"city": {"Denver"}}),
		}},
		{name: "a call with other values", want: sgdHarm{turns: 1, calls: 1, transactions: 1}, turns: []sgdTurn{
			user("reserve a table in Boston", "ReserveTable", boston), system(sgdFrame{}),
			user("on 2019-03-08", "ReserveTable", both), system(sgdFrame{}), user("yes", "ReserveTable", both), call("Denver"),
		}},
	} {
		got := sgdMeasure(a, s, sgdDialogue{ID: c.name, Services: []string{s.ServiceName}, Turns: c.turns}, false)
		if got.harm != c.want || got.success != c.done {
			t.Errorf("%s: harm %+v and %d tasks done, expected %+v and %d", c.name, got.harm, got.success, c.want, c.done)
		}
	}
}
