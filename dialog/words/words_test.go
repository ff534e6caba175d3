package words

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/command"
)

func definition(t *testing.T) *agent.Definition {
	t.Helper()
	name := filepath.Join("..", "testdata", "bank.yaml")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	def, problems := agent.Options{}.Parse([]agent.File{{Name: "bank.yaml", Data: data}})
	if def == nil {
		t.Fatal(problems)
	}
	return def
}

// TestTrainingIsDeterministic compares the results of two trainings.
func TestTrainingIsDeterministic(t *testing.T) {
	def := definition(t)
	if a, b := New(def), New(def); !slices.Equal(a.intents.weights, b.intents.weights) || !slices.Equal(a.speltWords, b.speltWords) {
		t.Error("the results of two trainings differ")
	}
}

// TestUnderstandChangesNothing checks that Understand gives the same result twice and does
// not modify the moment.
func TestUnderstandChangesNothing(t *testing.T) {
	var u command.Understander = New(definition(t))
	met := func() *command.Moment {
		return &command.Moment{
			Now: time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), CurrentFlow: "transfer_money", WaitingForSlot: "amount",
			Slots: map[string]any{"payee": "Anna"}, Recent: []string{"payee"}, Either: map[string]any{"amount": int64(5)},
		}
	}
	for _, text := range []string{
		"", "50 euros", "no, to Bob", "not Anna", "100 no 200", "what is my balance", "waht is my balnce", "send 50 euros to Anna and 60 to Bob", "yes", "never mind",
	} {
		m := met()
		first, second := u.Understand(m, text), u.Understand(m, text)
		if !reflect.DeepEqual(first.Commands, second.Commands) {
			t.Errorf("%q means %v first and then %v", text, first.Commands, second.Commands)
		}
		if !reflect.DeepEqual(m, met()) {
			t.Errorf("%q changed the moment to %+v", text, m)
		}
	}
}
