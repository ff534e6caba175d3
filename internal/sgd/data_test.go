package sgd

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// The Schema-Guided Dialogue data (Rastogi et al., AAAI 2020): conversations of
// recorded users with a service that is described by a schema.

type sgdSchema struct {
	ServiceName string      `json:"service_name"`
	Slots       []sgdSlot   `json:"slots"`
	Intents     []sgdIntent `json:"intents"`
}

type sgdSlot struct {
	Name           string   `json:"name"`
	Description    string   `json:"description"`
	IsCategorical  bool     `json:"is_categorical"`
	PossibleValues []string `json:"possible_values"`
}

type sgdIntent struct {
	Name            string            `json:"name"`
	Description     string            `json:"description"`
	IsTransactional bool              `json:"is_transactional"`
	RequiredSlots   []string          `json:"required_slots"`
	OptionalSlots   map[string]string `json:"optional_slots"`
	ResultSlots     []string          `json:"result_slots"`
}

// takes reports whether a slot is an argument of the intent.
func (i *sgdIntent) takes(slot string) bool {
	_, optional := i.OptionalSlots[slot]
	return optional || slices.Contains(i.RequiredSlots, slot)
}

type sgdDialogue struct {
	ID       string    `json:"dialogue_id"`
	Services []string  `json:"services"`
	Turns    []sgdTurn `json:"turns"`
}

type sgdTurn struct {
	Speaker   string     `json:"speaker"`
	Utterance string     `json:"utterance"`
	Frames    []sgdFrame `json:"frames"`
}

type sgdFrame struct {
	Service     string              `json:"service"`
	Actions     []sgdAction         `json:"actions"`
	State       *sgdState           `json:"state"`
	ServiceCall *sgdCall            `json:"service_call"`
	Results     []map[string]string `json:"service_results"`
}

type sgdAction struct {
	Act             string   `json:"act"`
	Slot            string   `json:"slot"`
	Values          []string `json:"values"`
	CanonicalValues []string `json:"canonical_values"`
}

type sgdState struct {
	ActiveIntent   string              `json:"active_intent"`
	RequestedSlots []string            `json:"requested_slots"`
	SlotValues     map[string][]string `json:"slot_values"`
}

type sgdCall struct {
	Method     string            `json:"method"`
	Parameters map[string]string `json:"parameters"`
}

func (f *sgdFrame) has(acts ...string) bool {
	return slices.ContainsFunc(f.Actions, func(a sgdAction) bool { return slices.Contains(acts, a.Act) })
}

// sgdToday is the day on which the recorded users spoke.
var rewrite = flag.Bool("rewrite", false, "write the measured figures into docs/measured.md")

var sgdToday = time.Date(2019, 3, 1, 12, 0, 0, 0, time.UTC)

const sgdDontCare = "dontcare"

// sgdData is the test set with an agent for each of its services.
type sgdData struct {
	dir       string
	schemas   map[string]*sgdSchema
	dialogues []sgdDialogue
}

// sgdTestFolder is where the test set lies.
func sgdTestFolder() string {
	if other := os.Getenv("HOCKET_SGD"); other != "" {
		return other // a folder with schema.json and more of the dialogues
	}
	return "../../../shared/data/sgd/test"
}

func loadSGD(t *testing.T) sgdData {
	t.Helper()
	if files, err := filepath.Glob(filepath.Join(sgdTestFolder(), "dialogues_*.json")); err != nil || len(files) == 0 {
		t.Skip("the Schema-Guided Dialogue data is not at ../shared/data/sgd beside the repository")
	}
	return loadSGDFrom(t, sgdTestFolder())
}

// loadSGDFrom reads a folder of the data set.
func loadSGDFrom(t *testing.T, dir string) sgdData {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "dialogues_*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no dialogues_*.json", dir)
	}
	d := sgdData{dir: dir, schemas: readSGDSchemas(t, dir)}
	for _, f := range files {
		var all []sgdDialogue
		readSGD(t, f, &all)
		for _, g := range all {
			if len(g.Services) == 1 {
				d.dialogues = append(d.dialogues, g)
			}
		}
	}
	return d
}

// parts splits the dialogues: those at even places, on which the understanding was
// developed, and those at odd places, which nobody looked at.
func (d sgdData) parts() (dev, test []sgdDialogue) {
	for i, g := range d.dialogues {
		if i%2 == 0 {
			dev = append(dev, g)
		} else {
			test = append(test, g)
		}
	}
	return dev, test
}

func readSGD(t *testing.T, file string, v any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func readSGDSchemas(t *testing.T, dir string) map[string]*sgdSchema {
	t.Helper()
	var schemas []*sgdSchema
	readSGD(t, filepath.Join(dir, "schema.json"), &schemas)
	byName := make(map[string]*sgdSchema)
	for _, s := range schemas {
		byName[s.ServiceName] = s
	}
	return byName
}

func (s *sgdSchema) intent(name string) *sgdIntent {
	for i := range s.Intents {
		if s.Intents[i].Name == name {
			return &s.Intents[i]
		}
	}
	return nil
}
