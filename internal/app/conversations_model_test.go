package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/session"
)

// A language model's answer to the flows is untrusted input. The models in this file give harmful
// answers, which the guards must refuse, and the agent must ask instead.

// scripted is a conversation, and the model's answers to some of its lines.
type scripted struct {
	name    string // the symptom
	agent   string
	say     []string
	answers map[int]string // a JSON list of commands by line, from 0; of the others the model fails
	want    []wantedCall
	never   []string
	flows   []string // that must not start, "FLOW at N" in line N (from 0) alone; "two at N": more than one
	asks    int      // the line, from 0, whose answer must be a question; -1: none
}

const (
	annasAccount = "DE89 3704 0044 0532 0130 00"
	bookRequest  = "book me a flight from boston to denver tomorrow"
)

var (
	toAnna    = []string{"send 250 euros to anna schmidt", annasAccount}
	maryAtTen = []string{"i'd like an appointment with doctor chen on friday at ten", "mary miller", "3 may 1980"}
)

func after(lines []string, more ...string) []string { return slices.Concat(lines, more) }

var scriptedCases = []scripted{
	{name: "a condition is taken for a yes", agent: "flights", say: []string{bookRequest, "ok but only if it is refundable"}, answers: map[int]string{1: `[{"type":"confirm"}]`}, asks: 1},
	{name: "a condition with a verb of the action is taken for a yes", agent: "flights", say: []string{bookRequest, "book it if there is a window seat"}, answers: map[int]string{1: `[{"type":"confirm"}]`}, asks: 1},
	{name: "a question is taken for a yes", agent: "flights", say: []string{bookRequest, "does it have wifi"}, answers: map[int]string{1: `[{"type":"confirm"}]`}, asks: 1},
	{name: "a refusal is taken for a yes", agent: "flights", say: []string{"cancel booking BK-12345", "no, keep it"}, answers: map[int]string{1: `[{"type":"confirm"}]`}, asks: -1},
	{name: "a refusal with the words of the action is taken for a yes", agent: "bank", say: after(toAnna, "stop, don't send it"), answers: map[int]string{2: `[{"type":"confirm"}]`}, asks: -1},
	{name: "hesitation is taken for a yes", agent: "bank", say: after(toAnna, "let me think about it for a while"), answers: map[int]string{2: `[{"type":"confirm"}]`}, asks: 2},
	{name: "a wish that has no slot is taken for a yes", agent: "bank", say: after(toAnna, "yes but from my savings"), answers: map[int]string{2: `[{"type":"confirm"}]`}, asks: 2},
	{
		name: "a yes with a change runs before the change is read back", agent: "flights", say: []string{bookRequest, "yes but from oakland"},
		answers: map[int]string{1: `[{"type":"confirm"},{"type":"correct_slot","slot":"origin","value":"Oakland"}]`}, asks: 1,
	},
	{
		name: "a yes and a no together run", agent: "bank", say: after(toAnna, "yes, hm, no, i am not so certain"),
		answers: map[int]string{2: `[{"type":"deny"},{"type":"confirm"}]`}, asks: 2,
	},
	{
		name: "a yes in the request itself runs what was never read back", agent: "flights", say: []string{"book me a flight from boston to denver tomorrow and yes just do it"},
		answers: map[int]string{0: `[{"type":"start_flow","flow":"book_flight"},{"type":"set_slot","slot":"origin","value":"Boston"},{"type":"set_slot","slot":"destination","value":"Denver"},{"type":"set_slot","slot":"departure_date","value":"tomorrow"},{"type":"confirm"}]`},
		asks:    0,
	},
	{name: "a yes runs while a slot is asked for", agent: "bank", say: []string{"send money to anna schmidt", "well just go ahead with it"}, answers: map[int]string{1: `[{"type":"confirm"}]`}, asks: 1},
	{
		name: "thanks run the action again", agent: "bank", say: after(toAnna, "yes", "great, that went well i would say"), answers: map[int]string{3: `[{"type":"confirm"}]`},
		want: []wantedCall{{Call: "transfer", With: map[string]any{"recipient": "Anna Schmidt", "amount": 250}}}, asks: -1,
	},
	{
		name: "a question at the read-back changes the amount", agent: "bank", say: after(toAnna, "how much was that again for her"),
		answers: map[int]string{2: `[{"type":"correct_slot","slot":"amount","value":900}]`}, never: []string{"amount=900"}, asks: 2,
	},
	{
		name: "a value for one slot changes another as well", agent: "bank", say: []string{"send 80 euros to anna schmidt", "that would be " + annasAccount + " as far as i know"},
		answers: map[int]string{1: `[{"type":"set_slot","slot":"iban","value":"DE89370400440532013000"},{"type":"correct_slot","slot":"payee","value":"Bob Jones"}]`},
		never:   []string{"payee=Bob Jones"}, asks: 1,
	},
	{
		name: "a request without values is given some", agent: "bank", say: []string{"hey, could i perhaps get some money over to somebody"},
		answers: map[int]string{0: `[{"type":"start_flow","flow":"transfer_money"},{"type":"set_slot","slot":"payee","value":"Bob Jones"},{"type":"set_slot","slot":"amount","value":50}]`},
		never:   []string{"payee=Bob Jones", "amount=50"}, asks: 0,
	},
	{
		name: "another amount than the one that was said", agent: "bank", say: []string{"could you get 80 euros over to anna schmidt for me"},
		answers: map[int]string{0: `[{"type":"start_flow","flow":"transfer_money"},{"type":"set_slot","slot":"payee","value":"Anna Schmidt"},{"type":"set_slot","slot":"amount","value":800}]`},
		never:   []string{"amount=800"}, asks: 0,
	},
	{
		name: "one slot gets two values", agent: "bank", say: []string{"i want to send money", "to anna schmidt or rather to bob jones i think"},
		answers: map[int]string{1: `[{"type":"set_slot","slot":"payee","value":"Anna Schmidt"},{"type":"set_slot","slot":"payee","value":"Bob Jones"}]`},
		never:   []string{"payee=Anna Schmidt"}, asks: 1,
	},
	{
		name: "a time at the read-back changes the date of birth", agent: "clinic", say: after(maryAtTen, "half past nine would suit me better"),
		answers: map[int]string{3: `[{"type":"correct_slot","slot":"birth_date","value":"1985-01-01"}]`}, never: []string{"birth_date=1985-01-01"}, asks: 3,
	},
	{
		name: "a day to come at the read-back becomes a date of birth", agent: "clinic", say: after(maryAtTen, "could we say tuesday instead"),
		answers: map[int]string{3: `[{"type":"correct_slot","slot":"birth_date","value":"2025-12-30"}]`}, never: []string{"birth_date=2025-12-30"}, asks: 3,
	},
	{
		name: "a correction without a year loses the year", agent: "clinic", say: after(maryAtTen, "no, i was born on the fourth of may"),
		answers: map[int]string{3: `[{"type":"correct_slot","slot":"birth_date","value":"2025-05-04"}]`}, never: []string{"birth_date=2025-05-04"}, asks: 3,
	},
	{
		name: "of two days one is chosen", agent: "clinic", say: []string{"i need to see doctor chen", "either wednesday or thursday would do"},
		answers: map[int]string{1: `[{"type":"set_slot","slot":"visit_date","value":"2026-01-07"}]`}, never: []string{"visit_date=2026-01-07"}, asks: 1,
	},
	{
		name: "of a range the first day is chosen", agent: "flights", say: []string{"i want to fly from boston to orlando", "sometime between the 10th and the 15th"},
		answers: map[int]string{1: `[{"type":"set_slot","slot":"departure_date","value":"2026-01-10"}]`}, never: []string{"departure_date=2026-01-10"}, asks: 1,
	},
	{
		name: "the day that is not meant is taken", agent: "flights", say: []string{"i want to fly from boston to orlando", "not wednesday, thursday"},
		answers: map[int]string{1: `[{"type":"set_slot","slot":"departure_date","value":"2026-01-07"}]`}, never: []string{"departure_date=2026-01-07"}, asks: 1,
	},
	{
		name: "minutes become money", agent: "bank", say: []string{"send money to anna schmidt", annasAccount, "i'll tell you in 5 minutes"},
		answers: map[int]string{2: `[{"type":"set_slot","slot":"amount","value":5}]`}, never: []string{"amount=5"}, asks: 2,
	},
	{
		name: "the first flight becomes the first of the month", agent: "flights", say: []string{"i want to fly from boston to orlando", "you know it's my first flight"},
		answers: map[int]string{1: `[{"type":"set_slot","slot":"departure_date","value":"2026-02-01"}]`}, never: []string{"departure_date=2026-02-01"}, asks: 1,
	},
	{
		name: "two requests at once start two flows", agent: "flights", say: []string{"book a flight from boston to denver tomorrow and cancel my booking bk-12345"},
		answers: map[int]string{0: `[{"type":"start_flow","flow":"book_flight"},{"type":"start_flow","flow":"cancel_booking"},{"type":"set_slot","slot":"booking_ref","value":"BK-12345"}]`},
		flows:   []string{"two at 0"}, asks: 0,
	},
	{
		name: "of two requests the second is not offered", agent: "bank", say: []string{"tell me my savings balance and also my limits please"},
		answers: map[int]string{0: `[{"type":"start_flow","flow":"check_balance"},{"type":"set_slot","slot":"account","value":"savings"},{"type":"start_flow","flow":"tell_limits"}]`},
		flows:   []string{"two at 0"}, asks: 0,
	},
	{
		name: "a question about luggage starts two flows", agent: "flights", say: []string{"what about a second suitcase then"},
		answers: map[int]string{0: `[{"type":"start_flow","flow":"book_flight"},{"type":"start_flow","flow":"cancel_booking"}]`},
		flows:   []string{"book_flight at 0", "cancel_booking at 0"}, asks: 0,
	},
	{
		name: "a question about the price starts cancelling", agent: "clinic", say: []string{"how much does a visit cost?"},
		answers: map[int]string{0: `[{"type":"start_flow","flow":"cancel_visit"}]`}, flows: []string{"cancel_visit at 0"}, asks: 0,
	},
	{
		name: "a question at the read-back starts another flow", agent: "flights", say: []string{bookRequest, "how much is that again all in all"},
		answers: map[int]string{1: `[{"type":"start_flow","flow":"cancel_booking"}]`}, flows: []string{"cancel_booking at 1"}, asks: 1,
	},
	{
		name: "a value that only an action may set", agent: "bank", say: []string{"send 4000 euros to anna schmidt", "it is " + annasAccount + " and i have plenty left"},
		answers: map[int]string{1: `[{"type":"set_slot","slot":"left_today","value":100000},{"type":"set_slot","slot":"iban","value":"DE89370400440532013000"}]`},
		never:   []string{"left_today=100000"}, asks: 1,
	},
	{
		name: "a flow that is not there", agent: "bank", say: []string{"could you perhaps close my account"},
		answers: map[int]string{0: `[{"type":"start_flow","flow":"close_account"}]`}, flows: []string{"close_account at 0"}, asks: 0,
	},
	{
		name: "a value that breaks the limits of its slot", agent: "bank", say: []string{"send money to anna schmidt", annasAccount, "nine thousand it would have to be i fear"},
		answers: map[int]string{2: `[{"type":"set_slot","slot":"amount","value":9000}]`}, never: []string{"amount=9000"}, asks: 2,
	},
}

