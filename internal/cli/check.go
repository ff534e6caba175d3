package cli

import (
	"path/filepath"
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/internal/app"
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/settings"
)

// checkCmd validates files that users write.
type checkCmd struct {
	Paths []string `arg:"" optional:"" name:"path" placeholder:"PATH" help:"A config file, an agent file, or a folder whose *.yaml files make up one agent."`
	Live  bool     `help:"Try the services whose keys are in the environment or the config, and print how fast they are."`
}

// Help returns the long help.
func (checkCmd) Help() string {
	return `Prints all problems at once, with file, line and a suggestion. Exit status 2 if one of them is an error.

With --live it then sends a few words to each language model and speech service that the config names, or whose vendor's key is in the environment. The vendors may charge for them. Exit status 1 if one of them fails.`
}

// Run runs the command.
func (c *checkCmd) Run(s *streams) error {
	if len(c.Paths) == 0 && !c.Live {
		return badInputf(`expected "<path> ..." or --live; see hocket check --help`)
	}
	all := make([]checked, len(c.Paths))
	configs, agents := "the config file", "the agent's file"
	for i, path := range c.Paths {
		files, err := settings.ReadAgent(path)
		if err != nil {
			return badInput{err}
		}
		one := checked{path: path, files: files}
		one.config = len(files) == 1 && files[0].Name == filepath.ToSlash(path) && !config.IsAgent(files[0].Data)
		if one.config {
			configs = "the config file " + path
		} else {
			agents = "the agent's file " + files[0].Name
		}
		all[i] = one
	}
	failed := false
	for _, one := range all {
		problems, ok := one.check(configs, agents)
		failed = failed || !ok
		for _, p := range problems {
			if err := s.printf("%s\n", p); err != nil {
				return err
			}
		}
		if ok {
			if err := s.printf("%s: ok\n", one.path); err != nil {
				return err
			}
		}
	}
	if failed {
		return errProblems
	}
	if c.Live {
		return live(s, all)
	}
	return nil
}

// checked is a file or a folder that is checked.
type checked struct {
	path   string
	files  []agent.File
	config bool
}

// check returns the problems of a file or folder. ok is false if one of them is an
// error. configs and agents are the names of the other kind of file, for suggestions.
func (c checked) check(configs, agents string) (problems []string, ok bool) {
	if c.config {
		_, err := app.LoadOptions(c.path)
		return lines(settings.InFile(err, agents)), err == nil
	}
	def, err := settings.Compile(c.files)
	if err != nil {
		problems = lines(settings.InFile(err, configs))
	} else {
		for _, p := range def.Problems {
			problems = append(problems, p.String())
		}
	}
	engine := app.CheckAgent(c.files)
	return append(problems, lines(engine)...), err == nil && engine == nil
}

// lines returns the lines of an error message.
func lines(err error) []string {
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}
