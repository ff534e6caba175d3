//go:build !unix

package pgtest

import "syscall"

// lower has nothing to do.
func (p *programs) lower() error { return nil }

// attributes are the usual ones.
func (p programs) attributes() *syscall.SysProcAttr { return nil }
