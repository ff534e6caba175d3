package mcp

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// FuzzResult checks that any result or progress becomes a text of limited length or
// a failure with a message.
func FuzzResult(f *testing.F) {
	for _, seed := range []string{
		`{"content":[{"type":"text","text":"hi"}]}`, `{"content":[{"type":"text","text":"no"}],"isError":true}`, `{"isError":true,"content":[]}`,
		`{"structuredContent":{"a":[1,null]},"content":[]}`, `{"content":[{"type":"image","data":"AAAA","mimeType":"x"},{"type":"audio","data":"","mimeType":"y"}]}`,
		`{"content":[{"type":"resource","resource":{"uri":"a:b","text":""}},{"type":"resource_link","uri":"a:b","name":"n"}]}`,
		`{"content":[{"type":"resource"}]}`, `{"content":[null]}`, `{"content":null}`, `{"message":"half\ndone","progress":1e308,"total":-1}`, `{"progress":5,"total":1e-300}`,
	} {
		f.Add([]byte(seed))
	}
	v := &server{}
	f.Fuzz(func(t *testing.T, b []byte) {
		var r sdk.CallToolResult
		if json.Unmarshal(b, &r) == nil {
			text, err := v.output("tool", &r)
			if err != nil && strings.TrimSpace(err.Error()) == "" || len(text) > maxResult || !utf8.ValidString(text) {
				t.Fatalf("%q became %q, %v", b, text, err)
			}
		}
		var p sdk.ProgressNotificationParams
		if json.Unmarshal(b, &p) == nil {
			u := progressText(&p)
			if len(u.text) > maxProgress+3 || strings.ContainsAny(u.text, "\r\n") || !utf8.ValidString(u.text) {
				t.Fatalf("%q tells %q", b, u.text)
			}
		}
	})
}
