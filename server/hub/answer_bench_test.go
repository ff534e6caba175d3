package hub_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/internal/pgtest"
	"github.com/hocketvoice/hocket/leg/text"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/session"
	"github.com/hocketvoice/hocket/store/postgres"
	"github.com/hocketvoice/hocket/store/sqlite"
)

// BenchmarkAnswer measures how long a typing client waits for the last caption of an answer,
// by store: the answer waits until the turn is saved. Goal: a store adds less than 10 ms,
// with a server's disk.
func BenchmarkAnswer(b *testing.B) {
	durable := pgtest.Server{Durable: true}
	b.Cleanup(func() {
		if err := durable.Stop(); err != nil {
			b.Error(err)
		}
	})
	for _, c := range []struct {
		name  string
		store func(b *testing.B) port.Store
	}{
		{"kept nowhere", func(*testing.B) port.Store { return nil }},
		{"SQLite", func(b *testing.B) port.Store {
			s, err := sqlite.Open(b.Context(), sqlite.Options{Path: filepath.Join(b.TempDir(), "calls.db")})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() {
				if err := s.Close(); err != nil {
					b.Error(err)
				}
			})
			return s
		}},
		{"PostgreSQL", func(b *testing.B) port.Store {
			s, err := postgres.Open(b.Context(), postgres.Options{URL: durable.Database(b)})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() {
				if err := s.Close(); err != nil {
					b.Error(err)
				}
			})
			return s
		}},
	} {
		b.Run(c.name, func(b *testing.B) { answers(b, c.store(b)) })
	}
}

// answers asks and waits for the answer repeatedly, in conversations of 50 turns.
func answers(b *testing.B, store port.Store) {
	flows, problems := dialog.Parse([]agent.File{{Name: "a.yaml", Data: []byte("settings: {language: en}\nflows:\n  hello:\n    description: say hello\n" +
		"    trigger: {intents: [hello]}\n    steps:\n      - {step: a, type: say, message: \"Hello to you.\"}\n")}})
	if flows == nil {
		b.Fatal(problems)
	}
	h, err := hub.New(hub.Options{})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(b.Context()))
	cancel()
	defer h.Drain(ctx, time.Second)
	var c *hub.Conversation
	var s *hub.Stream
	for turn := 0; b.Loop(); turn++ {
		if turn%50 == 0 {
			b.StopTimer()
			if c != nil {
				s.Close()
				if err := c.Command(hub.Command{Type: "endConversation"}); err != nil {
					b.Fatal(err)
				}
				<-c.Done()
			}
			c, err = h.Start(hub.Call{Agent: "test", Transport: "text", Leg: text.New(text.Options{}), Session: func(c *hub.Conversation) (*session.Session, error) {
				return session.New(text.Session(session.Options{
					ID: c.ID(), Leg: c.Leg(), Conv: conv.Options{Agent: flows}, Checkpoints: session.Checkpoints{Store: store},
				}))
			}})
			if err != nil {
				b.Fatal(err)
			}
			if s, err = c.Stream(hub.StreamOptions{From: 1}); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
		if err := c.Command(hub.Command{Type: "send_text", Text: "hello"}); err != nil {
			b.Fatal(err)
		}
		for caption := (hub.Caption{}); !caption.Final; {
			m, err := s.Next(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			if m.Type == hub.TypeCaption && json.Unmarshal(m.Payload, &caption) != nil {
				b.Fatal("a caption that cannot be read")
			}
		}
	}
	b.StopTimer()
	s.Close()
}
