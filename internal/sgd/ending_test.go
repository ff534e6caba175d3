package sgd

import (
	"cmp"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/turn/ending"
)

// utterances returns what the users of the set sgd say, of which none was used for the training,
// or skips the test.
func utterances(t *testing.T) []string {
	t.Helper()
	paths, _ := filepath.Glob(filepath.Join("..", "..", "..", "shared", "data", "sgd", "test", "dialogues_*.json"))
	if len(paths) == 0 {
		t.Skip("the dialogues are not here: they lie in the folder shared/data beside the repository")
	}
	var out []string
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var dialogues []struct {
			Turns []struct {
				Speaker   string `json:"speaker"`
				Utterance string `json:"utterance"`
			} `json:"turns"`
		}
		if err := json.Unmarshal(data, &dialogues); err != nil {
			t.Fatal(err)
		}
		for _, d := range dialogues {
			for _, turn := range d.Turns {
				if turn.Speaker == "USER" {
					out = append(out, turn.Utterance)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestEndingOfUnseenUtterances compares whole utterances of the set sgd with their beginnings, cut at a
// random word: the probability that a whole one is taken for more complete than a beginning.
func TestEndingOfUnseenUtterances(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	type scored struct {
		p     float64
		whole bool
	}
	var list []scored
	for _, u := range utterances(t) {
		words := strings.Fields(strings.ToLower(u))
		if len(words) < 2 {
			continue
		}
		list = append(list, scored{ending.Complete(u), true}, scored{ending.Complete(strings.Join(words[:1+rnd.IntN(len(words)-1)], " ")), false})
	}
	slices.SortFunc(list, func(a, b scored) int { return cmp.Compare(a.p, b.p) })
	below, wins, whole := 0.0, 0.0, 0.0
	for _, s := range list {
		if s.whole {
			wins += below
			whole++
		} else {
			below++
		}
	}
	auc := wins / whole / below
	t.Logf("%d utterances, AUC %.3f", int(whole), auc)
	if auc < 0.8 {
		t.Errorf("AUC %.3f, expected 0.8 or more", auc)
	}
}
