//go:build unix

package pgtest

import (
	"errors"
	"os"
	"os/user"
	"strconv"
)

// lower chooses another user if the tests run as root.
func (p *programs) lower() error {
	if os.Geteuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.Atoi(u.Uid)
		gid, err2 := strconv.Atoi(u.Gid)
		if err1 == nil && err2 == nil {
			p.uid, p.gid = uid, gid
			return nil
		}
	}
	return errors.New("the tests run as root, which PostgreSQL refuses, and there is neither a user postgres nor nobody")
}
