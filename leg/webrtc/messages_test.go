package webrtc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// next returns the client's next message.
func (c *client) next() string {
	c.t.Helper()
	select {
	case text := <-c.texts:
		return text
	case <-time.After(patience):
		c.t.Fatal("no message comes")
		return ""
	}
}

func receive(t *testing.T, l *Leg) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	text, err := l.Receive(ctx)
	check(t, err)
	return text
}

// Messages arrive in order in both directions. Messages sent before the channel is open
// wait for it.
func TestMessages(t *testing.T) {
	t.Parallel()
	c, l := connect(t, server(t, Options{}), clientOptions{})
	for i := range 50 {
		check(t, l.Send(fmt.Sprint("to you ", i)))
	}
	for i := range 50 {
		if got, want := c.next(), fmt.Sprint("to you ", i); got != want {
			t.Fatalf("message %q, want %q", got, want)
		}
	}
	<-c.opened
	check(t, c.channel.Send([]byte("binary")))
	for i := range 50 {
		check(t, c.channel.SendText(fmt.Sprint("to me ", i)))
	}
	for i := range 50 {
		if got, want := receive(t, l), fmt.Sprint("to me ", i); got != want {
			t.Fatalf("message %q, want %q", got, want)
		}
	}
	long := strings.Repeat("x", maxMessage)
	check(t, l.Send(long))
	if got := c.next(); got != long {
		t.Errorf("a message of %d bytes, want %d", len(got), len(long))
	}
	if err := l.Send(long + "x"); err == nil {
		t.Error("a message that is too long is taken")
	}
}

// A handler receives the messages, also over a new connection.
func TestOnMessage(t *testing.T) {
	t.Parallel()
	c, l := connect(t, server(t, Options{}), clientOptions{})
	got := make(chan string)
	l.OnMessage(t.Context(), func(ctx context.Context, text string) {
		select {
		case got <- text:
		case <-ctx.Done():
		}
	})
	<-c.opened
	check(t, c.channel.SendText("one"))
	if text := <-got; text != "one" {
		t.Errorf("message %q", text)
	}
	again := newClient(t, clientOptions{})
	answer, err := l.Reattach(t.Context(), again.offer(nil))
	check(t, err)
	again.answer(answer)
	<-again.opened
	check(t, again.channel.SendText("two"))
	if text := <-got; text != "two" {
		t.Errorf("message %q", text)
	}
	check(t, l.Send("three"))
	if text := again.next(); text != "three" {
		t.Errorf("message %q", text)
	}
}

// Send reports a client without a channel, or one that does not read, and does not
// block.
func TestMessagesPileUp(t *testing.T) {
	t.Parallel()
	c, l := connect(t, server(t, Options{}), clientOptions{mute: true})
	n := 0
	for ; n < 10*maxWaiting; n++ {
		if err := l.Send("hello"); err != nil {
			if !errors.Is(err, ErrBacklog) {
				t.Fatal(err)
			}
			break
		}
	}
	if n != maxWaiting {
		t.Errorf("%d messages wait, want %d", n, maxWaiting)
	}
	hearing(t, c, l)
}

// If messages are not received, the client is slowed down, but the end of the leg is
// not delayed.
func TestMessagesAreNotReceived(t *testing.T) {
	t.Parallel()
	c, l := connect(t, server(t, Options{}), clientOptions{})
	<-c.opened
	text := strings.Repeat("x", 10_000)
	for range 4 * maxWaiting {
		check(t, c.channel.SendText(text))
	}
	hearing(t, c, l)
	if held := c.channel.BufferedAmount(); held == 0 {
		t.Error("the client has got rid of 10 MB that nobody received")
	}
	for range maxWaiting + 50 {
		receive(t, l)
	}
}

// Fresh reports a new connection, which gets no messages meant for the previous
// one.
func TestFresh(t *testing.T) {
	t.Parallel()
	c, l := connect(t, server(t, Options{}), clientOptions{})
	<-c.opened
	fresh := make(chan error, 1)
	go func() { fresh <- l.Fresh(t.Context()) }()
	again := newClient(t, clientOptions{})
	guarded := func() bool {
		l.box.mu.Lock()
		defer l.box.mu.Unlock()
		return l.box.guarded
	}
	for !guarded() {
		<-time.After(time.Millisecond)
	}
	answer, err := l.Return(t.Context(), again.offer(nil))
	check(t, err)
	again.answer(answer)
	check(t, <-fresh)
	check(t, l.Send("for nobody"))
	l.Reopen()
	check(t, l.Send("for the new one"))
	if text := again.next(); text != "for the new one" {
		t.Errorf("message %q", text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Fresh(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	check(t, l.Close())
	if err := l.Fresh(t.Context()); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}
