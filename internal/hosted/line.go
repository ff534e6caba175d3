package hosted

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/internal/socket"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// This file manages the connections of a stream.

// connect makes a connection.
func (s *stream) connect(ctx context.Context) error {
	line, err := s.r.o.Line(s.cfg, s.expected)
	if err != nil {
		return err
	}
	conn, err := s.r.o.Dialer.Dial(ctx, line.URL, line.Header, line.Protocols...)
	if err != nil {
		return err
	}
	if err := conn.Write(ctx, line.Hearing.Open()...); err != nil {
		_ = conn.CloseNow() // it has failed
		return err
	}
	s.words.floor, s.words.owed, s.words.processed = 0, 0, 0 // they are about the sound of the connection before
	s.number++
	s.link.Store(&link{conn, line.Hearing.Close()})
	s.conn, s.hearing, s.clock, s.said, s.wrote = conn, line.Hearing, clock{rate: s.cfg.Rate}, s.expected, time.Now()
	return nil
}

// listen reads the connection.
func (s *stream) listen(ctx context.Context) {
	conn, number := s.conn, s.number
	s.workers.Go(func() {
		for {
			m, err := conn.Read(ctx)
			select {
			case s.incoming <- arrival{number, m, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	})
}

// hangUp closes the connection.
func (s *stream) hangUp() {
	if s.conn != nil {
		_ = s.conn.CloseNow() // nothing more is expected of it
		s.conn = nil
		s.link.Store(nil)
	}
}

// write sends messages.
func (s *stream) write(ctx context.Context, messages ...socket.Message) {
	if s.conn == nil || len(messages) == 0 {
		return
	}
	s.wrote = time.Now()
	if err := s.conn.Write(ctx, messages...); err != nil {
		s.lost(ctx, err)
	}
}

// ping sends a ping over an idle connection. What is wrong with it, its reader finds out.
func ping(ctx context.Context, workers *sync.WaitGroup, conn *socket.Conn, within time.Duration) {
	workers.Go(func() {
		limited, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		_ = conn.Ping(limited)
	})
}

// lost handles the end of a connection. Between utterances it is nothing: the next one gets
// another connection.
func (s *stream) lost(ctx context.Context, err error) {
	s.hangUp()
	f, ok := errors.AsType[*port.Failure](err)
	switch {
	case ctx.Err() != nil:
	case ok && !again(f), s.words.busy() && s.words.again:
		s.fail(err)
	case s.words.busy():
		s.words.again = true
		s.reconnect(ctx)
	}
}

// again reports whether another connection may succeed where one has failed.
func again(f *port.Failure) bool {
	switch errclass.Of(f.Code).Action {
	case errclass.Retry, errclass.Reconnect:
		return f.After == 0
	default:
		return false
	}
}

// reconnect makes another connection, over which the sound of an utterance that is not over is
// sent again, once.
func (s *stream) reconnect(ctx context.Context) {
	results, kept, finalize := s.words.restart()
	s.emit(results)
	if err := s.connect(ctx); err != nil {
		if ctx.Err() == nil {
			s.fail(err)
		}
		return
	}
	s.listen(ctx)
	for _, o := range kept {
		s.send(ctx, o)
	}
	if finalize && s.conn != nil {
		request := s.hearing.Finalize()
		s.words.sentAgain(s.clock.sent, len(request) == 0, time.Now().Add(s.r.o.FinalWithin))
		s.write(ctx, request...)
	}
}

// sentAgain records that the sound of the requested utterance was sent over another
// connection.
func (u *utterance) sentAgain(through time.Duration, counted bool, until time.Time) {
	for i := range u.asked {
		u.asked[i] = asked{wanted: u.asked[i].wanted, through: through, counted: counted, until: until}
	}
}
