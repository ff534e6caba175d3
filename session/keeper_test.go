package session

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// begun is a conversation that listens.
func begun(t *testing.T) *conv.Conversation {
	t.Helper()
	c, err := conv.New(conv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range []conv.Event{conv.UserStart{}, conv.SessionReady{ID: "s"}, conv.AudioReady{}} {
		c.Step(start, ev)
	}
	return c
}

// TestKeeperCatchesUp: a store that is away is asked again until it takes the last
// state; nobody waits for it meanwhile, and both moments are told.
func TestKeeperCatchesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &history{fail: errors.New("no route")}
		var told []bool
		k := newKeeper(Checkpoints{Store: store, Behind: func(err error) { told = append(told, err != nil) }}, "c", conv.PrivacyKeep, start, func(int) {})
		ctx, cancel := context.WithCancel(t.Context())
		var done sync.WaitGroup
		done.Go(func() {
			if err := k.run(ctx); err != nil {
				t.Error(err)
			}
		})
		c := begun(t)
		k.note(start, c)
		k.settle(ctx, k.position()) // it could not be written
		began := time.Now()
		c.Step(start.Add(time.Second), conv.SpeechStarted{})
		k.note(start.Add(time.Second), c)
		k.settle(ctx, k.position())
		if waited := time.Since(began); waited > 0 {
			t.Errorf("it waited %v for a store that is away", waited)
		}
		var saved bool
		done.Go(func() { saved = k.saved(ctx, k.position()) })
		time.Sleep(10 * saveAgain)
		synctest.Wait()
		if saved {
			t.Error("it says that it is saved")
		}
		store.mu.Lock()
		store.fail = nil
		store.mu.Unlock()
		time.Sleep(saveAgain)
		synctest.Wait()
		if b, ok, _ := store.Load(ctx, "c"); !saved || !ok || !bytes.Contains(b, []byte(`"phase":"listening.capturing"`)) {
			t.Errorf("saved %v: %s", saved, b)
		}
		cancel()
		done.Wait()
		if len(told) != 2 || !told[0] || told[1] {
			t.Errorf("told %v, expected that it fell behind, and that it caught up", told)
		}
	})
}

// slowly is a store that takes its time.
type slowly struct {
	history
	takes time.Duration
}

