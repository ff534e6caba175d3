package openai

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/tmaxmax/go-sse"

	"github.com/hocketvoice/hocket/internal/llm"
	"github.com/hocketvoice/hocket/provider/openai/fake"
)

// decode decodes a stream as a request does and returns the result.
func decode(r io.Reader, limit int) (d *llm.Answer, said []string, err error) {
	d = &llm.Answer{}
	for event, err := range sse.Read(io.LimitReader(r, 4*int64(limit)), &sse.ReadConfig{MaxEventSize: limit}) {
		if err != nil {
			return d, said, err
		}
		text, err := (&chat{}).Take(d, event.Type, []byte(event.Data))
		if err != nil {
			return d, said, err
		}
		if text != "" {
			said = append(said, text)
			d.Text.WriteString(text)
		}
		if d.Done {
			break
		}
	}
	return d, said, nil
}

func wire(a fake.Answer) string {
	var b strings.Builder
	for _, e := range a.Events {
		b.WriteString("data: " + e + "\n\n")
	}
	return b.String() + "data: [DONE]\n\n"
}

// FuzzStream checks that the decoder neither panics nor keeps more than it was
// sent, that its result does not depend on how the stream is divided, and that its
// calls have names and ids.
func FuzzStream(f *testing.F) {
	// Short seeds: the engine would spend its time on making long ones shorter.
	text := `data: {"choices":[{"delta":{"content":"It "}}]}` + "\n\n"
	f.Add([]byte(text+"data: [DONE]\n\n"), 3)
	f.Add([]byte(`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}}]}`+"\n\n"), 7)
	f.Add([]byte(`data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":{"a":1}}},{"function":{"arguments":"x"}}]}}]}`+"\n\n"), 5)
	f.Add([]byte("\ufeff: ping\r\n\r\nevent: error\r\ndata: {\"message\":\"x\"}\r\n\r\n"), 1)
	f.Add([]byte("data: {\"error\":{\"code\":429}}\n\n"), 2)
	f.Add([]byte("data: {\"choices\":[{\"message\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\r\rdata: [DONE]"), 1)
	f.Add([]byte("data:\ndata\n\n:\nretry: 5\nid: \x00\n\ndata: null\n\ndata: []\n\n"), 4)
	f.Fuzz(func(t *testing.T, stream []byte, n int) {
		const limit = 1 << 12
		d, said, err := decode(strings.NewReader(string(stream)), limit)
		again, saidAgain, errAgain := decode(&pieces{data: stream, n: 1 + (n&0xff)%64}, limit)
		if !slices.Equal(said, saidAgain) || (err == nil) != (errAgain == nil) || d.Finish != again.Finish || d.Done != again.Done || d.Calls.Len() != again.Calls.Len() {
			t.Fatalf("%q, %v, differs in pieces: %q, %v", said, err, saidAgain, errAgain)
		}
		if got := strings.Join(said, ""); err == nil && got != d.Text.String() {
			t.Fatalf("said %q, kept %q", got, d.Text.String())
		}
		size := d.Text.Len()
		size += d.Calls.Size()
		if size > 3*len(stream) { // each byte that is not UTF-8 becomes three
			t.Fatalf("%d bytes of %d", size, len(stream))
		}
		calls, err := d.Calls.Finished(nil)
		ids := map[string]bool{}
		for _, c := range calls {
			if err == nil && (c.ID == "" || c.Name == "" || c.Arguments == "" || ids[c.ID]) {
				t.Fatalf("call %+v", c)
			}
			ids[c.ID] = true
		}
	})
}

// pieces reads n bytes at a time.
type pieces struct {
	data []byte
	n    int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.data) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.data[:min(p.n, len(p.data))])
	p.data = p.data[n:]
	return n, nil
}

// BenchmarkDecoder decodes a reply of 100 pieces; ns and allocations are per piece.
// Goal: less than 10 us, a tenth of a core for 100 calls with 100 pieces a second
// each.
func BenchmarkDecoder(b *testing.B) {
	words := make([]string, 98)
	for i := range words {
		words[i] = "word "
	}
	for name, a := range map[string]fake.Answer{
		"text":      fake.Text(words...),
		"arguments": fake.Stream(append([]string{fake.Call(0, "a", "f", "")}, many(100, fake.Call(0, "", "", `{"a":`))...)...),
	} {
		b.Run(name, func(b *testing.B) {
			stream := wire(a)
			n := len(a.Events) + 1
			b.SetBytes(int64(len(stream) / n))
			b.ReportAllocs()
			for i := 0; i < b.N; i += n {
				if _, _, err := decode(strings.NewReader(stream), 1<<20); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func many(n int, s string) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = s
	}
	return list
}
