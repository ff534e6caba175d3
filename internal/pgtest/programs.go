package pgtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

var errMissing = errors.New("PostgreSQL is not installed: expected the programs postgres and initdb of Debian's package postgresql")

// programs contains the PostgreSQL programs and the user that runs them, since
// PostgreSQL refuses to run as root.
type programs struct {
	postgres, initdb string
	uid, gid         int // -1 for the current user
}

// find looks for the programs on the PATH and in Debian's folders.
func find() (programs, error) {
	p := programs{uid: -1, gid: -1}
	dirs := filepath.SplitList(os.Getenv("PATH"))
	debian, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return p, err
	}
	slices.SortFunc(debian, func(a, b string) int { return cmp.Compare(versionOf(b), versionOf(a)) })
	for _, dir := range append(debian, dirs...) {
		p.postgres, p.initdb = filepath.Join(dir, "postgres"), filepath.Join(dir, "initdb")
		_, err1 := exec.LookPath(p.postgres)
		_, err2 := exec.LookPath(p.initdb)
		if err1 == nil && err2 == nil {
			err := p.lower()
			return p, err
		}
	}
	return p, errMissing
}

// versionOf returns the version in a path of Debian's package, or 0.
func versionOf(dir string) float64 {
	v, err := strconv.ParseFloat(filepath.Base(filepath.Dir(dir)), 64)
	if err != nil {
		return 0
	}
	return v
}

// own changes the owner of files to the programs' user.
func (p programs) own(paths ...string) error {
	if p.uid < 0 {
		return nil
	}
	for _, path := range paths {
		if err := os.Chown(path, p.uid, p.gid); err != nil {
			return fmt.Errorf("the tests run as root, which PostgreSQL refuses, and a file cannot be given to another user: %w", err)
		}
	}
	return nil
}

// command returns a command that runs as that user.
func (p programs) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // one of the found programs
	cmd.SysProcAttr = p.attributes()
	return cmd
}
