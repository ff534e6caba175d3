package redact

import "testing"

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"two\n  lines": "two lines", "\x1b[31mred\x00": "[31mred", "\xff": "?", "": "",
	} {
		if got := OneLine(text); got != want {
			t.Errorf("%q is %q, expected %q", text, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{{"abc", 3, "abc"}, {"abcd", 3, "abc..."}, {"aää", 4, "aä..."}, {"ä", 1, "..."}} {
		if got := Cut(c.text, c.limit); got != c.want {
			t.Errorf("%q at %d is %q, expected %q", c.text, c.limit, got, c.want)
		}
	}
}

// TestHide checks that the longer of two credentials is removed first, and that
// short values remain.
func TestHide(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"key is sesame", "key is [secret]"},
		{"sesame-street!", "[secret]!"},
		{"abc", "abc"},
	} {
		if got := Hide(c.text, "sesame", "sesame-street", "abc", ""); got != c.want {
			t.Errorf("%q is %q, expected %q", c.text, got, c.want)
		}
	}
	for text, want := range map[string]string{"same is the key": " is the key", "other": "other", "e is": " is"} {
		if got := HideHead(text, "sesame"); got != want {
			t.Errorf("%q is %q, expected %q", text, got, want)
		}
	}
}
