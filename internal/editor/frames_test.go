package editor

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/sourcegraph/jsonrpc2"
)

// FuzzReadFrame: whatever an editor sends, it is read within the limits or refused.
func FuzzReadFrame(f *testing.F) {
	for _, s := range []string{
		"", "\r\n\r\n", "Content-Length: 2\r\n\r\n{}", "content-length:2\r\nContent-Type: x\r\n\r\n{}", "Content-Length: 99999999999\r\n\r\n",
		"Content-Length: -1\r\n\r\n", "Content-Length: 5\r\n\r\n{}", "Content-Length: 2\nContent-Length: 3\n\n{}", "x\r\n", strings.Repeat("a: b\r\n", 1000),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bufio.NewReader(bytes.NewReader(b))
		for {
			frame, err := readFrame(r)
			if err != nil {
				return
			}
			if len(frame) > maxMessage {
				t.Fatalf("%d bytes", len(frame))
			}
		}
	})
}

// TestReadFrame: what is refused, and how it is said.
func TestReadFrame(t *testing.T) {
	for _, tt := range []struct{ in, want, err string }{
		{"Content-Length: 2\r\n\r\n{}", "{}", ""},
		{"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length: 3\r\n\r\n[1]", "[1]", ""},
		{"", "", "EOF"},
		{"Content-Length: 9\r\n\r\n{}", "", "unexpected EOF"},
		{"Content-Length: 2", "", "the head of a message: EOF"},
		{"Content-Length: 4194305\r\n\r\n", "", "at most 4194304"},
		{"Content-Length: -1\r\n\r\n", "", "at most"},
		{"Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}", "", "two lengths"},
		{"hello\r\n\r\n", "", "without a colon"},
		{"X: y\r\n\r\n{}", "", "must have a Content-Length"},
		{"X: " + strings.Repeat("y", maxHead), "", "more than 4096 bytes"},
	} {
		got, err := readFrame(bufio.NewReader(strings.NewReader(tt.in)))
		if string(got) != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%.40q is read as %q, %v: expected %q, %q", tt.in, got, err, tt.want, tt.err)
		}
	}
}

// TestWriteObject: what is written is what the library's own framing reads.
func TestWriteObject(t *testing.T) {
	var b bytes.Buffer
	f := newFrames(strings.NewReader(""), &b, io.NopCloser(nil))
	for _, v := range []string{"straße", "two"} {
		if err := f.WriteObject(map[string]string{"v": v}); err != nil {
			t.Fatal(err)
		}
	}
	r := bufio.NewReader(&b)
	for _, want := range []string{"straße", "two"} {
		var got map[string]string
		if err := (jsonrpc2.VSCodeObjectCodec{}).ReadObject(r, &got); err != nil || got["v"] != want {
			t.Errorf("read %v, %v: expected %s", got, err, want)
		}
	}
	if err := f.WriteObject(strings.Repeat("x", maxMessage)); err == nil {
		t.Error("a message that is too long was written")
	}
}

// TestRunBadInput: what is no message ends the connection, and is told; the end of the input alone
// is no error.
func TestRunBadInput(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "Content-Length: 2": "", "hello\n": "without a colon", "Content-Length: 1\r\n\r\n{": "must be JSON-RPC 2.0", "Content-Length: 2\r\n\r\n{}": "must be JSON-RPC 2.0",
	} {
		err := Run(t.Context(), Options{
			In: strings.NewReader(in), Out: io.Discard, Closer: io.NopCloser(nil), Open: func(Setup) (Engine, error) { return nil, nil },
		})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q ends with %v: expected %q", in, err, want)
		}
	}
}
