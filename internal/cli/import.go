package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/rasa"
	"github.com/hocketvoice/hocket/internal/settings"
)

// importCmd converts files of other programs to agents.
type importCmd struct {
	Rasa importRasaCmd `cmd:"" name:"rasa" help:"Convert the flows, slots and responses of Rasa CALM."`
}

type importRasaCmd struct {
	Path string `arg:"" placeholder:"PATH" help:"A file of the assistant, or its folder."`
	Out  string `placeholder:"FILE" help:"Write the agent to this file, which must not exist (default: the standard output)."`
}

// Help returns the long help.
func (importRasaCmd) Help() string {
	return `Lists on the standard error, with file and line, what could not be converted. Exit status 1 if the agent cannot run without corrections.`
}

// Run runs the command.
func (c *importRasaCmd) Run(s *streams) error {
	files, err := rasaFiles(c.Path)
	if err != nil {
		return badInput{err}
	}
	made, problems := rasa.Convert(files)
	if made == nil {
		var list []error
		for _, p := range problems {
			if p.Severity == agent.SeverityError {
				list = append(list, errors.New(strings.TrimPrefix(p.String(), ": ")))
			}
		}
		return badInput{errors.Join(list...)}
	}
	name := "agent"
	if c.Out == "" {
		err = s.printf("%s", made)
	} else {
		name = c.Out
		err = writeNew(c.Out, made)
	}
	if err != nil {
		return err
	}
	parsed, found := dialog.Parse([]agent.File{{Name: name, Data: made}})
	if parsed != nil {
		found = nil // hocket check reports the warnings
	}
	for _, p := range slices.Concat(problems, found) {
		if _, err := s.err.Write([]byte(p.String() + "\n")); err != nil {
			return err
		}
	}
	if parsed == nil {
		return errFinding
	}
	return nil
}

// notAssistant lists files of an assistant that contain neither its domain nor its
// flows.
var notAssistant = []string{"config", "credentials", "endpoints"}

// rasaFiles reads a file, or all YAML files in an assistant's folder except for
// settings and tests.
func rasaFiles(root string) (files []agent.File, err error) {
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return settings.Plain(err)
		}
		name := e.Name()
		ext := filepath.Ext(name)
		switch {
		case path == root && !e.IsDir():
		case path != root && e.IsDir() && (strings.HasPrefix(name, ".") || name == "tests"):
			return fs.SkipDir
		case e.IsDir(), ext != ".yml" && ext != ".yaml", slices.Contains(notAssistant, strings.TrimSuffix(name, ext)):
			return nil
		}
		read, err := settings.ReadAgent(path)
		files = append(files, read...)
		return err
	})
	if err == nil && len(files) == 0 {
		err = badInputf("%s has no *.yml file of an assistant", root)
	}
	return files, err
}

// writeNew writes a file that must not exist. If it fails, it leaves no file.
func writeNew(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // the user named the file
	if err != nil {
		return badFile(err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}
