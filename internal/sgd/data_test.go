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
// users with a service that a schema describes.

type schema struct {
	ServiceName string   `json:"service_name"`
	Slots       []slot   `json:"slots"`
	Intents     []intent `json:"intents"`
}

type slot struct {
	Name           string   `json:"name"`
	Description    string   `json:"description"`
	IsCategorical  bool     `json:"is_categorical"`
	PossibleValues []string `json:"possible_values"`
}

type intent struct {
	Name            string            `json:"name"`
	Description     string            `json:"description"`
	IsTransactional bool              `json:"is_transactional"`
	RequiredSlots   []string          `json:"required_slots"`
	OptionalSlots   map[string]string `json:"optional_slots"`
	ResultSlots     []string          `json:"result_slots"`
}

// takes reports whether a slot is an argument of the intent.
func (i *intent) takes(slot string) bool {
	_, optional := i.OptionalSlots[slot]
	return optional || slices.Contains(i.RequiredSlots, slot)
}

type dialogue struct {
	ID       string   `json:"dialogue_id"`
	Services []string `json:"services"`
	Turns    []turn   `json:"turns"`
}

type turn struct {
	Speaker   string  `json:"speaker"`
	Utterance string  `json:"utterance"`
	Frames    []frame `json:"frames"`
}

type frame struct {
	Service     string              `json:"service"`
	Actions     []action            `json:"actions"`
	State       *state              `json:"state"`
	ServiceCall *call               `json:"service_call"`
	Results     []map[string]string `json:"service_results"`
}

type action struct {
	Act             string   `json:"act"`
	Slot            string   `json:"slot"`
	Values          []string `json:"values"`
	CanonicalValues []string `json:"canonical_values"`
}

type state struct {
	ActiveIntent   string              `json:"active_intent"`
	RequestedSlots []string            `json:"requested_slots"`
	SlotValues     map[string][]string `json:"slot_values"`
}

type call struct {
	Method     string            `json:"method"`
	Parameters map[string]string `json:"parameters"`
}

func (f *frame) has(acts ...string) bool {
	return slices.ContainsFunc(f.Actions, func(a action) bool { return slices.Contains(acts, a.Act) })
}

var rewrite = flag.Bool("rewrite", false, "write the measured figures into docs/measured.md")

// today is the day on which the recorded users spoke.
var today = time.Date(2019, 3, 1, 12, 0, 0, 0, time.UTC)

const dontCare = "dontcare"

// dataset is a folder of the data: its schemas and the dialogues with one service.
type dataset struct {
	dir       string
	schemas   map[string]*schema
	dialogues []dialogue
}

// testFolder returns the folder of the test set.
func testFolder() string {
	if other := os.Getenv("HOCKET_SGD"); other != "" {
		return other // a folder with schema.json and more of the dialogues
	}
	return "../../../shared/data/sgd/test"
}

func loadTestSet(t *testing.T) dataset {
	t.Helper()
	if files, err := filepath.Glob(filepath.Join(testFolder(), "dialogues_*.json")); err != nil || len(files) == 0 {
		t.Skip("the Schema-Guided Dialogue data is not at ../shared/data/sgd beside the repository")
	}
	return loadFolder(t, testFolder())
}

// loadFolder reads a folder of the data set.
func loadFolder(t *testing.T, dir string) dataset {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "dialogues_*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no dialogues_*.json", dir)
	}
	d := dataset{dir: dir, schemas: readSchemas(t, dir)}
	for _, f := range files {
		var all []dialogue
		readJSON(t, f, &all)
		for _, g := range all {
			if len(g.Services) == 1 {
				d.dialogues = append(d.dialogues, g)
			}
		}
	}
	return d
}

// parts splits the dialogues into those at even indexes, on which the understanding was
// developed, and those at odd indexes, which are held out.
func (d dataset) parts() (dev, test []dialogue) {
	for i, g := range d.dialogues {
		if i%2 == 0 {
			dev = append(dev, g)
		} else {
			test = append(test, g)
		}
	}
	return dev, test
}

func readJSON(t *testing.T, file string, v any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func readSchemas(t *testing.T, dir string) map[string]*schema {
	t.Helper()
	var schemas []*schema
	readJSON(t, filepath.Join(dir, "schema.json"), &schemas)
	byName := make(map[string]*schema)
	for _, s := range schemas {
		byName[s.ServiceName] = s
	}
	return byName
}

func (s *schema) intent(name string) *intent {
	for i := range s.Intents {
		if s.Intents[i].Name == name {
			return &s.Intents[i]
		}
	}
	return nil
}