func (s *slowly) Save(ctx context.Context, hold port.Hold, b []byte) error {
	select {
	case <-time.After(s.takes):
		return s.history.Save(ctx, hold, b)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestAnswersOutBeforeTheirCheckpoint: what tells the person something waits for the state
// that it follows from, in its order, and until a save has failed for one that the store
// does not take: what comes behind it does not wait for a store that is away.
func TestAnswersOutBeforeTheirCheckpoint(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		takes time.Duration
		told  []time.Duration // since the first state; the second and third come 1 ms behind it, the last after 3 s
	}{
		{0, []time.Duration{0, ms, ms, 3000 * ms}},
		{20 * ms, []time.Duration{20 * ms, 40 * ms, 40 * ms, 3020 * ms}},
		{time.Hour, []time.Duration{saveLimit, saveLimit, saveLimit, 3000 * ms}},
	} {
		synctest.Test(t, func(t *testing.T) {
			store := &slowly{takes: c.takes}
			k := newKeeper(Checkpoints{Store: store}, "c", conv.PrivacyKeep, start, func(int) {})
			ctx, cancel := context.WithCancel(t.Context())
			var done sync.WaitGroup
			done.Go(func() {
				if err := k.run(ctx); err != nil {
					t.Error(err)
				}
			})
			began := time.Now()
			var told []time.Duration
			note := func() { told = append(told, time.Since(began)) }
			k.whenKept(note) // nothing has to be kept yet
			if len(told) != 1 {
				t.Error("what follows from nothing waits")
			}
			told = nil
			m := begun(t)
			k.note(start, m)
			k.whenKept(note)
			time.Sleep(ms)
			m.Step(start.Add(time.Second), conv.SpeechStarted{})
			k.note(start.Add(time.Second), m)
			k.whenKept(note)
			k.whenKept(note)
			time.Sleep(2999 * ms)
			synctest.Wait()
			k.note(start.Add(time.Second), m)
			k.whenKept(note)
			time.Sleep(100 * ms)
			synctest.Wait()
			if !slices.Equal(told, c.told) {
				t.Errorf("a store that takes %v: told after %v, expected %v", c.takes, told, c.told)
			}
			cancel()
			done.Wait()
		})
	}
}

// TestAnswersOfTheFenced: what follows from a state that the store refused, because the
// conversation goes on elsewhere, is told nobody.
func TestAnswersOfTheFenced(t *testing.T) {
	store := &porttest.Store{}
	if err := store.Beat(t.Context(), port.Node{ID: "a"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Claim(t.Context(), "c", "a"); err != nil {
		t.Fatal(err)
	}
	k := newKeeper(Checkpoints{Store: store, Token: 77}, "c", conv.PrivacyKeep, start, func(int) {})
	k.note(start, begun(t))
	told := 0
	k.whenKept(func() { told++ })
	if err := k.flush(t.Context()); !errors.Is(err, port.ErrFenced) {
		t.Errorf("%v, expected that it is fenced", err)
	}
	k.whenKept(func() { told++ })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if told != 0 || k.told(ctx, 1) {
		t.Errorf("told %d times", told)
	}
}

// TestKeeperIsFenced: who has lost the conversation writes nothing more, and is told.
func TestKeeperIsFenced(t *testing.T) {
	store := &porttest.Store{}
	if err := store.Beat(t.Context(), port.Node{ID: "a"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	ours, err := store.Claim(t.Context(), "c", "a")
	if err != nil {
		t.Fatal(err)
	}
	k := newKeeper(Checkpoints{Store: store, Token: ours.Token}, "c", conv.PrivacySession, start, func(int) {})
	c := begun(t)
	k.note(start, c)
	if err := k.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	theirs, err := store.Claim(t.Context(), "c", "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Save(t.Context(), theirs, []byte("theirs")); err != nil {
		t.Fatal(err)
	}
	c.Step(start.Add(time.Second), conv.UserStop{}) // privacy: its end would delete it
	k.note(start.Add(time.Second), c)
	if err := k.run(t.Context()); !errors.Is(err, port.ErrFenced) {
		t.Errorf("%v, expected that it is fenced", err)
	}
	if b, ok, err := store.Load(t.Context(), "c"); !ok || err != nil || string(b) != "theirs" {
		t.Errorf("%q, %v, %v: what the other has written is gone", b, ok, err)
	}
}

// TestKeeperClaimsLater: a conversation that could not be claimed when it began is claimed
// before anything is written, and written under that claim; one that is somebody else's by
// then is fenced.
func TestKeeperClaimsLater(t *testing.T) {
	store := &porttest.Store{}
	for _, node := range []string{"a", "b"} {
		if err := store.Beat(t.Context(), port.Node{ID: node}, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	away := true
	o := Checkpoints{Store: store, Journal: store, Claim: func(ctx context.Context, id string) (int64, error) {
		if away {
			return 0, nil
		}
		hold, err := store.Claim(ctx, id, "a")
		return hold.Token, err
	}}
	k := newKeeper(o, "c", conv.PrivacyKeep, start, func(int) {})
	c := begun(t)
	k.note(start, c)
	_, _ = k.log.Write([]byte("a step\n"))
	if err := k.flush(t.Context()); err == nil {
		t.Error("nothing is amiss")
	}
	if _, ok, err := store.Load(t.Context(), "c"); ok || err != nil {
		t.Errorf("it is written without a claim, error %v", err)
	}
	away = false
	if err := k.flush(t.Context()); err != nil || k.o.Token == 0 {
		t.Fatalf("claim %d, error %v", k.o.Token, err)
	}
	steps := 0
	if err := store.Read(t.Context(), "c", func(int, []byte) error { steps++; return nil }); err != nil || steps != 1 {
		t.Errorf("%d pieces of the journal, error %v", steps, err)
	}
	if err := store.Save(t.Context(), port.Hold{ID: "c", Token: k.o.Token}, []byte("x")); err != nil {
		t.Errorf("it is not written under the claim: %v", err)
	}
	if _, err := store.Claim(t.Context(), "d", "b"); err != nil {
		t.Fatal(err)
	}
	other := newKeeper(o, "d", conv.PrivacyKeep, start, func(int) {})
	other.note(start, c)
	if err := other.flush(t.Context()); !errors.Is(err, port.ErrFenced) {
		t.Errorf("%v, expected that it is fenced", err)
	}
}

// TestJournalPieces: a piece ends with a line, one that was not taken comes again under
// its number, and what two processes have written is read as two traces.
func TestJournalPieces(t *testing.T) {
	store := &porttest.Store{}
	if err := store.Beat(t.Context(), port.Node{ID: "a"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	for range 2 { // processes
		hold, err := store.Claim(t.Context(), "c", "a")
		if err != nil {
			t.Fatal(err)
		}
		l := &log{o: Checkpoints{Journal: store}, hold: hold}
		c := begun(t)
		h, err := journal.NewHeader(start, c.Options(), nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := newRecorder(l, h, true)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 5 {
			ev := conv.UserText{Text: "a line that is the longer the later it comes: " + string(bytes.Repeat([]byte("x"), n*2000))}
			now := start.Add(time.Duration(n) * time.Second)
			c.Step(now, ev)
			if err := r.step(now, conv.Shown{Event: ev, Conversation: c}); err != nil {
				t.Fatal(err)
			}
			_, _ = l.Write([]byte(`{"half":`)) // the process dies in the middle of a line
			if err := l.flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			l.piece = nil // what was not whole
		}
	}
	lines := 0
	err := store.Read(t.Context(), "c", func(_ int, b []byte) error {
		if len(b) == 0 || b[len(b)-1] != '\n' {
			t.Errorf("a piece ends with %q", b[max(0, len(b)-20):])
		}
		lines += bytes.Count(b, []byte("\n"))
		return nil
	})
	if err != nil || lines != 2*6 {
		t.Errorf("%d lines, error %v: expected two headers and ten steps", lines, err)
	}
}

// refusing is a journal that takes nothing.
type refusing struct{ port.Journal }

func (refusing) Append(context.Context, port.Hold, int, []byte) error {
	return errors.New("no room")
}

// TestKeeperWithoutItsJournal: a state that is written is, though the journal is not; and
// the journal is asked again.
func TestKeeperWithoutItsJournal(t *testing.T) {
	store := &history{}
	if err := store.Beat(t.Context(), port.Node{ID: "a"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	hold, err := store.Claim(t.Context(), "c", "a")
	if err != nil {
		t.Fatal(err)
	}
	var told []error
	o := Checkpoints{Store: store, Journal: refusing{}, Token: hold.Token, Behind: func(err error) { told = append(told, err) }}
	k := newKeeper(o, "c", conv.PrivacyKeep, start, func(int) {})
	_, _ = k.log.Write([]byte("{}\n"))
	k.note(start, begun(t))
	for range 2 {
		if err := k.flush(t.Context()); err == nil {
			t.Error("the journal's error is lost")
		}
	}
	soon, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if !k.saved(soon, 1) {
		t.Error("who waits for the state waits for the journal")
	}
	if n := len(store.all()); n != 1 {
		t.Errorf("the state was written %d times, expected once", n)
	}
	k.log.o.Journal = store
	if err := k.flush(t.Context()); err != nil {
		t.Error(err)
	}
	if len(told) != 2 || told[0] == nil || told[1] != nil {
		t.Errorf("told %v, expected that it fell behind, and that it caught up", told)
	}
}

// TestKept: who waits for the first checkpoint hears of it when it is written, and no
// later than the store has been given up.
func TestKept(t *testing.T) {
	for _, c := range []struct {
		takes, waits time.Duration
		kept         bool
	}{{0, 0, true}, {time.Second, time.Second, true}, {time.Hour, saveLimit, false}} {
		synctest.Test(t, func(t *testing.T) {
			k := newKeeper(Checkpoints{Store: &slowly{takes: c.takes}}, "c", conv.PrivacyKeep, start, func(int) {})
			ctx, cancel := context.WithCancel(t.Context())
			var done sync.WaitGroup
			done.Go(func() { _ = k.run(ctx) })
			k.note(start, begun(t))
			began := time.Now()
			if kept := k.begun(ctx); kept != c.kept || time.Since(began) != c.waits {
				t.Errorf("%v: kept %v after %v", c.takes, kept, time.Since(began))
			}
			cancel()
			done.Wait()
		})
	}
}

// stuck is a journal that answers nobody, or takes a time for each byte.
type stuck struct {
	port.Journal
	each time.Duration // 0: for ever
}

func (s stuck) Append(ctx context.Context, hold port.Hold, number int, b []byte) error {
	var done <-chan time.Time
	if s.each > 0 {
		done = time.After(time.Duration(len(b)) * s.each)
	}
	select {
	case <-done:
		return s.Journal.Append(ctx, hold, number, b)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestJournalHoldsTheCheckpointUp: a journal that does not answer, or has so much to write
// after an outage that one call does not end in its time, does not keep the state from
// being written; and in the end all of it is written.
func TestJournalHoldsTheCheckpointUp(t *testing.T) {
	for _, each := range []time.Duration{0, time.Microsecond} {
		synctest.Test(t, func(t *testing.T) {
			store := &history{}
			if err := store.Beat(t.Context(), port.Node{ID: "a"}, time.Hour); err != nil {
				t.Fatal(err)
			}
			hold, err := store.Claim(t.Context(), "c", "a")
			if err != nil {
				t.Fatal(err)
			}
			o := Checkpoints{Store: store, Journal: stuck{store, each}, Token: hold.Token}
			k := newKeeper(o, "c", conv.PrivacyKeep, start, func(int) {})
			var all []byte
			for line := 0; len(all) < 3<<20; line++ {
				all = append(all, bytes.Repeat([]byte("x"), line%5000)...)
				all = append(all, '\n')
			}
			_, _ = k.log.Write(all)
			ctx, cancel := context.WithCancel(t.Context())
			var done sync.WaitGroup
			done.Go(func() { _ = k.run(ctx) })
			k.note(start, begun(t))
			began := time.Now()
			if !k.begun(ctx) || time.Since(began) > journalLimit {
				t.Errorf("%v for each byte: not written after %v", each, time.Since(began))
			}
			time.Sleep(time.Minute)
			cancel()
			done.Wait()
			var got []byte
			if err := store.Read(t.Context(), "c", func(_ int, b []byte) error { got = append(got, b...); return nil }); err != nil {
				t.Fatal(err)
			}
			if want := all[:len(all)*min(int(each), 1)]; !bytes.Equal(got, want) {
				t.Errorf("%v for each byte: %d bytes of the journal are written, expected %d", each, len(got), len(want))
			}
		})
	}
}

// fickle is a store whose saves take their time, fail, or are written and fail.
type fickle struct {
	history
	rnd *rand.Rand
}

func (f *fickle) Save(ctx context.Context, hold port.Hold, b []byte) error {
	fault := f.rnd.IntN(40)
	takes := time.Duration(f.rnd.IntN(100)) * time.Millisecond
	if fault == 0 {
		takes += 5 * time.Second
	}
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return ctx.Err()
	}
	if fault == 1 {
		return errors.New("not written")
	}
	err := f.history.Save(ctx, hold, b)
	if fault == 2 {
		return errors.New("written, and the answer is lost")
	}
	return err
}

// TestToldIsKeptOrSaidNotToBe: whatever the store does, a person is told nothing of a state
// that it does not have, unless they were told before that it does not save; and what is
// told is told in its order.
func TestToldIsKeptOrSaidNotToBe(t *testing.T) {
	const states = 300
	told, behind := 0, 0
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(11, seed))
			store := &fickle{rnd: rand.New(rand.NewPCG(12, seed))}
			var away atomic.Bool
			o := Checkpoints{Store: store, Behind: func(err error) { away.Store(err != nil) }}
			k := newKeeper(o, "c", conv.PrivacyKeep, start, func(int) {})
			ctx, cancel := context.WithCancel(t.Context())
			var done sync.WaitGroup
			done.Go(func() { _ = k.run(ctx) })
			at := func(number int) time.Time { return start.Add(time.Duration(number) * time.Second) }
			m := begun(t)
			last := 0
			for number := 1; number <= states; number++ {
				k.note(at(number), m)
				k.whenKept(func() { // by one goroutine at a time
					if told++; number != last+1 {
						t.Errorf("seed %d: %d is told behind %d", seed, number, last)
					}
					last = number
					if away.Load() {
						behind++
						return
					}
					b, _, _ := store.Load(context.Background(), "c")
					if c, err := journal.ReadCheckpoint(b); err != nil || c.Saved.Before(at(number)) {
						t.Errorf("seed %d: %d is told, and the store has that of %v", seed, number, c.Saved.Sub(start))
					}
				})
				time.Sleep(time.Duration(rnd.IntN(200)) * time.Millisecond)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			cancel()
			done.Wait()
			if last != states {
				t.Errorf("seed %d: told to %d", seed, last)
			}
		})
	}
	if behind == 0 || told-behind < told/4 {
		t.Errorf("%d of %d were told behind the news that the store does not save: expected some of both", behind, told)
	}
}

// TestToldThatItIsKeptTooEarly: who is told that the store saves again is told nothing
// behind that which is not kept, in the same moment either.
func TestToldThatItIsKeptTooEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &history{fail: errors.New("no route")}
		m := begun(t)
		var k *keeper
		told := false
		k = newKeeper(Checkpoints{Store: store, Behind: func(err error) {
			if err != nil {
				return
			}
			k.note(start.Add(time.Hour), m) // the loop goes on meanwhile
			k.whenKept(func() {
				told = true
				if c := store.all(); c[len(c)-1].Saved.Before(start.Add(time.Hour)) {
					t.Error("it is told before it is kept")
				}
			})
		}}, "c", conv.PrivacyKeep, start, func(int) {})
		ctx, cancel := context.WithCancel(t.Context())
		var done sync.WaitGroup
		done.Go(func() { _ = k.run(ctx) })
		k.note(start, m)
		synctest.Wait()
		store.mu.Lock()
		store.fail = nil
		store.mu.Unlock()
		time.Sleep(2 * saveAgain)
		synctest.Wait()
		if !told {
			t.Error("it is not told")
		}
		cancel()
		done.Wait()
	})
}
