package main

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"
)

//go:embed notes/*.txt
var notes embed.FS

// research reads one line with a topic and writes a line for each of its steps, in
// the format of delegated programs.
func research(ctx context.Context, in io.Reader, out io.Writer, pace time.Duration) error {
	say := json.NewEncoder(out)
	type line map[string]any
	var task struct{ Topic string }
	if err := json.NewDecoder(in).Decode(&task); err != nil {
		return say.Encode(line{"type": "error", "code": "INVALID_ARGS", "message": "expected {\"topic\": ...} on the standard input"})
	}
	files, err := notesAbout(task.Topic)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return say.Encode(line{"type": "error", "message": "there are no notes about " + task.Topic})
	}
	var summary []string
	for i, file := range files {
		if err := say.Encode(line{"type": "progress", "text": fmt.Sprintf("I am reading note %d of %d", i+1, len(files))}); err != nil {
			return err
		}
		if err := wait(ctx, pace); err != nil {
			return err // it was cancelled; its progress was already reported
		}
		text, err := notes.ReadFile(file)
		if err != nil {
			return err
		}
		summary = append(summary, strings.TrimSpace(string(text)))
		if err := say.Encode(line{"type": "partial", "output": strings.Join(summary, " ")}); err != nil {
			return err
		}
	}
	return say.Encode(line{"type": "result", "output": line{"summary": strings.Join(summary, " "), "notes_read": len(files)}})
}

// notesAbout returns the files about a topic in order.
func notesAbout(topic string) ([]string, error) {
	name := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(topic)), " ", "-")
	if name == "" || strings.ContainsAny(name, `*?[\/`) {
		return nil, nil
	}
	return fs.Glob(notes, "notes/"+name+"-*.txt")
}
