package eval

import (
	"context"
	"strings"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/edits"
	"github.com/hocketvoice/hocket/turn"
)

// measureWords holds a call for each recording of free speech whose words are known, and counts
// the words that the agent got wrong.
func (e *evaluation) measureWords(ctx context.Context) error {
	var list []Recording
	for _, r := range e.manifest.Of(KindSpeech) {
		if r.Text != "" {
			list = append(list, r)
		}
	}
	if len(list) == 0 {
		e.report.note("words: no recording of speech has a text")
		return nil
	}
	wrong := tally{}
	for i := range list {
		r := &list[i]
		pcm, err := e.sound(r)
		if err != nil {
			return err
		}
		c, err := hold(ctx, e.services, "note", e.trained(turn.Options{}), pcm)
		if err != nil {
			return err
		}
		heard := c.words()
		n, words := edits.WordErrors(r.Text, heard)
		wrong.add(r, n, words)
		if n > 0 {
			e.detail("words", r, "%q heard as %q", r.Text, heard)
		}
		e.progress(PartWords, i+1, len(list))
	}
	e.add(Figure{
		Part: PartWords, Name: "words wrong, free speech", Unit: "%", Values: wrong.percent(),
		Goal: &Goal{true, 5}, Neighbours: []Neighbour{{"PocketSphinx's own tool", 11.5, true}},
	})
	return nil
}

// words returns what was understood in a call.
func (h *held) words() string {
	var all []string
	for _, e := range h.events {
		if ev, ok := e.ev.(conv.STTFinal); ok && ev.Text != "" {
			all = append(all, ev.Text)
		}
	}
	return strings.Join(all, " ")
}
