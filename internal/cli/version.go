package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// versionCmd prints the version.
type versionCmd struct{}

// Run runs the command.
func (versionCmd) Run(s *streams) error { return s.printf("%s", versionLine()) }

// versionLine returns the line with the version.
func versionLine() string {
	version, revision := "devel", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if v := info.Main.Version; v != "" && v != "(devel)" {
			version = v
		}
		for _, setting := range info.Settings {
			switch setting.Key {
			case "vcs.revision":
				revision = setting.Value[:min(12, len(setting.Value))] + revision
			case "vcs.modified":
				if setting.Value == "true" {
					revision += "+changes"
				}
			}
		}
	}
	if revision != "" {
		version += " " + revision
	}
	return fmt.Sprintf("hocket %s %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
