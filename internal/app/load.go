package app

import (
	"fmt"
	"path"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/examples"
	"github.com/hocketvoice/hocket/internal/settings"
)

// EmbeddedAgent compiles an agent that is embedded in the program. name is the name of
// its folder in examples.
func EmbeddedAgent(name string) (*settings.Agent, error) {
	entries, err := examples.Files.ReadDir(name)
	if err != nil {
		return nil, fmt.Errorf("agent: unknown embedded agent %q", name)
	}
	var files []agent.File
	for _, e := range entries {
		file := path.Join(name, e.Name())
		data, err := examples.Files.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("agent: %w", err)
		}
		files = append(files, agent.File{Name: "examples/" + file, Data: data})
	}
	return settings.Compile(files)
}
