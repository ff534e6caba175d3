package dialog

import (
	"os"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/dialog/agent"
)

// TestSearchAndReserve runs the example of a search and a reservation in docs/flows.md.
func TestSearchAndReserve(t *testing.T) {
	data, err := os.ReadFile("../docs/flows.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "```yaml\nslots:\n  town:")
	file, _, _ := strings.Cut(rest, "```")
	a, problems := Parse([]agent.File{{Name: "a.yaml", Data: []byte("slots:\n  town:" + file)}})
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
	// The user declines the proposal and asks for another hotel.
	st = State{}
	a.Start(&st, tuesday)
	for _, text := range []string{"is there a hotel in Bremen", "no thanks", "book the hotel", "2"} {
		a.Handle(&st, tuesday, Message{Text: text})
	}
	if st.Slots["town"] != "Bremen" || st.Slots["hotel"] != "The Lion" || st.ConversationState != Confirming {
		t.Errorf("%s with %v", st.ConversationState, st.Slots)
	}
}
