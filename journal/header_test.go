package journal_test

import (
	"testing"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/journal"
)

// TestRelative checks that an agent's files are named relative to the folder that
// contains all of them.
func TestRelative(t *testing.T) {
	for _, c := range []struct{ given, want []string }{
		{[]string{"/srv/a/agent.yaml"}, []string{"agent.yaml"}},
		{[]string{"../../etc/agent.yaml"}, []string{"agent.yaml"}},
		{[]string{"/srv/a/x.yaml", "/srv/a/y.yaml"}, []string{"x.yaml", "y.yaml"}},
		{[]string{"/srv/a/flows/x.yaml", "/srv/a/slots/y.yaml"}, []string{"flows/x.yaml", "slots/y.yaml"}},
		{[]string{`C:\agents\x.yaml`, "C:/agents/deep/y.yaml"}, []string{"x.yaml", "deep/y.yaml"}},
		{[]string{"x.yaml", "/srv/y.yaml"}, []string{"x.yaml", "y.yaml"}},
	} {
		var files []agent.File
		for _, name := range c.given {
			files = append(files, agent.File{Name: name})
		}
		h, err := journal.NewHeader(started, conv.Options{}, files)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range h.Agent {
			if f.Name != c.want[i] {
				t.Errorf("%q of %q is %q, want %q", c.given[i], c.given, f.Name, c.want[i])
			}
		}
	}
}
