package llm

import (
	"errors"
	"io"
	"strings"
)

// Answer is what has arrived of one reply. One goroutine uses it.
type Answer struct {
	Text    strings.Builder // all text so far; the engine adds what Take returns
	Form    bool            // the request has a form
	Refused bool            // the text is a refusal
	Calls   Calls
	// Finish is the finish reason in the vendor's words, and End what it means.
	Finish string
	End    End
	Model  string
	Usage  *Usage // nil until it is known
	Done   bool   // the server has sent its end marker
	// Note keeps what an adapter needs of a call until the call is complete, by its index.
	Note map[int]string
}

// End says why a reply ended.
type End uint8

// The ends.
const (
	Regular  End = iota
	Length       // at the limit of tokens
	Filtered     // by the server's filter
	Aborted      // by a failure of the server
)

// Usage counts tokens.
type Usage struct {
	Prompt, Completion int
	Cached             int // part of Prompt that was in the server's cache
	Reasoning          int // part of Completion that is not visible
}

// ErrReported is an error that the server reports within a successful response.
type ErrReported struct{ Body []byte }

// Error returns a fixed text. The engine reads the details from Body.
func (*ErrReported) Error() string { return "the server reported an error" }

// Begun reports whether a part of the reply has arrived.
func (a *Answer) Begun() bool { return a.Text.Len() > 0 || len(a.Calls.calls) > 0 }

// Complete reports whether the reply is complete: the server has sent its end
// marker or a finish reason.
func (a *Answer) Complete() bool { return a.Done || a.Finish != "" }

// errTooLong reports a response that exceeds the size limit.
var errTooLong = errors.New("the answer of the server is too long")

// bounded reads at most left bytes, and then fails with errTooLong, whereas
// io.LimitReader would return io.EOF. It stores the read error, which a parser may
// report as an unexpected end.
type bounded struct {
	r    io.Reader
	left int
	err  error // nil or the read error; never io.EOF
}

// Read implements [io.Reader].
func (b *bounded) Read(p []byte) (n int, err error) {
	if b.left <= 0 {
		err = errTooLong
	} else {
		n, err = b.r.Read(p[:min(len(p), b.left)])
		b.left -= n
	}
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}
