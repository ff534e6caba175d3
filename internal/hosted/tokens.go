package hosted

import (
	"strings"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

// Token is a piece of recognized text. Its times count the sound that was sent over the
// connection.
type Token struct {
	Text       string // begins with a space if it begins a word
	Start, End time.Duration
	Confidence float64 // 0 to 1
}

// assemble returns the words of tokens.
func assemble(tokens []Token) []port.Word {
	var words []port.Word
	parts := 0 // tokens of the last word that were averaged
	whole := true
	for _, t := range tokens {
		text := t.Text
		for text != "" {
			trimmed := strings.TrimLeft(text, " \t\n")
			if len(trimmed) < len(text) {
				whole = true
			}
			if trimmed == "" {
				break
			}
			part := trimmed
			if i := strings.IndexAny(trimmed, " \t\n"); i >= 0 {
				part = trimmed[:i]
			}
			text = trimmed[len(part):]
			if whole {
				words = append(words, port.Word{Text: part, Start: t.Start, End: t.End, Confidence: unit(t.Confidence)})
				whole, parts = false, 1
				continue
			}
			w := &words[len(words)-1]
			w.Text += part
			w.End = max(w.End, t.End)
			w.Confidence = (w.Confidence*float64(parts) + unit(t.Confidence)) / float64(parts+1)
			parts++
		}
	}
	return words
}

// unit limits a confidence to the range from 0 to 1. NaN becomes 0.
func unit(v float64) float64 {
	if !(v > 0) {
		return 0
	}
	return min(v, 1)
}

// transcript returns the result for words.
func transcript(words []port.Word) port.Transcript {
	var t port.Transcript
	if len(words) == 0 {
		return t
	}
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.Text
		t.Confidence += w.Confidence
		t.End = max(t.End, w.End)
	}
	t.Text = strings.Join(texts, " ")
	t.Confidence = unit(t.Confidence / float64(len(words)))
	t.Start, t.Words = min(words[0].Start, t.End), words
	return t
}

// maxSpans bounds the remembered spans. Results are about the sound that was sent last.
const maxSpans = 16

// clock converts positions in the sound that was sent over a connection to positions in the
// stream, of which only utterances are sent.
type clock struct {
	rate  int
	spans []span
	sent  time.Duration // length of the sound that was sent
}

// span is sound without gaps.
type span struct{ sent, stream time.Duration }

// add records that the samples at a position of the stream are sent.
func (c *clock) add(pos audio.Pos, samples int) {
	at := pos.Duration(c.rate)
	if n := len(c.spans); n == 0 || c.stream(c.sent) != at {
		if n == maxSpans {
			c.spans = c.spans[:copy(c.spans, c.spans[1:])]
		}
		c.spans = append(c.spans, span{c.sent, at})
	}
	c.sent += audio.Pos(samples).Duration(c.rate)
}

// stream returns the position in the stream.
func (c *clock) stream(sent time.Duration) time.Duration {
	for i := len(c.spans) - 1; i >= 0; i-- {
		if s := c.spans[i]; sent >= s.sent || i == 0 {
			return max(0, s.stream+sent-s.sent)
		}
	}
	return sent
}

// convert converts the times of words.
func (c *clock) convert(words []port.Word) {
	for i := range words {
		w := &words[i]
		w.Start = c.stream(w.Start)
		w.End = max(w.Start, c.stream(w.End))
	}
}
