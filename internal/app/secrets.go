package app

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/server/api"
)

// secrets are the API keys and the certificate of a server. They can be replaced without
// a restart: both are read again when their files change. If that fails, the old ones
// stay in use.
type secrets struct {
	c    config.Server
	log  *slog.Logger
	keys *api.Keys // nil if there are none
	cert atomic.Pointer[tls.Certificate]
	seen map[string]time.Time // modification times by file; used by the watcher's goroutine
}

// newSecrets reads the keys and the certificate.
func newSecrets(c config.Server, log *slog.Logger) (*secrets, error) {
	s := &secrets{c: c, log: log, seen: make(map[string]time.Time)}
	keys, err := s.readKeys()
	if err != nil {
		return nil, err
	}
	s.keys = keys
	if c.TLS.Cert != "" {
		if err := s.readCert(); err != nil {
			return nil, err
		}
	}
	s.changed()
	return s, nil
}

// readKeys reads the keys in the environment and in the file. It returns nil if there are
// neither.
func (s *secrets) readKeys() (*api.Keys, error) {
	var text strings.Builder
	if env := os.Getenv(s.c.Keys.Env); env != "" {
		if _, err := api.ParseKeys(env); err != nil {
			return nil, fmt.Errorf("API keys in $%s: %w", s.c.Keys.Env, err)
		}
		text.WriteString(env + "\n")
	}
	if s.c.Keys.File != "" {
		b, err := os.ReadFile(s.c.Keys.File)
		if err != nil {
			return nil, fmt.Errorf("API keys: %w", settings.Plain(err))
		}
		if _, err := api.ParseKeys(string(b)); err != nil {
			return nil, fmt.Errorf("API keys in %s: %w", s.c.Keys.File, err)
		}
		text.Write(b)
	}
	if text.Len() == 0 {
		return nil, nil
	}
	return api.ParseKeys(text.String())
}

func (s *secrets) readCert() error {
	cert, err := tls.LoadX509KeyPair(s.c.TLS.Cert, s.c.TLS.Key)
	if err != nil {
		return fmt.Errorf("certificate %s: %w", s.c.TLS.Cert, err)
	}
	s.cert.Store(&cert)
	return nil
}

// tls returns the configuration of the listener, or nil if there is no certificate.
func (s *secrets) tls() *tls.Config {
	if s.c.TLS.Cert == "" {
		return nil
	}
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.cert.Load(), nil },
	}
}

// changed reports whether a file has changed since the last call.
func (s *secrets) changed() bool {
	changed := false
	for _, file := range []string{s.c.Keys.File, s.c.TLS.Cert, s.c.TLS.Key} {
		if file == "" {
			continue
		}
		info, err := os.Stat(file)
		if err != nil {
			continue // it is being replaced
		}
		if at := info.ModTime(); !at.Equal(s.seen[file]) {
			s.seen[file], changed = at, true
		}
	}
	return changed
}

// reload reads the keys and the certificate again.
func (s *secrets) reload() {
	keys, err := s.readKeys()
	if keys == nil && err == nil && s.keys != nil {
		err = errors.New("there are no API keys left")
	}
	if err != nil {
		s.log.Error("the API keys were not replaced", "error", err)
	} else if keys != nil && s.keys != nil {
		s.keys.Replace(keys)
		s.log.Info("the API keys were reloaded")
	}
	if s.c.TLS.Cert == "" {
		return
	}
	if err := s.readCert(); err != nil {
		s.log.Error("the certificate was not replaced", "error", err)
		return
	}
	s.log.Info("the certificate was reloaded")
}
