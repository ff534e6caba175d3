package seeds

import (
	"embed"
	"encoding/json"
	"testing"
)

//go:embed *.json
var files embed.FS

// Load reads the table of a view ("agent-voice", "amplifier", "easyturn",
// "interaction", "soni") into a value, as [json.Unmarshal] does. It fails the test
// if there is no such table.
func Load(t testing.TB, view string, into any) {
	t.Helper()
	b, err := files.ReadFile(view + ".json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatalf("table %s: %v", view, err)
	}
}
