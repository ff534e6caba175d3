package airline

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Local is an airline that listens on a port of the loopback interface.
type Local struct {
	*Airline

	server *http.Server
	url    string
	worker sync.WaitGroup
}

// Listen starts an airline on the loopback interface. The caller must call Close.
func Listen(ctx context.Context) (*Local, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("airline: %w", err)
	}
	l := &Local{Airline: New(), url: "http://" + listener.Addr().String()}
	l.server = &http.Server{
		Handler: l.Airline, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10,
	}
	l.worker.Go(func() { _ = l.server.Serve(listener) }) // until Close
	return l, nil
}

// URL returns the address of the airline.
func (l *Local) URL() string { return l.url }

// Close stops the server and its running requests.
func (l *Local) Close() error {
	err := l.server.Close()
	l.worker.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
