package session

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// talked is a conversation by text after so many reservations.
func talked(tb testing.TB, reservations int) *conv.Conversation {
	tb.Helper()
	agent, _ := restaurant(tb)
	tx, err := NewText(TextOptions{Conv: conv.Options{Agent: agent}, Tools: &tables{store: &history{}}})
	if err != nil {
		tb.Fatal(err)
	}
	now := start
	if _, err := tx.Start(tb.Context(), now); err != nil {
		tb.Fatal(err)
	}
	for range reservations {
		for _, text := range []string{"reserve a table", "four", "yes"} {
			now = now.Add(10 * time.Second)
			if _, err := tx.Say(tb.Context(), now, text); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return tx.c
}

// BenchmarkCheckpoint is what a checkpoint costs before a store has it: the loop's
// part, which is a copy of the state, and both parts. Goal: the loop's below 20 us.
func BenchmarkCheckpoint(b *testing.B) {
	for _, n := range []int{1, 10} {
		c := talked(b, n)
		b.Run(fmt.Sprintf("loop/%d", n), func(b *testing.B) {
			k := newKeeper(Checkpoints{Store: &porttest.Store{}}, "a", conv.PrivacyKeep, start, func(int) {})
			b.ReportAllocs()
			for b.Loop() {
				k.note(start, c)
			}
		})
		b.Run(fmt.Sprintf("encode/%d", n), func(b *testing.B) {
			k := newKeeper(Checkpoints{Store: discard{}}, "a", conv.PrivacyKeep, start, func(int) {})
			b.ReportAllocs()
			for b.Loop() {
				k.note(start, c)
				if err := k.flush(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// discard is a store that forgets.
type discard struct{}

func (discard) Save(context.Context, port.Hold, []byte) error      { return nil }
func (discard) Load(context.Context, string) ([]byte, bool, error) { return nil, false, nil }
func (discard) Delete(context.Context, string) error               { return nil }