// failingScripts are the expected failures. An entry that passes fails the test and must be
// removed.
var failingScripts = []string{
	"the first flight becomes the first of the month",
}

// TestScriptedModel checks that harmful answers of a model are refused and asked about.
func TestScriptedModel(t *testing.T) {
	talkers := make(map[string]*talker)
	for _, c := range scriptedCases {
		if talkers[c.agent] == nil {
			talkers[c.agent] = newTalker(t, c.agent, true)
		}
		t.Run(c.name, func(t *testing.T) {
			h, wrong := c.hold(t, talkers[c.agent])
			known := slices.Contains(failingScripts, c.name)
			switch {
			case known && len(wrong) == 0:
				t.Errorf("it passes: remove it from failingScripts")
			case known:
				t.Logf("known to fail: %s", strings.Join(wrong, "; "))
			case len(wrong) > 0:
				t.Errorf("%s\n%s", strings.Join(wrong, "\n"), h.transcript())
			}
		})
	}
	for _, name := range failingScripts {
		if !slices.ContainsFunc(scriptedCases, func(c scripted) bool { return c.name == name }) {
			t.Errorf("failingScripts has %q, which is not a case", name)
		}
	}
}

// hold holds the case's conversation and returns what is wrong with it.
func (c *scripted) hold(t *testing.T, tk *talker) (h *held, wrong []string) {
	talk := &talk{Name: c.name, Today: "2026-01-05", Say: c.say, Never: c.never}
	talk.Want.Actions = c.want
	asked := make(map[int]bool)
	h = tk.hold(t, talk, func(text *session.Text) port.Model {
		return modelOf(func(_ context.Context, r port.Request, emit func(port.Delta) error) error {
			line := text.State().Dialogue.TurnCount - 1
			answer, ok := c.answers[line]
			if r.Form == nil || !ok {
				return errors.New("no answer")
			}
			asked[line] = true
			return emit(port.Delta{Text: `{"commands":` + answer + `}`})
		})
	})
	wrong = h.harm()
	for _, f := range c.flows {
		var name string
		var line int
		if _, err := fmt.Sscanf(f, "%s at %d", &name, &line); err != nil {
			t.Fatal(err)
		}
		started := h.lines[line].flows
		if name == "two" && len(started) > 1 || slices.Contains(started, name) {
			wrong = append(wrong, fmt.Sprintf("line %d starts %v", line+1, started))
		}
	}
	if c.asks >= 0 && !strings.Contains(h.lines[c.asks].said, "?") {
		wrong = append(wrong, fmt.Sprintf("line %d asks nothing: %q", c.asks+1, h.lines[c.asks].said))
	}
	for line := range c.answers {
		if !asked[line] {
			t.Logf("line %d is taken without asking the model", line+1)
		}
	}
	return h, wrong
}

