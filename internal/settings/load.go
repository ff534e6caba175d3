package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/internal/config"
)

// Agent is a compiled agent.
type Agent struct {
	*dialog.Agent
	Files    []agent.File
	Problems []agent.Problem // warnings only
}

// WithoutModel reports whether conversations without a language model go without something that
// the agent asks one for: conv.Options.NoModel is then set. It returns an error if the agent
// cannot do without, because it has no flows.
func (a *Agent) WithoutModel() (bool, error) {
	m := a.Settings().Model
	if !m.Answers && !m.Understanding {
		return false, nil
	}
	if len(a.Flows()) == 0 {
		return false, fmt.Errorf("%s: the agent has instructions and no flows, and no language model is configured: "+
			"name one under model: in this file or in the config file (--config), or have hocket init write both", a.Files[0].Name)
	}
	return true, nil
}

// AgentError is the error of an agent that cannot be loaded. It contains all problems.
type AgentError struct{ Problems []agent.Problem }

// Error returns the problems, one per line.
func (e *AgentError) Error() string {
	all := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		all[i] = p.String()
	}
	return strings.Join(all, "\n")
}

// maxAgentFile limits the size of one file of an agent in bytes.
const maxAgentFile = 4 << 20

// ReadAgent reads the files of an agent: one YAML file, or all *.yaml and *.yml files
// of a folder in the order of their names.
func ReadAgent(name string) ([]agent.File, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("agent: %w", Plain(err))
	}
	names := []string{name}
	if info.IsDir() {
		if names, err = yamlFiles(name); err != nil {
			return nil, err
		}
	}
	files := make([]agent.File, 0, len(names))
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, fmt.Errorf("agent: %w", Plain(err))
		}
		if info.Size() > maxAgentFile {
			return nil, fmt.Errorf("agent: %s has %d bytes: expected at most %d", name, info.Size(), maxAgentFile)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("agent: %w", Plain(err))
		}
		files = append(files, agent.File{Name: filepath.ToSlash(name), Data: data})
	}
	return files, nil
}

// Regular returns an error if a path is neither a file nor a folder of files with an agent.
// Something else, such as a pipe, can be read once at most, and opening it may block. What does
// not exist is no error here.
func Regular(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil //nolint:nilerr // whoever reads it reports it
	}
	names := []string{path}
	if info.IsDir() {
		if names, err = yamlFiles(path); err != nil {
			return nil //nolint:nilerr // the same
		}
	}
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("%s is not a regular file", name)
		}
	}
	return nil
}

func yamlFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("agent: %w", Plain(err))
	}
	var names []string
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); !e.IsDir() && (ext == ".yaml" || ext == ".yml") {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("agent: %s has no *.yaml file", dir)
	}
	slices.Sort(names)
	return names, nil
}

// LoadAgent reads and compiles an agent. It returns an [*AgentError] if the agent is
// invalid.
func LoadAgent(path string) (*Agent, error) {
	files, err := ReadAgent(path)
	if err != nil {
		return nil, err
	}
	return Compile(files)
}

// Compile compiles the files of an agent. It returns an [*AgentError] if the agent is
// invalid.
func Compile(files []agent.File) (*Agent, error) {
	a, problems := dialog.Parse(files)
	if a == nil || agent.HasErrors(problems) {
		return nil, &AgentError{Problems: problems}
	}
	return &Agent{Agent: a, Files: files, Problems: problems}, nil
}

// AgentName returns an agent's name: that of its file or folder.
func AgentName(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	name := filepath.Base(path)
	return strings.TrimSuffix(strings.TrimSuffix(name, ".yaml"), ".yml")
}

// InFile returns an error about a key that belongs in another file. belongs describes
// that file, such as "the config file hocket.yaml".
func InFile(err error, belongs string) error {
	if e, ok := errors.AsType[*AgentError](err); ok {
		for i := range e.Problems {
			if e.Problems[i].Belongs != "" {
				e.Problems[i].Belongs = belongs
			}
		}
	}
	if p, ok := errors.AsType[config.Problems](err); ok {
		for i := range p {
			if p[i].Belongs != "" {
				p[i].Belongs = belongs
			}
		}
	}
	return err
}

// Plain returns a file error without the name of the operation.
func Plain(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", path.Path, path.Err)
	}
	return err
}
