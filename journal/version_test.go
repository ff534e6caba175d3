package journal_test

import (
	"bytes"
	"testing"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/journal"
)

// TestAgentDigest: the digest is that of names and contents, not of the folder.
func TestAgentDigest(t *testing.T) {
	digest := func(files ...agent.File) string {
		t.Helper()
		d, b, err := journal.EncodeAgent(files)
		if err != nil {
			t.Fatal(err)
		}
		back, err := journal.DecodeAgent(d, b)
		if err != nil || len(back) != len(files) || !bytes.Equal(back[0].Data, files[0].Data) {
			t.Fatalf("%v, error %v", back, err)
		}
		if again, _, err := journal.EncodeAgent(back); err != nil || again != d {
			t.Errorf("of the files that were kept it is %s, was %s (error %v)", again, d, err)
		}
		return d
	}
	file := func(name, text string) agent.File { return agent.File{Name: name, Data: []byte(text)} }
	a := digest(file("/srv/a/x.yaml", "one"), file("/srv/a/y.yaml", "two"))
	if b := digest(file("b/x.yaml", "one"), file("b/y.yaml", "two")); b != a {
		t.Error("it depends on the folder")
	}
	for what, b := range map[string]string{
		"contents": digest(file("x.yaml", "one"), file("y.yaml", "three")),
		"names":    digest(file("x.yaml", "one"), file("z.yaml", "two")),
		"number":   digest(file("x.yaml", "one")),
	} {
		if b == a {
			t.Errorf("it does not depend on the %s", what)
		}
	}
}

func FuzzDecodeAgent(f *testing.F) {
	digest, b, err := journal.EncodeAgent([]agent.File{{Name: "a.yaml", Data: []byte("version: 1")}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(digest, b)
	f.Add(digest, []byte("{}"))
	f.Fuzz(func(t *testing.T, digest string, b []byte) {
		files, err := journal.DecodeAgent(digest, b)
		if err == nil && len(files) == 0 {
			t.Error("no files, and no error")
		}
	})
}