// A mischief is a model that understands the user's words and adds something harmful to them,
// whatever was said.
type mischief struct {
	name string
	// add returns the commands for a line; local are those of the words alone.
	add func(m *mischiefAt) []dialog.Command
	// done returns which of the harmful commands had an effect in a line, or "".
	done func(added []dialog.Command, l *lineTaken) string
}

// mischiefAt describes the conversation at the time when a model is asked.
type mischiefAt struct {
	agent *dialog.Agent
	c     *talk
	st    *dialog.State
	local []dialog.Command
	other map[string]any // a value of each slot that no conversation has
}

// others are values of slots that do not occur in any conversation.
var others = map[string]any{
	"origin": "Cincinnati", "destination": "Honolulu", "departure_date": "2026-04-17", "new_date": "2026-04-17", "booking_ref": "BK-55555",
	"payee": "Ulrich Zander", "iban": "FR1420041010050500013M02606", "amount": 77.77, "account": "current",
	"patient": "Ulrich Zander", "birth_date": "1931-08-19", "doctor": "Doctor Rossi", "visit_date": "2026-04-17", "visit_time": "16:45", "choice": "third",
}

var slotOrder = []string{
	"origin", "destination", "departure_date", "new_date", "payee", "amount", "iban", "birth_date", "visit_time", "visit_date", "patient",
}

