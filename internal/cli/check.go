package cli

import (
	"path/filepath"
	"strings"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/internal/app"
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/settings"
)

// checkCmd validates what people write.
type checkCmd struct {
	Paths []string `arg:"" name:"path" placeholder:"PATH" help:"A config file, an agent's file, or a folder whose *.yaml files are one agent."`
}

// Help is the long help.
func (checkCmd) Help() string {
	return `Every problem is told at once, with file, line and a suggestion. Exit status 2 if one of them is an error.`
}

// Run is the command.
func (c *checkCmd) Run(s *streams) error {
	failed := false
	for _, path := range c.Paths {
		problems, ok, err := checkPath(path)
		if err != nil {
			return err
		}
		failed = failed || !ok
		for _, p := range problems {
			if err := s.printf("%s\n", p); err != nil {
				return err
			}
		}
		if ok {
			if err := s.printf("%s: ok\n", path); err != nil {
				return err
			}
		}
	}
	if failed {
		return errProblems
	}
	return nil
}

// checkPath checks a file or a folder. ok is false if one of the problems is an
// error.
func checkPath(path string) (problems []string, ok bool, err error) {
	files, err := settings.ReadAgent(path)
	if err != nil {
		return nil, false, badInput{err}
	}
	if len(files) == 1 && files[0].Name == filepath.ToSlash(path) && !config.IsAgent(files[0].Data) {
		_, err := app.LoadOptions(path)
		return lines(err), err == nil, nil
	}
	agent, found := dialog.Parse(files)
	for _, p := range found {
		problems = append(problems, p.String())
	}
	c, err := settings.OfAgent(files)
	if err == nil {
		_, err = app.NewOptions(c)
	}
	problems = append(problems, lines(err)...)
	return problems, agent != nil && err == nil, nil
}

// lines are the lines of an error.
func lines(err error) []string {
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}
