package cli

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/hocketvoice/hocket/internal/app"
	"github.com/hocketvoice/hocket/internal/editor"
)

// editorCmd is the engine of an editor's extension.
type editorCmd struct{}

// Help returns the long help.
func (editorCmd) Help() string {
	return `The engine of an editor's extension, which starts this command and speaks JSON-RPC with it on the standard streams, in the frames of the Language Server Protocol. It serves the page with the microphone on a port of the loopback interface, with a key that only it has. It stores nothing, and ends when its input ends. Writes a log to the standard error, as JSON lines that contain nothing that was said.`
}

// Run runs the command.
func (editorCmd) Run(s *streams) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	log := slog.New(slog.NewJSONHandler(s.err, &slog.HandlerOptions{ReplaceAttr: hashIDs}))
	closer, ok := s.in.(io.Closer)
	if !ok {
		closer = io.NopCloser(s.in)
	}
	return editor.Run(ctx, editor.Options{
		In: s.in, Out: s.out, Closer: closer, Version: strings.TrimSpace(versionLine()), Log: log,
		Open: func(setup editor.Setup) (editor.Engine, error) {
			return app.OpenEditor(app.ServeOptions{Log: log}, setup)
		},
	})
}
