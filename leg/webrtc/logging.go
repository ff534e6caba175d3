package webrtc

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/pion/logging"
)

// loggers passes the library's log to slog at lower levels. Its warnings are mostly
// about connections that end during a transfer, its errors about misbehaving
// clients.
type loggers struct{ log *slog.Logger }

// NewLogger implements logging.LoggerFactory.
func (l loggers) NewLogger(scope string) logging.LeveledLogger {
	return &logger{l.log.With("scope", scope)}
}

// logger is safe for concurrent use.
type logger struct{ log *slog.Logger }

func (l *logger) write(level slog.Level, text string) {
	l.log.Log(context.Background(), level, "webrtc library", "text", text)
}

func (l *logger) writef(level slog.Level, format string, args []any) {
	if l.log.Enabled(context.Background(), level) {
		l.write(level, fmt.Sprintf(format, args...))
	}
}

func (l *logger) Trace(string)              {}
func (l *logger) Tracef(string, ...any)     {}
func (l *logger) Debug(msg string)          { l.write(slog.LevelDebug, msg) }
func (l *logger) Debugf(f string, a ...any) { l.writef(slog.LevelDebug, f, a) }
func (l *logger) Info(msg string)           { l.write(slog.LevelDebug, msg) }
func (l *logger) Infof(f string, a ...any)  { l.writef(slog.LevelDebug, f, a) }
func (l *logger) Warn(msg string)           { l.write(slog.LevelDebug, msg) }
func (l *logger) Warnf(f string, a ...any)  { l.writef(slog.LevelDebug, f, a) }
func (l *logger) Error(msg string)          { l.write(slog.LevelInfo, msg) }
func (l *logger) Errorf(f string, a ...any) { l.writef(slog.LevelInfo, f, a) }
