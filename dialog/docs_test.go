package dialog

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/dialog/value"
)

// TestFlowsPage: the page about the files names everything that files may have, and
// its examples load without a problem.
func TestFlowsPage(t *testing.T) {
	data, err := os.ReadFile("../docs/flows.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	names := slices.Concat(stepTypeNames, slices.Sorted(maps.Keys(builtinValidators())), templateFormats)
	for typ := range slices.Values(value.TypeNames) {
		if value.Types[typ] == value.Type(typ) {
			names = append(names, typ)
		}
	}
	for _, fields := range stepFields {
		names = append(names, fields...)
	}
	names = append(names, slotFieldNames()...)
	for _, name := range names {
		if !regexp.MustCompile("`[^`\n]*\\b" + regexp.QuoteMeta(name) + "\\b[^`\n]*`").MatchString(page) {
			t.Errorf("docs/flows.md does not say what %q is", name)
		}
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(page, -1)
	if len(blocks) < 2 {
		t.Fatalf("%d examples", len(blocks))
	}
	for i, b := range blocks {
		if _, problems := Parse([]File{{Name: fmt.Sprintf("example %d", i+1), Data: []byte(b[1])}}); len(problems) > 0 {
			t.Error(problems)
		}
	}
}

// slotFieldNames are the fields of a slot, as the parser has them.
func slotFieldNames() []string {
	source, err := os.ReadFile("parse_slots.go")
	if err != nil {
		return nil
	}
	_, body, _ := strings.Cut(string(source), "func (c *compiler) slotFields(")
	body, _, _ = strings.Cut(body, "\n}\n")
	var names []string
	for _, m := range regexp.MustCompile(`\n\t\t"([a-z_]+)":`).FindAllStringSubmatch(body, -1) {
		names = append(names, m[1])
	}
	return names
}

// TestSearchAndReserve is the page's example of a search and what follows.
func TestSearchAndReserve(t *testing.T) {
	data, err := os.ReadFile("../docs/flows.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "```yaml\nslots:\n  town:")
	file, _, _ := strings.Cut(rest, "```")
	a, problems := Parse([]File{{Name: "a.yaml", Data: []byte("slots:\n  town:" + file)}})
	if a == nil {
		t.Fatal(problems)
	}
	var st State
	a.Start(&st, tuesday)
	for _, c := range []struct{ said, want string }{
		{"is there a hotel in Bremen", "There is The Lion, for 90 euros a night."},
		{"that sounds good", "All right. Would you like to reserve a room?"},
		{"yes, for three nights", "Town Bremen, hotel The Lion, nights 3. Shall I go ahead?"},
		{"yes please", "Done."},
	} {
		a.Handle(&st, tuesday, Message{Text: c.said})
		if st.LastResponse != c.want {
			t.Errorf("%q: %q, want %q; slots %v", c.said, st.LastResponse, c.want, st.Slots)
		}
	}
	// Without the proposal, and with another hotel.
	st = State{}
	a.Start(&st, tuesday)
	for _, text := range []string{"is there a hotel in Bremen", "no thanks", "book the hotel", "2"} {
		a.Handle(&st, tuesday, Message{Text: text})
	}
	if st.Slots["town"] != "Bremen" || st.Slots["hotel"] != "The Lion" || st.ConversationState != Confirming {
		t.Errorf("%s with %v", st.ConversationState, st.Slots)
	}
}
