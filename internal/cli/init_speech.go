package cli

import (
	"fmt"
	"strings"

	"github.com/hocketvoice/hocket/internal/app"
)

// foundSpeech are the vendors of speech whose keys init has found, the first that hears and the
// first that speaks; empty if there is none.
type foundSpeech struct{ hears, speaks app.Vendor }

// findSpeech looks for keys in the environment.
func findSpeech(getenv func(string) string) (found foundSpeech) {
	for _, v := range app.Vendors() {
		if strings.TrimSpace(getenv(v.KeyEnv)) == "" {
			continue
		}
		if found.hears.Name == "" && v.Hears.Model != "" {
			found.hears = v
		}
		if found.speaks.Name == "" && v.Speaks.Voice != "" {
			found.speaks = v
		}
	}
	return found
}

// section returns the section of the config, or "".
func (f foundSpeech) section() string {
	if f.hears.Name == "" && f.speaks.Name == "" {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n# The keys are read from the vendors' variables; a key is never written here.\nspeech:\n")
	if f.hears.Name != "" {
		fmt.Fprintf(&b, "  recognizer: %s   # the key is in %s\n", f.hears.Name, f.hears.KeyEnv)
	}
	if f.speaks.Name != "" {
		fmt.Fprintf(&b, "  synthesizer: %s   # the key is in %s\n", f.speaks.Name, f.speaks.KeyEnv)
	}
	return b.String()
}

// remark describes what was found.
func (f foundSpeech) remark() string {
	var list []string
	if f.hears.Name != "" {
		list = append(list, f.hears.Name+" hears")
	}
	if f.speaks.Name != "" {
		list = append(list, f.speaks.Name+" speaks")
	}
	if len(list) == 0 {
		return ""
	}
	return "\nOf the vendors of speech, " + strings.Join(list, " and ") + "; hocket check --live hocket.yaml tries them."
}