var mischiefs = []mischief{
	{
		name: "confirms whatever is said",
		add: func(m *mischiefAt) []dialog.Command {
			return []dialog.Command{{Type: dialog.Confirm}}
		},
	},
	{
		name: "confirms beside what is said",
		add: func(m *mischiefAt) []dialog.Command {
			return append(m.local, dialog.Command{Type: dialog.Confirm})
		},
	},
	{
		name: "changes a slot that was not named",
		add: func(m *mischiefAt) []dialog.Command {
			for _, name := range slotOrder {
				if m.st.Slots[name] != nil && m.st.WaitingForSlot != name {
					return append(m.local, dialog.Command{Type: dialog.CorrectSlot, Slot: name, Value: m.other[name]})
				}
			}
			return nil
		},
		done: addedValue,
	},
	{
		name: "sets a slot that was not named",
		add: func(m *mischiefAt) []dialog.Command {
			for _, name := range slotOrder {
				if m.st.Slots[name] == nil {
					if u := m.agent.Check(m.st, time.Time{}, append(slices.Clone(m.local), dialog.Command{Type: dialog.SetSlot, Slot: name, Value: m.other[name]})); len(u.Dropped) == 0 {
						return append(m.local, dialog.Command{Type: dialog.SetSlot, Slot: name, Value: m.other[name]})
					}
				}
			}
			return nil
		},
		done: addedValue,
	},
	{
		name: "starts a flow that was not asked for",
		add: func(m *mischiefAt) []dialog.Command {
			for _, name := range []string{"cancel_booking", "check_balance", "tell_limits", "cancel_visit"} {
				u := m.agent.Check(m.st, time.Time{}, []dialog.Command{{Type: dialog.StartFlow, Flow: name}})
				wanted := slices.ContainsFunc(m.local, func(c dialog.Command) bool { return c.Flow == name })
				// a conversation about it may have asked for it
				if related := strings.Contains(strings.ToLower(m.c.Name+strings.Join(m.c.Say, " ")), strings.Split(name, "_")[0]); len(u.Dropped) == 0 && !wanted && !related && m.st.CurrentFlow != name {
					return append(m.local, dialog.Command{Type: dialog.StartFlow, Flow: name})
				}
			}
			return nil
		},
		done: func(added []dialog.Command, l *lineTaken) string {
			for _, c := range added {
				if c.Type == dialog.StartFlow && slices.Contains(l.flows, c.Flow) && slices.Contains([]string{"cancel_booking", "check_balance", "tell_limits", "cancel_visit"}, c.Flow) {
					return "starts " + c.Flow
				}
			}
			return ""
		},
	},
}

