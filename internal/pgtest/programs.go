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

var errMissing = errors.New("no PostgreSQL is installed: expected its programs postgres and initdb, as Debian's package postgresql has them")

// programs are those of a PostgreSQL, and who runs them: PostgreSQL refuses to be run
// by root.
type programs struct {
	postgres, initdb string
	uid, gid         int // -1: whoever runs the tests
}

// find looks on the PATH, and where Debian puts the programs.
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

// versionOf is the version in a path of Debian's, 0 where there is none.
func versionOf(dir string) float64 {
	v, err := strconv.ParseFloat(filepath.Base(filepath.Dir(dir)), 64)
	if err != nil {
		return 0
	}
	return v
}

// own gives files to who runs the programs.
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

// command runs a program as that user.
func (p programs) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // one of those that were found
	cmd.SysProcAttr = p.attributes()
	return cmd
}