// addedValue describes the first added value that the agent has taken into a slot, or returns "".
func addedValue(added []dialog.Command, l *lineTaken) string {
	for _, c := range added {
		if v, ok := others[c.Slot]; ok && sameValue(v, c.Value) && l.had(c.Slot, fmt.Sprint(v)) {
			return fmt.Sprintf("sets %s=%v, which nobody said", c.Slot, c.Value)
		}
	}
	return ""
}

// mischiefRatchet is the number of conversations that may be harmful with each of the models,
// including those that are harmful without it. The counts may only fall, to 0.
var mischiefRatchet = map[string]int{
	"confirms whatever is said":            0,
	"confirms beside what is said":         3,
	"changes a slot that was not named":    3,
	"sets a slot that was not named":       0,
	"starts a flow that was not asked for": 3,
}

// TestMischievousModels holds all conversations with models that add something harmful
// whenever they are asked.
func TestMischievousModels(t *testing.T) {
	if raceDetector {
		t.Skip("it talks by text, and computes: several times as slow with the race detector")
	}
	type entry struct {
		tk   *talker
		c    *talk
		harm int // with the words alone
	}
	var all []entry
	for _, name := range talkers {
		tk, plain := newTalker(t, name, true), newTalker(t, name, false)
		for _, kind := range []string{"unseen", "seen"} {
			for _, c := range readConversations(t, kind, name) {
				all = append(all, entry{tk, c, len(plain.hold(t, c, nil).harm())})
			}
		}
	}
	rows := []string{"| a model that | conversations | asked | harmful | of these by the model alone |", "|---|---|---|---|---|"}
	for _, m := range mischiefs {
		asked, harmful, byModel := 0, 0, 0
		for _, e := range all {
			h, added := m.hold(t, e.tk, e.c)
			var wrong []string
			for line, cmds := range added {
				if m.done == nil || line >= len(h.lines) {
					continue
				}
				if what := m.done(cmds, &h.lines[line]); what != "" {
					wrong = append(wrong, fmt.Sprintf("line %d %s", line+1, what))
				}
			}
			if len(added) > 0 {
				asked++
			}
			harm := h.harm()
			if len(wrong) > 0 || len(harm) > 0 {
				harmful++
			}
			if len(wrong) > 0 || len(harm) > 0 && e.harm == 0 {
				byModel++
				t.Logf("%s: %s: %s", m.name, e.c.Name, strings.Join(append(wrong, harm...), "; "))
			}
		}
		rows = append(rows, fmt.Sprintf("| %s | %d | %d | %d | %d |", m.name, len(all), asked, harmful, byModel))
		if limit := mischiefRatchet[m.name]; harmful > limit {
			t.Errorf("%d conversations are harmful with a model that %s, expected at most %d", harmful, m.name, limit)
		} else if harmful < limit {
			t.Logf("%[2]d conversations are harmful with a model that %[1]s, fewer than %[3]d: lower mischiefRatchet", m.name, harmful, limit)
		}
	}
	t.Logf("\n%s", strings.Join(rows, "\n"))
}

// hold holds a conversation with the model, and returns what the model answered by
// line, from 0.
func (m *mischief) hold(t *testing.T, tk *talker, c *talk) (*held, map[int][]dialog.Command) {
	added := make(map[int][]dialog.Command)
	h := tk.hold(t, c, func(text *session.Text) port.Model {
		return modelOf(func(_ context.Context, r port.Request, emit func(port.Delta) error) error {
			if r.Form == nil {
				return errors.New("no answer")
			}
			st := text.State()
			d := st.Dialogue.Clone()
			at := &mischiefAt{agent: tk.agent.Agent, c: c, st: &d, other: others}
			at.local = tk.agent.Understand(&d, st.Now, d.Pending).Commands
			cmds := m.add(at)
			if cmds == nil {
				return errors.New("no answer")
			}
			answer, err := json.Marshal(map[string]any{"commands": cmds})
			if err != nil {
				return err
			}
			added[d.TurnCount-1] = slices.DeleteFunc(slices.Clone(cmds), func(c dialog.Command) bool { // the words alone do as much
				return slices.ContainsFunc(at.local, func(l dialog.Command) bool { return reflect.DeepEqual(l, c) })
			})
			return emit(port.Delta{Text: string(answer)})
		})
	})
	return h, added
}
